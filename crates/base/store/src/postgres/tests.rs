//! What can only be seen from inside: plans, and the log of commits.

use std::sync::Arc;

use tokio_postgres::NoTls;

use super::codec::Params;
use super::sql::{Edge, Hold, ScanShape, TableSql};
use super::*;
use crate::table::Table;
use crate::{Batch, StoreOptions};

static QUEUE: Table<(u32, i64, String)> = Table::plain("queue", &["shard", "due", "name"]).queue();
static ROWS: Table<(u32, String)> = Table::versioned("rows", &["shard", "name"]).large();

async fn opened() -> Option<(Postgres, String, String)> {
    let server = testkit::postgres()?;
    let database = testkit::fresh_name("inside");
    let url = server.create_database(&database);
    let schema = Schema::new(1, [QUEUE.def(), ROWS.def()]).unwrap();
    Some((Postgres::open(&url, schema, &StoreOptions::default()).await.unwrap(), database, url))
}

async fn client(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn plan(engine: &Postgres, text: &str, params: &Params<'_>) -> String {
    let lease = engine.readers.tries().connection().await.unwrap();
    let rows = lease.query(&format!("EXPLAIN {text}"), params).await.unwrap();
    rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn scans_walk_the_primary_key_between_their_bounds() {
    let Some((engine, _, _)) = opened().await else { return };
    let sql = engine.tables.named("queue").unwrap();
    let edge = |operator, columns| Some(Edge { operator, columns });
    let (one, name, limit, bytes) = (1i64, "n", 10i64, 100i64);
    for descending in [false, true] {
        for counts_bytes in [false, true] {
            let shapes: [(usize, [Option<Edge>; 2], Params<'_>); 4] = [
                (0, [None, None], vec![]),
                (0, [edge(">", 3), edge("<=", 2)], vec![&one, &one, &name, &one, &one]),
                (1, [edge(">", 2), None], vec![&one, &one, &name]),
                (2, [None, edge("<", 1)], vec![&one, &one, &name]),
            ];
            for (equal, edges, mut params) in shapes {
                let bounds = params.len();
                params.push(&limit);
                if counts_bytes {
                    params.push(&bytes);
                }
                let text = sql.scan(&ScanShape { equal, edges, descending, counts_bytes });
                let plan = plan(&engine, &text, &params).await;
                let direction = if descending { "Index Scan Backward" } else { "Index Scan" };
                assert!(plan.contains(&format!("{direction} using queue_pkey")), "{text}\n{plan}");
                assert!(!plan.contains("Sort") && !plan.contains("Filter: (("), "{text}\n{plan}");
                assert_eq!(plan.contains("Index Cond"), bounds > 0, "{text}\n{plan}");
            }
        }
    }
}

#[tokio::test]
async fn every_statement_over_keys_finds_them_through_the_primary_key() {
    let Some((engine, _, _)) = opened().await else { return };
    let TableSql { get, get_many, lock, lock_in_shard, delete, .. } = engine.tables.named("rows").unwrap();
    let (shard, name, shards, names) = (1i64, "n", vec![1i64], vec!["n"]);
    let one: Params<'_> = vec![&shard, &name];
    let many: Params<'_> = vec![&shards, &names];
    let in_shard: Params<'_> = vec![&shard, &names];
    let mut statements = vec![(&**get, &one), (get_many, &many), (delete, &many)];
    for hold in [Hold::Shared, Hold::Exclusive] {
        statements.extend([(lock.text(hold), &many), (lock_in_shard.text(hold), &in_shard)]);
    }
    for (text, params) in statements {
        let plan = plan(&engine, text, params).await;
        assert!(plan.contains("Index Scan using rows_pkey"), "{text}\n{plan}");
        let condition = plan.lines().find(|line| line.contains("Index Cond")).unwrap_or_default();
        assert!(condition.contains("shard") && condition.contains("name"), "{text}\n{plan}");
    }
}

fn group() -> Group {
    let mut batch = Batch::with_id(BatchId(77));
    batch.put(ROWS.key((1, "a")), 1, "");
    Group::new(vec![batch])
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_an_unknown_outcome_waits_for_the_transaction_that_is_at_work() {
    let Some((engine, database, url)) = opened().await else { return };
    let engine = Arc::new(engine);
    let server = testkit::postgres().unwrap();
    let other = client(&url).await;
    for commits in [true, false] {
        let entry = engine.log.entry();
        other.batch_execute("BEGIN").await.unwrap();
        other.execute(entry.insert, &[&entry.shard, &entry.id, &Vec::<uuid::Uuid>::new()]).await.unwrap();
        engine.log.is_unknown(&group(), &entry);
        let asked = {
            let engine = Arc::clone(&engine);
            tokio::spawn(async move { engine.resolve(&group()).await })
        };
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while server.psql_in(&database, waits) != "1" {
            tokio::task::yield_now().await;
        }
        other.batch_execute(if commits { "COMMIT" } else { "ROLLBACK" }).await.unwrap();
        assert_eq!(asked.await.unwrap().unwrap(), commits);
    }
}

#[tokio::test]
async fn a_lane_that_stalls_in_the_middle_of_a_commit_does_not_hold_up_others_for_long() {
    let Some((engine, _, url)) = opened().await else { return };
    let other = client(&url).await;
    other.batch_execute("INSERT INTO torg.rows VALUES (1, 'a', 1, '')").await.unwrap();
    let stalled = engine.lanes.tries().connection().await.unwrap();
    stalled.run("BEGIN; SELECT version FROM torg.rows FOR UPDATE").await.unwrap();
    other.batch_execute("SET statement_timeout = '20s'; UPDATE torg.rows SET version = 2").await.unwrap();
    let trouble = Trouble::from(stalled.run("COMMIT").await.unwrap_err());
    assert!(matches!(trouble, Trouble::Lost(_)), "{trouble:?}");
}

#[tokio::test]
async fn an_attempt_that_was_found_not_applied_can_never_be() {
    let Some((engine, _, url)) = opened().await else { return };
    let entry = engine.log.entry();
    engine.log.is_unknown(&group(), &entry);
    assert!(!engine.resolve(&group()).await.unwrap());
    let other = client(&url).await;
    let late = other.execute(entry.insert, &[&entry.shard, &entry.id, &Vec::<uuid::Uuid>::new()]).await;
    assert_eq!(late.unwrap_err().code().unwrap().code(), "23505");
}

#[tokio::test]
async fn an_attempt_that_did_not_end_unknown_is_not_guessed_at() {
    let Some((engine, _, _)) = opened().await else { return };
    assert!(matches!(engine.resolve(&group()).await, Err(Error::Engine { .. })));
    engine.log.is_unknown(&group(), &engine.log.entry());
    assert!(!engine.resolve(&group()).await.unwrap());
    assert!(matches!(engine.resolve(&group()).await, Err(Error::Engine { .. })), "it was settled before");
}

#[tokio::test]
async fn a_store_from_before_gets_the_index_by_which_its_log_is_trimmed() {
    let Some((engine, database, url)) = opened().await else { return };
    let server = testkit::postgres().unwrap();
    server.psql_in(&database, "DROP INDEX torg._commits_at; DELETE FROM torg._meta WHERE name = 'additions'");
    drop(engine);
    let only_look = StoreOptions { create: false, ..StoreOptions::default() };
    let tables = || Schema::new(1, [QUEUE.def(), ROWS.def()]).unwrap();
    Postgres::open(&url, tables(), &only_look).await.unwrap();
    let indexes = "SELECT count(*) FROM pg_indexes WHERE indexname = '_commits_at'";
    assert_eq!(server.psql_in(&database, indexes), "0");
    let engine = Postgres::open(&url, tables(), &StoreOptions::default()).await.unwrap();
    assert_eq!(server.psql_in(&database, indexes), "1");
    let newest = "2020-01-01";
    for (text, params) in
        [(&engine.log.newest_to_delete, Vec::new()), (&engine.log.delete, vec![&newest as _])]
    {
        let plan = plan(&engine, text, &params).await;
        assert!(plan.contains("using _commits_at") && !plan.contains("Seq Scan"), "{text}\n{plan}");
    }
}

#[tokio::test]
async fn the_log_keeps_the_last_groups_and_what_is_young() {
    let Some((engine, database, _)) = opened().await else { return };
    let server = testkit::postgres().unwrap();
    let insert = |count: u64, age: &str| {
        let text = format!(
            "INSERT INTO torg._commits SELECT 1, gen_random_uuid(), '{age}', '{{}}', now() - interval '{age}' - n * interval '1 ms' \
             FROM generate_series(1, {count}) AS n"
        );
        server.psql_in(&database, &text);
    };
    let kept = async || {
        let lease = engine.readers.tries().connection().await.unwrap();
        engine.log.trim(&lease).await.unwrap();
        server.psql_in(&database, "SELECT state, count(*) FROM torg._commits GROUP BY state ORDER BY state")
    };
    insert(12_000, "4 hours");
    assert_eq!(kept().await, format!("4 hours|{}", crate::limits::GROUPS_REMEMBERED + 1), "in several steps");
    server.psql_in(&database, "TRUNCATE torg._commits");
    insert(10, "3 hours");
    assert_eq!(kept().await, "3 hours|10", "these are among the last groups");
    insert(crate::limits::GROUPS_REMEMBERED + 5, "2 hours");
    assert_eq!(kept().await, format!("2 hours|{}", crate::limits::GROUPS_REMEMBERED + 1));
    insert(9000, "5 minutes");
    assert_eq!(kept().await, "5 minutes|9000");
}

#[tokio::test]
async fn a_database_that_only_reads_is_told() {
    let Some((engine, database, _)) = opened().await else { return };
    let server = testkit::postgres().unwrap();
    engine.takes_writes().await.unwrap();
    let anew = |setting: &str| {
        server.psql_in("postgres", &format!("ALTER DATABASE {database} {setting}"));
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = ";
        server.psql_in("postgres", &format!("{end}'{database}'"));
    };
    anew("SET default_transaction_read_only = on");
    let error = engine.takes_writes().await.unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }) && error.hint().is_some(), "{error}");
    anew("RESET default_transaction_read_only");
    engine.takes_writes().await.unwrap();
}

#[tokio::test]
async fn what_the_database_says_is_understood() {
    let Some((engine, _, _)) = opened().await else { return };
    let lease = engine.readers.tries().connection().await.unwrap();
    let trouble = async |code: &str| {
        let raise = format!("DO $$ BEGIN RAISE EXCEPTION 'one\ntwo' USING ERRCODE = '{code}'; END $$");
        Trouble::from(lease.run(&raise).await.unwrap_err())
    };
    for code in ["40001", "40P01", "55P03"] {
        assert!(matches!(trouble(code).await, Trouble::Again(_)), "{code}");
    }
    for code in ["57P01", "57P03", "25006", "08006", "53300"] {
        assert!(matches!(trouble(code).await, Trouble::Lost(_)), "{code}");
    }
    assert!(matches!(trouble("22003").await, Trouble::OutOfRange));
    match trouble("53100").await {
        Trouble::Final(Error::DiskFull { detail }) => assert_eq!(detail, "one two (53100)"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(trouble("57014").await, Trouble::Final(Error::Unavailable { .. })));
    assert!(matches!(trouble("42501").await, Trouble::Final(Error::Refused { .. })));
    assert!(matches!(trouble("28P01").await, Trouble::Final(Error::Refused { .. })));
    assert!(matches!(trouble("XX001").await, Trouble::Final(Error::Engine { .. })));
}
