//! Rows of `watcher_saved` that cannot be read.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::watch;
use watcher::{Answer, Clock, Config, Entity, Fields, Saved, Setup, Stage, StageError, Subject, Watcher};

use crate::common::{START, Thing, memory};
use crate::relay::SECOND;
use crate::relay::place::{AtWork, Listener, Manner, Written, count, set};

#[tokio::test(start_paused = true)]
async fn a_row_that_cannot_be_read_passes_and_what_was_heard_is_not_heard_again() {
    let (store, stage) = (memory(), Listener::new("stage", Manner::Hears));
    let row = |at, entity| Written { shards: 1, author: "stage", at, entity, version: 1 };
    row(0, "a").save(&store).await;
    set(&store, row(1, "b").saved_key(&store), b"\xff\xff".to_vec()).await;
    let strange = row(2, "c");
    set(&store, strange.saved_key(&store), strange.value(b"no thing")).await;
    row(3, "d").save(&store).await;
    let at_work = AtWork::start(&store, 1, vec![Arc::clone(&stage) as _]).await;
    tokio::time::sleep(100 * SECOND).await;
    assert_eq!(stage.heard(), [("a".to_owned(), 1), ("d".to_owned(), 1)]);
    assert_eq!(count(&store, "watcher_saved").await, 0);
    at_work.stop().await;
}

/// A thing that some bytes make panic.
#[derive(Clone)]
struct Touchy(Thing);

impl Entity for Touchy {
    type Id = String;
    const KIND: &'static str = Thing::KIND;

    fn id(&self) -> String {
        self.0.id()
    }

    fn encode(&self) -> Bytes {
        self.0.encode()
    }

    fn decode(bytes: &Bytes) -> Result<Self, String> {
        // A panic that nobody prints.
        Thing::decode(bytes).map(Self).or_else(|error| std::panic::resume_unwind(Box::new(error)))
    }

    fn changed_fields(before: &Self, after: &Self) -> Fields {
        Thing::changed_fields(&before.0, &after.0)
    }

    fn take_fields(&mut self, fields: &Fields, from: &Self) {
        self.0.take_fields(fields, &from.0);
    }
}

#[derive(Default)]
struct Ear(Mutex<Vec<String>>);

#[async_trait]
impl Stage<Touchy> for Ear {
    fn id(&self) -> &'static str {
        "ear"
    }

    async fn process(&self, _: &Subject<Touchy>) -> Result<Answer<Touchy>, StageError> {
        Ok(Answer::untouched())
    }

    fn wants_saved(&self) -> bool {
        true
    }

    async fn on_saved(&self, saved: &Saved<Touchy>) -> Result<(), StageError> {
        self.0.lock().unwrap().push(saved.entity.id());
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn an_entity_whose_reading_panics_is_a_row_that_cannot_be_read() {
    let (store, ear) = (memory(), Arc::new(Ear::default()));
    let row = |at, entity| Written { shards: 1, author: "ear", at, entity, version: 1 };
    set(&store, row(0, "a").saved_key(&store), row(0, "a").value(b"boo")).await;
    row(1, "b").save(&store).await;
    let (clock, config) = (Clock::starting_at(START), Config { shards: 1, ..Config::default() });
    let watcher = Watcher::open(
        &store,
        Setup { clock, config, stages: vec![Arc::clone(&ear) as _], seed: 1, ..Setup::default() },
    )
    .await
    .unwrap();
    let stop = watch::Sender::new(false);
    let stopped = stop.subscribe();
    let task = tokio::spawn(async move { watcher.run("one".to_owned(), stopped).await.unwrap() });
    tokio::time::sleep(SECOND).await;
    assert_eq!(*ear.0.lock().unwrap(), ["b"]);
    assert_eq!(count(&store, "watcher_saved").await, 0);
    stop.send_replace(true);
    task.await.unwrap();
}
