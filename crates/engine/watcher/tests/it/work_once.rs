//! The work that a change costs: its fields are compared once, it is encoded once, and the engine
//! copies the entity only to apply a patch.

use std::cell::Cell;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use store::Batch;
use tokio::sync::watch;
use watcher::{Answer, Entity, Fields, Interest, Prepared, Setup, Stage, StageError, Subject, Watcher};

use crate::common::{SECOND, memory};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Work {
    compared: u32,
    encoded: u32,
    copied: u32,
}

// A test and everything that it starts run on one thread.
thread_local! {
    static WORK: Cell<Work> = const { Cell::new(Work { compared: 0, encoded: 0, copied: 0 }) };
}

fn count(change: impl FnOnce(&mut Work)) {
    let mut work = WORK.get();
    change(&mut work);
    WORK.set(work);
}

#[derive(Debug)]
struct Parcel {
    number: u32,
    weight: u32,
}

impl Clone for Parcel {
    fn clone(&self) -> Self {
        count(|work| work.copied += 1);
        Self { number: self.number, weight: self.weight }
    }
}

impl Entity for Parcel {
    type Id = u32;
    const KIND: &'static str = "parcel";

    fn id(&self) -> u32 {
        self.number
    }

    fn encode(&self) -> Bytes {
        count(|work| work.encoded += 1);
        format!("{} {}", self.number, self.weight).into()
    }

    fn decode(bytes: &Bytes) -> Result<Self, String> {
        let text = String::from_utf8_lossy(bytes);
        let (number, weight) = text.split_once(' ').ok_or("a parcel has two numbers")?;
        let parse = |text: &str| text.parse().map_err(|_| format!("{text} is not a number"));
        Ok(Self { number: parse(number)?, weight: parse(weight)? })
    }

    fn changed_fields(before: &Self, after: &Self) -> Fields {
        count(|work| work.compared += 1);
        Fields::of((before.weight != after.weight).then_some("weight"))
    }

    fn take_fields(&mut self, fields: &Fields, from: &Self) {
        if fields.covers("weight") {
            self.weight = from.weight;
        }
    }
}

/// Adds one to the weight.
struct Packing {
    patches: bool,
}

#[async_trait]
impl Stage<Parcel> for Packing {
    fn id(&self) -> &'static str {
        "packing"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["weight"]))
    }

    async fn process(&self, subject: &Subject<Parcel>) -> Result<Answer<Parcel>, StageError> {
        let after = Parcel { number: subject.entity.number, weight: subject.entity.weight + 1 };
        Ok(if self.patches { Answer::patch(Fields::of(["weight"]), after) } else { Answer::replace(after) })
    }
}

async fn work_of_a_visit(patches: bool) -> Work {
    let store = memory();
    let stages: Vec<Arc<dyn Stage<Parcel>>> = vec![Arc::new(Packing { patches })];
    let watcher = Watcher::open(&store, Setup { stages, seed: 1, ..Setup::default() }).await.unwrap();
    let mut batch = Batch::new();
    watcher.save(&mut batch, None, &Parcel { number: 1, weight: 5 }).await.unwrap();
    assert!(store.commit(batch).await.unwrap().is_applied());
    WORK.set(Work::default());
    let stop = watch::Sender::new(false);
    let (running, stopped) = (watcher.clone(), stop.subscribe());
    let task = tokio::spawn(async move { running.run("one".to_owned(), stopped).await });
    tokio::time::sleep(10 * SECOND).await;
    stop.send_replace(true);
    task.await.unwrap().unwrap();
    let work = WORK.get();
    let found = watcher.load(&1).await.unwrap().unwrap();
    assert_eq!((found.entity.weight, found.version), (6, 2), "there was one visit");
    work
}

#[tokio::test(start_paused = true)]
async fn a_visit_compares_and_encodes_the_changed_entity_once() {
    assert_eq!(work_of_a_visit(false).await, Work { compared: 1, encoded: 1, copied: 0 });
}

#[tokio::test(start_paused = true)]
async fn a_visit_copies_the_entity_once_to_apply_a_patch() {
    assert_eq!(work_of_a_visit(true).await, Work { compared: 1, encoded: 1, copied: 1 });
}

#[tokio::test]
async fn a_save_compares_and_encodes_once_and_a_prepared_change_costs_nothing_more() {
    let store = memory();
    let watcher = Watcher::<Parcel>::open(&store, Setup::default()).await.unwrap();
    let mut batch = Batch::new();
    watcher.save(&mut batch, None, &Parcel { number: 1, weight: 5 }).await.unwrap();
    assert!(store.commit(batch).await.unwrap().is_applied());
    let before = watcher.load_to_change(&1, &Fields::all()).await.unwrap();
    let heavier = Parcel { number: 1, weight: 7 };

    WORK.set(Work::default());
    let prepared = Prepared::new(before.as_ref(), &heavier).unwrap();
    assert!(prepared.fields().covers("weight"));
    watcher.save_prepared(&mut Batch::new(), before.as_ref(), &prepared).await.unwrap();
    assert_eq!(WORK.get(), Work { compared: 1, encoded: 1, copied: 0 });

    WORK.set(Work::default());
    watcher.save(&mut Batch::new(), before.as_ref(), &heavier).await.unwrap();
    assert_eq!(WORK.get(), Work { compared: 1, encoded: 1, copied: 0 });
}
