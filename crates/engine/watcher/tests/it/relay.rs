//! Saved changes leave: to the topic, and to the stages that made them.

mod damage;
mod exporting;
mod on_saved;
mod place;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use store::{Batch, Read, Store};
use tokio::sync::watch;
use topics::{Message, ReadLimit, TopicSpec, Topics};
use watcher::{Answer, Clock, Config, Fields, Interest, Saved, Setup, Stage, StageError, Subject, Watcher};

use crate::common::{START, Thing, memory};

const TOPIC: &str = "things";
const SECOND: Duration = Duration::from_secs(1);

/// Writes the price into the title, and tells of it.
#[derive(Default)]
struct Telling {
    heard: Mutex<Vec<(String, u64)>>,
    /// How often it fails before it hears anything.
    deaf: Mutex<u32>,
}

#[async_trait]
impl Stage<Thing> for Telling {
    fn id(&self) -> &'static str {
        "telling"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["price"]))
    }

    async fn process(&self, subject: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        let title = format!("costs {}", subject.entity.price);
        Ok(Answer::replace(Thing { title, ..subject.entity.clone() }).with_state("told"))
    }

    fn wants_saved(&self) -> bool {
        true
    }

    async fn on_saved(&self, saved: &Saved<Thing>) -> Result<(), StageError> {
        let mut deaf = self.deaf.lock().unwrap();
        if *deaf > 0 {
            *deaf -= 1;
            return Err(StageError::Passing("what?".to_owned()));
        }
        assert_eq!(&*saved.state, b"told");
        assert_eq!(saved.entity.title, format!("costs {}", saved.entity.price));
        self.heard.lock().unwrap().push((saved.entity.id.clone(), saved.version));
        Ok(())
    }
}

async fn open(store: &Store, stage: &Arc<Telling>) -> (Watcher<Thing>, Topics) {
    let topics = Topics::in_store(store);
    topics.create(&TopicSpec::new(TOPIC, 4)).await.unwrap();
    let (clock, config) = (Clock::starting_at(START), Config { shards: 4, ..Config::default() });
    let stages: Vec<Arc<dyn Stage<Thing>>> = vec![stage.clone()];
    (
        Watcher::open(store, Setup { topic: Some((&topics, TOPIC)), clock, config, stages, seed: 1 })
            .await
            .unwrap(),
        topics,
    )
}

async fn save(watcher: &Watcher<Thing>, store: &Store, thing: &Thing) {
    loop {
        let before = watcher.load(&thing.id).await.unwrap();
        let mut batch = Batch::new();
        watcher.save(&mut batch, before.as_ref(), thing).await.unwrap();
        if store.commit(batch).await.unwrap().is_applied() {
            return;
        }
    }
}

fn described(message: &Message) -> String {
    let header = |name| String::from_utf8_lossy(message.header_value(name).unwrap()).into_owned();
    format!("{} {} {}", String::from_utf8_lossy(&message.key), header("version"), header("author"))
}

/// What the topic holds, as `id version author`, by partition.
async fn exported(topics: &Topics) -> Vec<String> {
    let mut messages = Vec::new();
    for partition in 0..4 {
        let mut next = 0;
        loop {
            let page = topics.read(TOPIC, partition, next, ReadLimit::messages(1000)).await.unwrap();
            if page.messages.is_empty() {
                break;
            }
            next = page.next;
            messages.extend(page.messages.iter().map(|record| described(&record.message)));
        }
    }
    messages
}

