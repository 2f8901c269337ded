//! What the tests of the PostgreSQL engine share.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use store::conformance::{self, COUNTS, OFFERS, QUEUE};
use store::{Batch, Postgres, Read, Row, Scan, Store, StoreOptions};
use tokio::sync::watch;

/// The shared server with a fresh database: its name and its URL.
pub(crate) fn databases() -> Option<(&'static testkit::Postgres, String, String)> {
    let server = testkit::postgres()?;
    let name = testkit::fresh_name("store");
    let url = server.create_database(&name);
    Some((server, name, url))
}

/// Options for tests: a database that is away is given up soon enough for a test to see it.
pub(crate) fn options() -> StoreOptions {
    let mut options = StoreOptions::default();
    options.postgres.patience = Duration::from_secs(60);
    options
}

pub(crate) async fn open(url: &str) -> Store {
    open_with(url, &options()).await
}

pub(crate) async fn open_with(url: &str, options: &StoreOptions) -> Store {
    try_open(url, options).await.expect("the database is there")
}

pub(crate) async fn try_open(url: &str, options: &StoreOptions) -> store::Result<Store> {
    let engine = Postgres::open(url, conformance::schema()?, options).await?;
    Ok(Store::over(Arc::new(engine), options))
}

/// What one caller did.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) applied: Vec<i64>,
    pub(crate) errors: Vec<String>,
}

/// Callers that create rows until they are told to stop: a row, a queue row and two counters in
/// each batch.
pub(crate) struct Load {
    callers: Vec<tokio::task::JoinHandle<Done>>,
    stop: Arc<AtomicBool>,
    progress: watch::Receiver<u64>,
}

impl Load {
    pub(crate) fn start(store: &Store, callers: u32) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (done, progress) = watch::channel(0);
        let done = Arc::new(done);
        let callers = (0..callers)
            .map(|n| tokio::spawn(write(store.clone(), n, Arc::clone(&stop), Arc::clone(&done))))
            .collect();
        Self { callers, stop, progress }
    }

    /// Waits until so many more batches were acknowledged.
    pub(crate) async fn progress(&mut self, more: u64) {
        let target = *self.progress.borrow() + more;
        self.progress.wait_for(|done| *done >= target).await.expect("the callers are at work");
    }

    /// Stops the callers and compares what they were told with what is there. No caller may have
    /// seen an error.
    pub(crate) async fn stop_and_compare(self, store: &Store) {
        let errors = self.stop_and_compare_errors(store).await;
        assert_eq!(errors, Vec::<String>::new());
    }

    /// The same where errors are in order: what failed must not be there. Returns the errors.
    pub(crate) async fn stop_and_compare_errors(self, store: &Store) -> Vec<String> {
        let mut errors = Vec::new();
        self.stop.store(true, Ordering::Relaxed);
        let mut total = 0;
        for (caller, done) in futures::future::join_all(self.callers).await.into_iter().enumerate() {
            let (caller, done) = (caller as u32, done.expect("no panic"));
            errors.extend(done.errors.into_iter().map(|error| format!("caller {caller}, {error}")));
            let rows = all_rows(store, OFFERS.prefix((caller,))).await;
            let queued = all_rows(store, QUEUE.prefix((caller,))).await;
            let expected: Vec<i64> = done.applied;
            let present: Vec<i64> =
                rows.iter().map(|row| OFFERS.parts(&row.key).unwrap().1.parse().unwrap()).collect();
            let in_queue: Vec<i64> = queued.iter().map(|row| QUEUE.parts(&row.key).unwrap().1).collect();
            assert_eq!(present, expected, "caller {caller}: rows are those that were acknowledged");
            assert_eq!(in_queue, expected, "caller {caller}: batches are whole");
            let count = store.amount(&COUNTS.key((caller, "rows"))).await.unwrap();
            assert_eq!(count, expected.len() as i64, "caller {caller}: the counter equals its recount");
            total += count;
        }
        assert_eq!(store.amount(&COUNTS.key((0, "all"))).await.unwrap(), total);
        errors
    }
}

async fn write(store: Store, caller: u32, stop: Arc<AtomicBool>, progress: Arc<watch::Sender<u64>>) -> Done {
    let mut done = Done::default();
    for n in 0i64.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let row = OFFERS.key((caller, format!("{n:06}")));
        let mut batch = Batch::new();
        batch.check_absent(row.clone()).put(row.clone(), 1, vec![7; 300]);
        batch.set(QUEUE.key((caller, n, &b"q"[..])), "");
        batch.add(COUNTS.key((caller, "rows")), 1).add(COUNTS.key((0, "all")), 1);
        let commit = store.commit(batch).await;
        let applied = commit.as_ref().is_ok_and(store::Outcome::is_applied);
        if applied {
            done.applied.push(n);
        } else {
            done.errors.push(format!("commit {n}: {commit:?}"));
        }
        match store.get_one(&row).await {
            Ok(found) if found.is_some() == applied => {}
            other => done.errors.push(format!("read {n}: {other:?}")),
        }
        progress.send_modify(|done| *done += 1);
    }
    done
}

/// All rows of a scan, page by page.
pub(crate) async fn all_rows(store: &Store, scan: Scan) -> Vec<Row> {
    let (mut rows, mut next) = (Vec::new(), Some(scan.clone()));
    while let Some(page_of) = next.take() {
        let page = store.scan(&page_of).await.expect("reads work");
        rows.extend(page.rows);
        next = page.next.map(|key| scan.clone().after(key));
    }
    rows
}
