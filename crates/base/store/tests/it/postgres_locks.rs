//! What the PostgreSQL engine locks: a row that is only checked stops those who write it, and
//! nobody else.

use std::time::Duration;

use crate::support::{databases, open_with, options};
use store::conformance::{ENTRIES, OFFERS};
use store::{Batch, Key, Outcome, Read, Store};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, NoTls};

/// Both ways of locking: what is added to the address.
const STYLES: [&str; 2] = ["", "?lock=by-shard"];
/// A statement that waits for so long waits for ever, as far as these tests are concerned.
const FOR_EVER: Duration = Duration::from_secs(20);

fn guard() -> Key {
    ENTRIES.key((1, &b"guard"[..], ""))
}

fn row(name: &str) -> Key {
    OFFERS.key((1, name))
}

/// A store with two lanes, the guard at version 1, and a row that a stranger is about to write: who
/// writes it, too, waits until the stranger lets go.
struct Scene {
    server: &'static testkit::Postgres,
    database: String,
    store: Store,
    stranger: Client,
}

impl Scene {
    async fn set(style: &str) -> Option<Self> {
        let (server, database, url) = databases()?;
        let mut options = options();
        options.postgres.commit_lanes = 2;
        options.postgres.statement_timeout = FOR_EVER;
        let store = open_with(&format!("{url}{style}"), &options).await;
        let mut batch = Batch::new();
        batch.put(guard(), 1, "").put(row("held"), 1, "");
        assert!(store.commit(batch).await.unwrap().is_applied());
        let (stranger, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(connection);
        Some(Self { server, database, store, stranger })
    }

    async fn stranger_holds(&self, statement: &str) {
        self.stranger.batch_execute(&format!("BEGIN; {statement}")).await.unwrap();
    }

    async fn stranger_lets_go(&self) {
        self.stranger.batch_execute("COMMIT").await.unwrap();
    }

    fn start(&self, batch: Batch) -> JoinHandle<store::Result<Outcome>> {
        let store = self.store.clone();
        tokio::spawn(async move { store.commit(batch).await })
    }

    /// Waits until so many connections wait for locks.
    async fn waiting(&self, count: usize) {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let seen = async {
            while self.server.psql_in(&self.database, waiting) != count.to_string() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(FOR_EVER, seen).await.expect("somebody waits for a lock");
    }

    async fn version(&self, key: &Key) -> u64 {
        self.store.get_one(key).await.unwrap().map_or(0, |row| row.version)
    }
}

/// A batch that checks the guard and writes another row.
fn guarded(name: &str) -> Batch {
    let mut batch = Batch::new();
    batch.check(guard(), 1).put(row(name), 2, "");
    batch
}

/// A batch that writes the guard.
fn moving_the_guard() -> Batch {
    let mut batch = Batch::new();
    batch.check(guard(), 1).put(guard(), 2, "");
    batch
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_that_check_the_same_row_do_not_wait_for_each_other() {
    for style in STYLES {
        let Some(scene) = Scene::set(style).await else { return };
        scene.stranger_holds("UPDATE torg.offers SET value = 'stranger' WHERE id = 'held'").await;
        let first = scene.start(guarded("held"));
        scene.waiting(1).await;
        // The first group holds the guard. With a lock against everybody the second one would run
        // into its time-out.
        assert!(scene.store.commit(guarded("free")).await.unwrap().is_applied(), "{style}");
        assert_eq!(scene.version(&row("held")).await, 1, "the first is still on its way");
        scene.stranger_lets_go().await;
        assert!(first.await.unwrap().unwrap().is_applied());
        assert_eq!((scene.version(&row("held")).await, scene.version(&row("free")).await), (2, 2));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checked_row_cannot_change_between_the_check_and_the_commit() {
    let (mut unchecked, mut delete) = (Batch::new(), Batch::new());
    unchecked.put(guard(), 2, "");
    delete.delete(guard());
    for style in STYLES {
        for writer in [moving_the_guard(), unchecked.clone(), delete.clone()] {
            let Some(scene) = Scene::set(style).await else { return };
            scene.stranger_holds("UPDATE torg.offers SET value = 'stranger' WHERE id = 'held'").await;
            let first = scene.start(guarded("held"));
            scene.waiting(1).await;
            let writer = scene.start(writer);
            scene.waiting(2).await;
            assert_eq!(scene.version(&guard()).await, 1, "its writer waits for the group that checked it");
            scene.stranger_lets_go().await;
            assert!(first.await.unwrap().unwrap().is_applied());
            assert!(writer.await.unwrap().unwrap().is_applied());
            let late = scene.store.commit(guarded("late")).await.unwrap();
            assert_eq!(late, Outcome::Conflict(vec![guard()]), "{style}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_checks_a_row_that_is_being_written_waits_and_sees_the_new_version() {
    let writers = [
        ("UPDATE torg.entries SET version = 2", Outcome::Conflict(vec![guard()])),
        ("DELETE FROM torg.entries", Outcome::Conflict(vec![guard()])),
        ("UPDATE torg.entries SET value = 'same version'", Outcome::Applied),
    ];
    for style in STYLES {
        for (statement, expected) in writers.clone() {
            let Some(scene) = Scene::set(style).await else { return };
            scene.stranger_holds(statement).await;
            let group = scene.start(guarded("free"));
            scene.waiting(1).await;
            scene.stranger_lets_go().await;
            assert_eq!(group.await.unwrap().unwrap(), expected, "{style} {statement}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_also_writes_what_it_checks_waits_for_those_who_only_check_it() {
    let Some(scene) = Scene::set("").await else { return };
    scene.stranger_holds("SELECT 1 FROM torg.entries FOR SHARE").await;
    assert!(scene.store.commit(guarded("free")).await.unwrap().is_applied());
    let mut both = moving_the_guard();
    both.put(row("both"), 1, "");
    let both = scene.start(both);
    scene.waiting(1).await;
    assert_eq!(scene.version(&row("both")).await, 0);
    scene.stranger_lets_go().await;
    assert!(both.await.unwrap().unwrap().is_applied());
}

/// Counts up `mine` as long as `yours` is as it was seen, again and again. Returns how often that
/// went through.
async fn count_up(store: Store, mine: &str, yours: &str, rounds: u32) -> u64 {
    let (mine, yours) = (row(mine), row(yours));
    let mut applied = 0;
    for _ in 0..rounds {
        let seen = store.get(&[mine.clone(), yours.clone()]).await.unwrap();
        let [mine_at, yours_at] = [0, 1].map(|n: usize| seen[n].as_ref().unwrap().version);
        let mut batch = Batch::new();
        batch.check(mine.clone(), mine_at).check(yours.clone(), yours_at).put(mine.clone(), mine_at + 1, "");
        applied += u64::from(store.commit(batch).await.unwrap().is_applied());
    }
    applied
}

#[tokio::test(flavor = "multi_thread")]
async fn two_that_check_what_the_other_writes_never_lock_each_other_out() {
    const ROUNDS: u32 = 300;
    for style in STYLES {
        let Some((_, _, url)) = databases() else { return };
        let url = format!("{url}{style}");
        let (one, two) = (open_with(&url, &options()).await, open_with(&url, &options()).await);
        let mut batch = Batch::new();
        batch.put(row("a"), 1, "").put(row("b"), 1, "");
        assert!(one.commit(batch).await.unwrap().is_applied());
        let ups = [count_up(one.clone(), "a", "b", ROUNDS), count_up(two.clone(), "b", "a", ROUNDS)];
        let [a, b] = <[_; 2]>::try_from(futures::future::join_all(ups.map(tokio::spawn)).await).unwrap();
        let versions = one.get(&[row("a"), row("b")]).await.unwrap();
        let versions: Vec<u64> = versions.into_iter().map(|row| row.unwrap().version - 1).collect();
        assert_eq!(versions, [a.unwrap(), b.unwrap()], "{style}");
        for store in [one, two] {
            let retries = store.gauges().into_iter().find(|(name, _)| *name == "postgres_commit_retries");
            assert_eq!(retries, Some(("postgres_commit_retries", 0.0)), "a deadlock would have cost a retry");
        }
    }
}