#[tokio::test(start_paused = true)]
async fn every_change_reaches_the_topic_in_the_order_of_versions() {
    let (store, stage) = (memory(), Arc::default());
    let (watcher, topics) = open(&store, &stage).await;
    for price in 1..=3 {
        save(&watcher, &store, &Thing::new("a", price)).await;
    }
    assert_eq!(exported(&topics).await, Vec::<String>::new(), "nobody relays yet");
    let stop = watch::Sender::new(false);
    let (at_work, stopped) = (watcher.clone(), stop.subscribe());
    let task = tokio::spawn(async move { at_work.run("one".to_owned(), stopped).await.unwrap() });
    tokio::time::sleep(SECOND).await;
    assert_eq!(exported(&topics).await, ["a 1 ", "a 2 ", "a 3 ", "a 4 telling"]);
    assert_eq!(*stage.heard.lock().unwrap(), [("a".to_owned(), 4)]);
    stop.send_replace(true);
    task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn how_far_the_topic_has_come_stands_still_while_a_change_waits() {
    let (store, stage) = (memory(), Arc::default());
    let (watcher, _topics) = open(&store, &stage).await;
    let lag = watcher::limits::CLOCKS_APART_MAX;
    tokio::time::sleep(100 * SECOND).await;
    assert_eq!(watcher.exported_to().await.unwrap(), START + 100 * SECOND - lag, "nothing waits");
    let changed = watcher.clock().now();
    save(&watcher, &store, &Thing::new("a", 1)).await;
    tokio::time::sleep(100 * SECOND).await;
    assert_eq!(watcher.exported_to().await.unwrap(), changed, "a change waits");
    let waits: Vec<_> = watcher.export_waits().await.unwrap().into_values().collect();
    assert_eq!(waits, [changed]);
    let stop = watch::Sender::new(false);
    let (at_work, stopped) = (watcher.clone(), stop.subscribe());
    let task = tokio::spawn(async move { at_work.run("one".to_owned(), stopped).await.unwrap() });
    tokio::time::sleep(10 * SECOND).await;
    assert_eq!(watcher.exported_to().await.unwrap(), START + 210 * SECOND - lag);
    assert!(watcher.export_waits().await.unwrap().is_empty());
    stop.send_replace(true);
    task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn whoever_works_beside_the_stages_has_a_fence_as_long_as_the_process_serves_the_shard() {
    let (store, stage) = (memory(), Arc::default());
    let (watcher, _topics) = open(&store, &stage).await;
    let serving = watcher.serving();
    assert!(serving.borrow().is_empty());
    let stop = watch::Sender::new(false);
    let (at_work, stopped) = (watcher.clone(), stop.subscribe());
    let task = tokio::spawn(async move { at_work.run("one".to_owned(), stopped).await.unwrap() });
    tokio::time::sleep(SECOND).await;
    let fence = serving.borrow()[&2].clone();
    let guarded = |price| {
        let (watcher, store, fence) = (watcher.clone(), store.clone(), fence.clone());
        async move {
            let things = [Thing::new("b", price), Thing::new("c", price)];
            let before =
                [watcher.load(&"b".to_owned()).await.unwrap(), watcher.load(&"c".to_owned()).await.unwrap()];
            let changes: Vec<_> = before.iter().map(Option::as_ref).zip(&things).collect();
            let mut batch = Batch::new();
            fence.guard(&mut batch);
            watcher.save_many(&mut batch, &changes).await.unwrap();
            store.commit(batch).await.unwrap()
        }
    };
    assert!(guarded(1).await.is_applied());
    // The stage changes them, too.
    tokio::time::sleep(SECOND).await;
    assert!(guarded(2).await.is_applied());
    assert_eq!(watcher.load(&"c".to_owned()).await.unwrap().unwrap().entity.price, 2);
    stop.send_replace(true);
    task.await.unwrap();
    assert!(serving.borrow().is_empty());
    let store::Outcome::Conflict(keys) = guarded(3).await else { panic!("the shard is given away") };
    assert!(fence.is_among(&keys));
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_fails_to_hear_is_told_again_in_order_and_the_topic_does_not_wait() {
    let stage = Arc::new(Telling { deaf: Mutex::new(5), ..Telling::default() });
    let store = memory();
    let (watcher, topics) = open(&store, &stage).await;
    let stop = watch::Sender::new(false);
    let (at_work, stopped) = (watcher.clone(), stop.subscribe());
    let task = tokio::spawn(async move { at_work.run("one".to_owned(), stopped).await.unwrap() });
    for price in 1..=2 {
        save(&watcher, &store, &Thing::new("a", price)).await;
        tokio::time::sleep(SECOND).await;
    }
    assert_eq!(exported(&topics).await, ["a 1 ", "a 2 telling", "a 3 ", "a 4 telling"]);
    assert_eq!(*stage.heard.lock().unwrap(), []);
    tokio::time::sleep(100 * SECOND).await;
    assert_eq!(*stage.heard.lock().unwrap(), [("a".to_owned(), 2), ("a".to_owned(), 4)]);
    stop.send_replace(true);
    task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_topic_that_does_not_exist_is_refused_when_the_watcher_is_opened() {
    let store = memory();
    let topics = Topics::in_store(&store);
    let opened = Watcher::<Thing>::open(
        &store,
        Setup {
            topic: Some((&topics, "nowhere")),
            clock: Clock::starting_at(START),
            stages: Vec::new(),
            seed: 1,
            ..Setup::default()
        },
    );
    assert_eq!(opened.await.err().unwrap().to_string(), "there is no topic nowhere");
}

#[tokio::test(start_paused = true)]
async fn one_who_lost_a_shard_without_knowing_does_not_export_its_changes_again_and_again() {
    let (store, stage) = (memory(), Arc::default());
    let (watcher, topics) = open(&store, &stage).await;
    let stop = watch::Sender::new(false);
    let (at_work, stopped) = (watcher.clone(), stop.subscribe());
    let task = tokio::spawn(async move { at_work.run("one".to_owned(), stopped).await.unwrap() });
    save(&watcher, &store, &Thing::new("a", 1)).await;
    tokio::time::sleep(SECOND).await;
    let leases = store.schema().table("watcher_leases").unwrap();
    let mut batch = Batch::new();
    for lease in store.scan(&leases.scan()).await.unwrap().rows {
        batch.put(lease.key, lease.version + 1, lease.value);
    }
    assert!(store.commit(batch).await.unwrap().is_applied());
    // A change that no stage visits.
    save(&watcher, &store, &Thing { title: "another".to_owned(), ..Thing::new("a", 1) }).await;
    // No time passes: it has no reason to think that its leases are gone.
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(exported(&topics).await, ["a 1 ", "a 2 telling", "a 3 "]);
    tokio::time::sleep(20 * SECOND).await;
    let outbox = store.schema().table("watcher_outbox").unwrap();
    assert!(store.scan(&outbox.scan()).await.unwrap().rows.is_empty(), "with its new leases it goes on");
    stop.send_replace(true);
    task.await.unwrap();
}
