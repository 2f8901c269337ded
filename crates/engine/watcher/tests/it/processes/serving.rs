//! The process that serves: a copy of the test binary that runs a watcher until its standard input
//! ends.
//!
//! It tells its parent, one line each: `refused` for every batch that the store refused because a
//! shard is not its own any more, `heard ID VERSION` when its stage heard of a saved change, and
//! `ended` when it has given its shards away.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use store::engine::{ApplyError, Engine, Group, HintSender, Verdict};
use store::{BatchId, Key, Page, Postgres, Row, Scan, Schema, Store, StoreOptions};
use tokio::sync::watch;
use topics::Topics;
use watcher::{
    Answer, Budget, Config, Fields, Interest, Saved, Schedule, Setup, Stage, StageError, Subject, Watcher,
};

use crate::common::Thing;

pub(crate) const SHARDS: u32 = 64;
pub(crate) const LEASE_TIME: Duration = Duration::from_secs(2);
pub(crate) const TOPIC: &str = "things";
/// How long a stage thinks: long enough for visits to be under way at any moment.
const THINKING: Duration = Duration::from_millis(50);
const TIMER: Duration = Duration::from_millis(300);

pub(crate) fn schema() -> Schema {
    Schema::new(1, watcher::tables().into_iter().chain(topics::tables())).unwrap()
}

pub(crate) fn config() -> Config {
    // Nobody fights here, however often things change.
    let budget = Budget { changes: 1_000_000, ..Config::default().budget };
    Config { shards: SHARDS, lease_time: LEASE_TIME, budget, ..Config::default() }
}

/// One write call a line: the parent must not see half of one.
fn tell(line: &str) {
    // A parent that has gone away hears nothing, and its child ends soon.
    let _ = std::io::stdout().write_all(format!("\n{line}\n").as_bytes());
}

/// Serves until standard input ends.
pub(crate) fn serve(url: &str, instance: &str) {
    let stop = watch::Sender::new(false);
    let stopped = stop.subscribe();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        stop.send_replace(true);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let options = StoreOptions::default();
        let engine = Postgres::open(url, schema(), &options).await.unwrap();
        let store = Store::over(Arc::new(Telling(engine)), &options);
        let topics = Topics::in_store(&store);
        let topic = Some((&topics, TOPIC));
        let stages = stages(instance);
        let seed = u64::from(std::process::id());
        let watcher =
            Watcher::open(&store, Setup { topic, config: config(), stages, seed, ..Setup::default() })
                .await
                .unwrap();
        watcher.run(instance.to_owned(), stopped).await.unwrap();
        store.close().await.unwrap();
    });
    tell("ended");
}

pub(crate) fn stages(instance: &str) -> Vec<Arc<dyn Stage<Thing>>> {
    vec![Arc::new(Marking(instance.to_owned())), Arc::new(Waking), Arc::new(Asked)]
}

fn price_of(subject: &Subject<Thing>) -> String {
    subject.entity.price.to_string()
}

/// Writes into the title which price it saw, in which process, and when; keeps the price as its
/// state.
struct Marking(String);

#[async_trait]
impl Stage<Thing> for Marking {
    fn id(&self) -> &'static str {
        "marking"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["price"]))
    }

    async fn process(&self, subject: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        tokio::time::sleep(THINKING).await;
        let title = format!("{} {} {}", subject.entity.price, self.0, subject.now.as_ms());
        let marked = Thing { title, ..subject.entity.clone() };
        Ok(Answer::replace(marked).with_state(price_of(subject)))
    }

    fn wants_saved(&self) -> bool {
        true
    }

    async fn on_saved(&self, saved: &Saved<Thing>) -> Result<(), StageError> {
        tell(&format!("heard {} {}", saved.entity.id, saved.version));
        Ok(())
    }
}

/// Arms a timer for each price, and notes in its state that it fired.
struct Waking;

#[async_trait]
impl Stage<Thing> for Waking {
    fn id(&self) -> &'static str {
        "waking"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["price"]))
    }

    async fn process(&self, subject: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        tokio::time::sleep(THINKING).await;
        let price = price_of(subject);
        let (armed, fired) = (format!("armed {price}"), format!("fired {price}"));
        Ok(match std::str::from_utf8(&subject.state).unwrap() {
            state if state == fired => Answer::untouched(),
            state if state == armed => Answer::untouched().with_state(fired),
            _ => Answer::untouched().with_state(armed).visit_at(subject.now + TIMER),
        })
    }
}

/// Is asked whether it has seen the price, and keeps it as its state.
struct Asked;

#[async_trait]
impl Stage<Thing> for Asked {
    fn id(&self) -> &'static str {
        "asked"
    }

    async fn should_process(&self, subject: &Subject<Thing>) -> Result<Schedule, StageError> {
        let has_seen = *subject.state == *price_of(subject).as_bytes();
        Ok(if has_seen { Schedule::No } else { Schedule::Now })
    }

    async fn process(&self, subject: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        Ok(Answer::untouched().with_state(price_of(subject)))
    }
}

/// The engine, with a line for every batch that was refused because of a lease.
struct Telling(Postgres);

#[async_trait]
impl store::Read for Telling {
    async fn get(&self, keys: &[Key]) -> store::Result<Vec<Option<Row>>> {
        self.0.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> store::Result<Page> {
        self.0.scan(scan).await
    }
}

#[async_trait]
impl Engine for Telling {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn schema(&self) -> &Schema {
        self.0.schema()
    }

    async fn snapshot(&self) -> store::Result<Box<dyn store::Read>> {
        self.0.snapshot().await
    }

    async fn apply(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError> {
        let verdicts = self.0.apply(group).await?;
        for (verdict, batch) in verdicts.iter().zip(&*group.batches) {
            // Those who want a lease itself write it; the others are held back by it.
            let is_lease = |key: &Key| key.table().name == "watcher_leases";
            let wants_it = batch.writes().iter().any(|(key, _)| is_lease(key));
            if matches!(verdict, Verdict::Conflict(keys) if keys.iter().any(is_lease)) && !wants_it {
                tell("refused");
            }
        }
        Ok(verdicts)
    }

    async fn resolve(&self, group: &Group) -> store::Result<bool> {
        self.0.resolve(group).await
    }

    async fn applied(&self, batch: BatchId) -> store::Result<bool> {
        self.0.applied(batch).await
    }

    fn lanes(&self) -> usize {
        self.0.lanes()
    }

    fn send_hints_to(&self, hints: HintSender) {
        self.0.send_hints_to(hints);
    }

    async fn verify(
        &self,
        found: &mut (dyn FnMut(store::Error) + Send),
    ) -> store::Result<BTreeMap<&'static str, u64>> {
        self.0.verify(found).await
    }

    async fn close(&self) -> store::Result<()> {
        self.0.close().await
    }
}
