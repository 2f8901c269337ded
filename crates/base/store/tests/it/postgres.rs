//! The PostgreSQL engine on a real server: it passes the suite, in both ways of locking; its tables
//! can be read in psql; several processes may use one database.

use std::sync::Arc;
use std::time::Duration;

use crate::support::{databases, open, open_with, options, try_open};
use store::conformance::{self, COUNTS, ENTRIES, LISTS, OFFERS, QUEUE};
use store::engine::Engine;
use store::{Batch, Error, Hint, Hints, Outcome, Postgres, Read, Schema, Store, StoreOptions, Table};

async fn run_suite(parameters: &str) {
    let Some(server) = testkit::postgres() else { return };
    let url = server.fresh_database();
    let mut case = 0;
    conformance::run(|_| {
        case += 1;
        let url = format!("{url}?schema=case_{case}{parameters}");
        async move { open(&url).await }
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

#[tokio::test]
async fn psql_shows_readable_tables_and_rows() {
    let Some((server, database, url)) = databases() else { return };
    let store = open(&url).await;
    let mut batch = Batch::new();
    batch.put(OFFERS.key((7, "a1")), 3, "a bicycle").add(COUNTS.key((7, "active")), 5);
    batch.set(LISTS.key((7, -1, "Ж", &[1, 2][..])), "x");
    assert!(store.commit(batch).await.unwrap().is_applied());
    let rows = |sql: &str| server.psql_in(&database, sql);
    assert_eq!(
        rows("SELECT shard, id, version, convert_from(value, 'UTF8') FROM torg.offers"),
        "7|a1|3|a bicycle"
    );
    assert_eq!(rows("SELECT shard, at, name, tail FROM torg.lists"), "7|-1|Ж|\\x0102");
    assert_eq!(rows("SELECT * FROM torg.counts"), "7|active|5");
    assert_eq!(
        rows("SELECT * FROM torg._tables WHERE name = 'queue'"),
        "queue|plain|queue|shard u32, due i64, entity bytes"
    );
    assert_eq!(rows("SELECT value FROM torg._meta WHERE name = 'schema_version'"), "1");
    assert_eq!(rows("SELECT state, cardinality(batches) FROM torg._commits"), "applied|1");
    let storage = "SELECT attstorage FROM pg_attribute WHERE attname = 'value' AND attrelid = 'torg.";
    assert_eq!(rows(&format!("{storage}offers'::regclass")), "e");
    assert_eq!(rows(&format!("{storage}entries'::regclass")), "x");
}

#[tokio::test]
async fn a_placeholder_or_a_refused_creation_leaves_no_row() {
    let Some((server, database, url)) = databases() else { return };
    let store = open(&url).await;
    let mut batch = Batch::new();
    batch.put(OFFERS.key((1, "there")), 1, "");
    assert!(store.commit(batch).await.unwrap().is_applied());
    // Refused because of the second check, after the first row was inserted.
    let mut batch = Batch::new();
    batch.check_absent(OFFERS.key((1, "new"))).put(OFFERS.key((1, "new")), 1, "x");
    batch.check_absent(OFFERS.key((1, "there"))).check_absent(ENTRIES.key((1, &b"guard"[..], "")));
    assert_eq!(store.commit(batch).await.unwrap(), Outcome::Conflict(vec![OFFERS.key((1, "there"))]));
    let mut batch = Batch::new();
    batch.check_absent(ENTRIES.key((1, &b"guard"[..], ""))).set(QUEUE.key((1, 1, &b""[..])), "");
    assert!(store.commit(batch).await.unwrap().is_applied());
    assert_eq!(server.psql_in(&database, "SELECT id FROM torg.offers"), "there");
    assert_eq!(server.psql_in(&database, "SELECT count(*) FROM torg.entries"), "0");
}

#[tokio::test]
async fn two_stores_on_one_database_see_each_others_conflicts_and_writes() {
    let Some((_, _, url)) = databases() else { return };
    let (one, two) = (open(&url).await, open(&url).await);
    let key = OFFERS.key((1, "shared"));
    let update = |version: u64, value: &'static str| {
        let mut batch = Batch::new();
        batch.check(OFFERS.key((1, "shared")), version).put(OFFERS.key((1, "shared")), version + 1, value);
        batch
    };
    assert!(one.commit(update(0, "first")).await.unwrap().is_applied());
    assert_eq!(two.commit(update(0, "second")).await.unwrap(), Outcome::Conflict(vec![key.clone()]));
    assert!(two.commit(update(1, "second")).await.unwrap().is_applied());
    assert_eq!(&*one.get_one(&key).await.unwrap().unwrap().value, b"second");
}

#[tokio::test(flavor = "multi_thread")]
async fn racing_processes_count_every_update_once() {
    const UPDATES: u64 = 40;
    let Some((_, _, url)) = databases() else { return };
    let stores = [open(&url).await, open(&url).await, open(&url).await];
    let callers: Vec<_> = stores
        .iter()
        .cycle()
        .take(9)
        .cloned()
        .map(|store| {
            tokio::spawn(async move {
                let key = OFFERS.key((1, "hot"));
                let mut applied = 0;
                while applied < UPDATES {
                    let seen = store.get_one(&key).await.unwrap().map_or(0, |row| row.version);
                    let mut batch = Batch::new();
                    batch
                        .check(key.clone(), seen)
                        .put(key.clone(), seen + 1, "")
                        .add(COUNTS.key((1, "n")), 1);
                    applied += u64::from(store.commit(batch).await.unwrap().is_applied());
                }
            })
        })
        .collect();
    futures::future::join_all(callers).await.into_iter().for_each(Result::unwrap);
    let row = stores[0].get_one(&OFFERS.key((1, "hot"))).await.unwrap().unwrap();
    assert_eq!(row.version, 9 * UPDATES);
    assert_eq!(stores[1].amount(&COUNTS.key((1, "n"))).await.unwrap(), 9 * UPDATES as i64);
}

/// Waits for a hint about the queue's shard; writes again and again, for the listener may still be
/// connecting.
async fn hint_arrives(writer: &Store, hints: &mut Hints) {
    for n in 0.. {
        let mut batch = Batch::new();
        batch.set(QUEUE.key((42, n, &b""[..])), "");
        assert!(writer.commit(batch).await.unwrap().is_applied());
        let next = tokio::time::timeout(Duration::from_millis(200), hints.next()).await;
        match next {
            Ok(Some(Hint::Changed { table: "queue", shard: 42 })) => return,
            Ok(Some(Hint::Put(key))) if key.shard() == 42 => return,
            Ok(None) => panic!("the hints ended"),
            _ => assert!(n < 100, "no hint came"),
        }
    }
}

#[tokio::test]
async fn hints_reach_other_processes() {
    let Some((_, _, url)) = databases() else { return };
    let (one, two) = (open(&url).await, open(&url).await);
    hint_arrives(&one, &mut two.hints()).await;
    hint_arrives(&two, &mut one.hints()).await;
    let elsewhere = open(&format!("{url}?schema=other")).await;
    hint_arrives(&elsewhere, &mut elsewhere.hints()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_processes_may_open_an_empty_database_at_once() {
    let Some((_, _, url)) = databases() else { return };
    let openings: Vec<_> = (0..8)
        .map(|_| {
            let url = url.clone();
            tokio::spawn(async move { try_open(&url, &options()).await.map(drop) })
        })
        .collect();
    for opening in futures::future::join_all(openings).await {
        opening.unwrap().unwrap();
    }
}

static OLD: Table<(u32, String)> = Table::plain("old", &["shard", "name"]);
static OLD_CHANGED: Table<(u32, i64)> = Table::plain("old", &["shard", "at"]);
static NEW: Table<(u32,)> = Table::versioned("new", &["shard"]);

async fn open_tables(
    url: &str,
    version: u32,
    tables: &[&'static store::TableDef],
) -> store::Result<Postgres> {
    Postgres::open(url, Schema::new(version, tables.iter().copied())?, &options()).await
}

#[tokio::test]
async fn a_newer_program_completes_the_tables_and_an_older_one_is_refused() {
    let Some((server, database, url)) = databases() else { return };
    open_tables(&url, 3, &[OLD.def()]).await.unwrap();
    let engine = open_tables(&url, 4, &[NEW.def()]).await.unwrap();
    let names: Vec<_> = engine.schema().tables().iter().map(|table| table.name).collect();
    assert_eq!(names, ["new", "old"], "what only the store knows is part of its schema");
    assert_eq!(engine.schema().table("old"), Some(OLD.def()));
    let batch = {
        let mut batch = Batch::new();
        batch.set(OLD.key((1, "kept")), "").put(NEW.key((1,)), 1, "").check_absent(NEW.key((1,)));
        batch
    };
    let store = Store::over(Arc::new(engine), &StoreOptions::default());
    assert!(store.commit(batch).await.unwrap().is_applied());
    assert_eq!(server.psql_in(&database, "SELECT value FROM torg._meta WHERE name = 'schema_version'"), "4");
    match open_tables(&url, 3, &[OLD.def()]).await.err() {
        Some(Error::NewerSchema { store: 4, program: 3 }) => {}
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn opened_without_making_anything_a_database_stays_as_it_is() {
    let Some((server, database, url)) = databases() else { return };
    let only_look = StoreOptions { create: false, ..options() };
    let look = async |version, tables: &[&'static store::TableDef]| {
        Postgres::open(&url, Schema::new(version, tables.iter().copied())?, &only_look).await
    };
    match look(1, &[OLD.def()]).await.err() {
        Some(Error::Missing { place }) => {
            assert!(place.starts_with("postgres://") && place.contains(&database), "{place}");
            assert!(place.contains(":***@"), "{place}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(server.psql_in(&database, "SELECT count(*) FROM pg_namespace WHERE nspname = 'torg'"), "0");
    open_tables(&url, 3, &[OLD.def()]).await.unwrap();
    let tables = "SELECT string_agg(table_name, ',' ORDER BY table_name) FROM information_schema.tables \
                  WHERE table_schema = 'torg'";
    let before = server.psql_in(&database, tables);
    let engine = look(4, &[NEW.def()]).await.unwrap();
    assert_eq!(engine.schema().tables(), [OLD.def()], "the catalogue's tables, and no declared one");
    assert_eq!(engine.schema().version, 3);
    assert!(engine.scan(&OLD.scan()).await.unwrap().rows.is_empty());
    assert_eq!(server.psql_in(&database, tables), before);
    assert_eq!(server.psql_in(&database, "SELECT value FROM torg._meta WHERE name = 'schema_version'"), "3");
    assert!(matches!(look(2, &[]).await.err(), Some(Error::NewerSchema { store: 3, program: 2 })));
    assert!(matches!(look(4, &[OLD_CHANGED.def()]).await.err(), Some(Error::BadTable { .. })));
    server.psql_in(&database, "DROP TABLE torg._commits");
    assert!(matches!(look(3, &[]).await.err(), Some(Error::Missing { .. })));
}

#[tokio::test]
async fn a_table_that_differs_from_the_stored_one_is_refused() {
    let Some((_, _, url)) = databases() else { return };
    open_tables(&url, 1, &[OLD.def()]).await.unwrap();
    match open_tables(&url, 2, &[OLD_CHANGED.def(), NEW.def()]).await.err() {
        Some(Error::BadTable { table, reason }) => {
            assert_eq!(table, "old");
            assert!(reason.contains("at i64") && reason.contains("name text"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    let engine = open_tables(&url, 1, &[OLD.def()]).await.unwrap();
    assert_eq!(engine.schema().tables().len(), 1, "nothing of the refused program was made");
}

#[tokio::test]
async fn a_snapshot_expires() {
    let Some((_, _, url)) = databases() else { return };
    let mut options = options();
    options.postgres.snapshot_timeout = Duration::from_millis(200);
    options.postgres.read_connections = 2;
    let store = open_with(&url, &options).await;
    // More than there are connections for snapshots: each gives its own back.
    for _ in 0..3 {
        let view = store.snapshot().await.unwrap();
        assert!(view.get_one(&OFFERS.key((1, "a"))).await.unwrap().is_none());
        let expired = loop {
            match view.get_one(&OFFERS.key((1, "a"))).await {
                Ok(_) => tokio::task::yield_now().await,
                Err(error) => break error,
            }
        };
        assert!(matches!(&expired, Error::SnapshotExpired { .. }), "{expired}");
        assert!(matches!(view.scan(&OFFERS.scan()).await, Err(Error::SnapshotExpired { .. })));
    }
}

#[tokio::test]
async fn a_dropped_snapshot_gives_its_connection_back() {
    let Some((server, database, url)) = databases() else { return };
    let mut options = options();
    options.postgres.read_connections = 2;
    let store = open_with(&url, &options).await;
    for _ in 0..20 {
        store.snapshot().await.unwrap().scan(&OFFERS.scan()).await.unwrap();
    }
    drop(store.snapshot().await.unwrap());
    let open =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'";
    while server.psql_in(&database, open) != "0" {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn verify_counts_rows_and_names_what_cannot_be_ours() {
    let Some((server, database, url)) = databases() else { return };
    let engine =
        Postgres::open(&url, conformance::schema().unwrap(), &StoreOptions::default()).await.unwrap();
    server.psql_in(
        &database,
        "INSERT INTO torg.offers SELECT 1, 'id' || n, 1, 'x' FROM generate_series(1, 25000) AS n;
         INSERT INTO torg.offers VALUES (-1, 'minus', 1, ''), (1, 'zero', 0, '');
         INSERT INTO torg.queue VALUES (1, 1, 'long', decode(repeat('00', 1048577), 'hex'));
         INSERT INTO torg.counts VALUES (1, 'fine', 5)",
    );
    let mut damages = Vec::new();
    let counts = engine.verify(&mut |damage| damages.push(damage.to_string())).await.unwrap();
    assert_eq!(counts["offers"], 25002);
    assert_eq!((counts["queue"], counts["counts"], counts["lists"]), (1, 1, 0));
    assert_eq!(engine.approximate_rows().await.unwrap(), 25004);
    assert_eq!(damages.len(), 3, "{damages:?}");
    for (damage, part) in damages.iter().zip(["0x6c6f6e67", "-1", "zero"]) {
        assert!(damages.iter().any(|d| d.contains(part)), "{damage} {part}");
    }
    engine.close().await.unwrap();
}
