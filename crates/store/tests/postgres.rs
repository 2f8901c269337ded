//! The PostgreSQL engine on a real server: it passes the suite, in both ways of locking.

use std::sync::Arc;

use store::conformance;
use store::{Postgres, Store, StoreOptions};

async fn open(url: &str, options: &StoreOptions) -> Store {
    let schema = conformance::schema().expect("the suite's schema is valid");
    let engine = Postgres::open(url, schema, options).await.expect("the database is there");
    Store::over(Arc::new(engine), options)
}

async fn run_suite(parameters: &str) {
    let Some(server) = testkit::postgres() else { return };
    let url = server.fresh_database();
    let options = StoreOptions::default();
    conformance::run(async |case| {
        let schema = format!("{}_s", &case[..case.len().min(40)]);
        open(&format!("{url}?schema={schema}{parameters}"), &options).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_postgres_engine_passes_the_suite() {
    run_suite("").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_locks_by_shard_the_postgres_engine_passes_the_suite() {
    run_suite("&lock=by-shard").await;
}
