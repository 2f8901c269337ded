//! What others may ask: to remove an entity, to see and set a private state, to have an entity
//! visited.

mod explaining;
mod releasing;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use store::{Batch, Read, Store};
use tokio::sync::watch;
use watcher::limits::STATE_BYTES_MAX;
use watcher::{
    Answer, Clock, Config, Error, Fields, Interest, LimitOverrides, Schedule, Setup, Stage, StageError,
    Subject, Watcher,
};

use crate::common::{START, Thing, memory};

/// Fails lastingly unless its state says otherwise; then it writes the state into the title.
struct Strict;

#[async_trait]
impl Stage<Thing> for Strict {
    fn id(&self) -> &'static str {
        "strict"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["price"]))
    }

    async fn process(&self, subject: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let state = String::from_utf8_lossy(&subject.state).into_owned();
        if state.is_empty() {
            return Err(StageError::Lasting("no permission".to_owned()));
        }
        let next = subject.now + Duration::from_secs(3600);
        Ok(Answer::replace(Thing { title: state, ..subject.entity.clone() }).visit_at(next))
    }
}

/// Says that it never wants to see anything; when it does all the same, it says so in the title.
struct Reluctant;

#[async_trait]
impl Stage<Thing> for Reluctant {
    fn id(&self) -> &'static str {
        "reluctant"
    }

    async fn should_process(&self, _subject: &Subject<Thing>) -> Result<Schedule, StageError> {
        Ok(Schedule::No)
    }

    async fn process(&self, subject: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        Ok(Answer::replace(Thing { title: "if it must be".to_owned(), ..subject.entity.clone() }))
    }
}

struct Running {
    store: Store,
    watcher: Watcher<Thing>,
    _stop: watch::Sender<bool>,
}

async fn start() -> Running {
    start_with(Arc::new(Strict)).await
}

async fn start_with(stage: Arc<dyn Stage<Thing>>) -> Running {
    let (store, clock) = (memory(), Clock::starting_at(START));
    let config = Config { shards: 4, ..Config::default() };
    let watcher =
        Watcher::open(&store, Setup { clock, config, stages: vec![stage], seed: 1, ..Setup::default() })
            .await
            .unwrap();
    let stop = watch::Sender::new(false);
    let (at_work, stopped) = (watcher.clone(), stop.subscribe());
    tokio::spawn(async move { at_work.run("one".to_owned(), stopped).await.unwrap() });
    Running { store, watcher, _stop: stop }
}

impl Running {
    async fn save(&self, thing: &Thing) -> u64 {
        let before = self.watcher.load(&thing.id).await.unwrap();
        let mut batch = Batch::new();
        let version = self.watcher.save(&mut batch, before.as_ref(), thing).await.unwrap();
        assert!(self.store.commit(batch).await.unwrap().is_applied());
        version
    }

    async fn set_state(&self, seen: u64, state: &str) -> bool {
        let mut batch = Batch::new();
        self.watcher.set_state(&mut batch, &"a".to_owned(), "strict", seen, state.to_owned()).await.unwrap();
        self.store.commit(batch).await.unwrap().is_applied()
    }

    async fn title(&self) -> String {
        self.watcher.load(&"a".to_owned()).await.unwrap().unwrap().entity.title
    }

    async fn count(&self, table: &str) -> usize {
        let table = self.store.schema().table(table).unwrap();
        self.store.scan(&table.scan()).await.unwrap().rows.len()
    }
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn a_parked_entity_is_visited_on_request_and_sees_the_state_that_was_set() {
    let running = start().await;
    running.save(&Thing::new("a", 1)).await;
    pass(1000).await;
    assert_eq!(running.title().await, "a thing");
    assert!(running.set_state(0, "allowed").await);
    assert!(!running.set_state(0, "again").await, "the state has version 1 now");
    let id = "a".to_owned();
    assert_eq!(&*running.watcher.state(&id, "strict").await.unwrap().bytes, b"allowed");
    assert!(running.watcher.request_visit(&id, "strict").await.unwrap());
    pass(10).await;
    assert_eq!(running.title().await, "allowed");
    assert!(!running.watcher.request_visit(&"b".to_owned(), "strict").await.unwrap(), "there is no b");
    let error = running.watcher.request_visit(&id, "strickt").await.unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
    assert_eq!(error.to_string(), "thing has no stage \"strickt\"; it has strict");
}

#[tokio::test(start_paused = true)]
async fn a_state_that_is_set_during_a_visit_makes_the_stage_look_again() {
    let running = start().await;
    running.save(&Thing::new("a", 1)).await;
    assert!(running.set_state(0, "old").await);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(running.set_state(1, "new").await);
    pass(10).await;
    assert_eq!(running.title().await, "new");
}

#[tokio::test(start_paused = true)]
async fn a_removed_entity_leaves_nothing_behind_and_its_versions_go_on() {
    let running = start().await;
    running.save(&Thing::new("a", 1)).await;
    assert!(running.set_state(0, "allowed").await);
    pass(10).await;
    let found = running.watcher.load(&"a".to_owned()).await.unwrap().unwrap();
    assert_eq!((found.version, running.count("watcher_queues").await), (2, 1), "a timer waits");
    let mut batch = Batch::new();
    assert_eq!(running.watcher.remove(&mut batch, &found).await.unwrap(), 3);
    assert!(running.store.commit(batch).await.unwrap().is_applied());
    for table in ["watcher_entities", "watcher_queues", "watcher_entries", "watcher_states"] {
        assert_eq!(running.count(table).await, 0, "{table}");
    }
    assert_eq!(running.save(&Thing::new("a", 2)).await, 4, "the topic never sees a version twice");
}

#[tokio::test(start_paused = true)]
async fn an_entity_that_is_removed_during_a_visit_stays_removed() {
    let running = start().await;
    running.save(&Thing::new("a", 1)).await;
    assert!(running.set_state(0, "allowed").await);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let found = running.watcher.load(&"a".to_owned()).await.unwrap().unwrap();
    let mut batch = Batch::new();
    running.watcher.remove(&mut batch, &found).await.unwrap();
    assert!(running.store.commit(batch).await.unwrap().is_applied());
    pass(10).await;
    assert_eq!(running.watcher.load(&"a".to_owned()).await.unwrap(), None);
    assert_eq!(running.count("watcher_queues").await, 0);
}

#[tokio::test(start_paused = true)]
async fn an_entity_that_was_deleted_behind_the_watchers_back_leaves_the_queues() {
    let running = start().await;
    running.save(&Thing::new("a", 1)).await;
    assert!(running.set_state(0, "allowed").await);
    pass(10).await;
    assert_eq!(running.count("watcher_queues").await, 1, "a timer waits");
    let table = running.store.schema().table("watcher_entities").unwrap();
    let mut batch = Batch::new();
    batch.delete(running.store.scan(&table.scan()).await.unwrap().rows[0].key.clone());
    assert!(running.store.commit(batch).await.unwrap().is_applied());
    pass(4000).await;
    assert_eq!(running.count("watcher_queues").await, 0);
    running.save(&Thing::new("a", 2)).await;
    pass(10).await;
    assert_eq!(running.title().await, "allowed", "a new one of that id is visited as any other");
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_is_under_way_means_nothing_to_an_entity_that_is_made_anew() {
    let running = start().await;
    running.save(&Thing::new("a", 1)).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let found = running.watcher.load(&"a".to_owned()).await.unwrap().unwrap();
    let mut batch = Batch::new();
    running.watcher.remove(&mut batch, &found).await.unwrap();
    assert!(running.store.commit(batch).await.unwrap().is_applied());
    running.save(&Thing::new("a", 1)).await;
    assert!(running.set_state(0, "allowed").await);
    pass(10).await;
    assert_eq!(running.title().await, "allowed");
    assert_eq!(running.count("watcher_queues").await, 1, "a timer waits, and nothing else");
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_is_asked_and_says_no_is_visited_on_request() {
    let running = start_with(Arc::new(Reluctant)).await;
    running.save(&Thing::new("a", 1)).await;
    pass(10).await;
    assert_eq!(running.title().await, "a thing");
    assert!(running.watcher.request_visit(&"a".to_owned(), "reluctant").await.unwrap());
    pass(10).await;
    assert_eq!(running.title().await, "if it must be");
}

#[tokio::test(start_paused = true)]
async fn a_state_is_kept_only_beside_an_entity_that_exists_and_goes_on_to() {
    let running = start().await;
    let (id, mut batch) = ("a".to_owned(), Batch::new());
    let refused = running.watcher.set_state(&mut batch, &id, "strict", 0, "allowed").await.unwrap_err();
    assert!(matches!(refused, Error::NotFound { .. }), "{refused:?}");
    assert_eq!(refused.to_string(), "thing a: there is no such entity to keep a state beside, save it first");
    running.save(&Thing::new("a", 1)).await;
    running.watcher.set_state(&mut batch, &id, "strict", 0, "allowed").await.unwrap();
    let found = running.watcher.load(&id).await.unwrap().unwrap();
    let mut removal = Batch::new();
    running.watcher.remove(&mut removal, &found).await.unwrap();
    assert!(running.store.commit(removal).await.unwrap().is_applied());
    assert!(!running.store.commit(batch).await.unwrap().is_applied());
    assert_eq!(running.count("watcher_states").await, 0);
}

#[tokio::test(start_paused = true)]
async fn what_can_never_be_done_is_told_from_what_is_not_there() {
    let running = start().await;
    running.save(&Thing::new("a", 1)).await;
    let watcher = &running.watcher;
    let no_call = LimitOverrides { calls_max: Some(0), ..LimitOverrides::default() };
    for invalid in [
        watcher.pause_stage("strict", &"because ".repeat(200)).await,
        watcher.set_limits("strict", no_call).await.map(|_| ()),
    ] {
        assert!(matches!(invalid, Err(Error::Invalid { .. })), "{invalid:?}");
    }
    let (id, mut batch) = ("a".to_owned(), Batch::new());
    let too_long = watcher.set_state(&mut batch, &id, "strict", 0, vec![0; STATE_BYTES_MAX + 1]).await;
    assert!(matches!(too_long, Err(Error::Refused { .. })), "{too_long:?}");
    for unknown in [
        watcher.pause_stage("strickt", "").await,
        watcher.resume_stage("strickt").await,
        watcher.set_limits("strickt", LimitOverrides::default()).await.map(|_| ()),
        watcher.release("strickt").await.map(|_| ()),
        watcher.report("").await.map(|_| ()),
        watcher.control("strickt").await.map(|_| ()),
        watcher.state(&id, "strickt").await.map(|_| ()),
        watcher.set_state(&mut batch, &id, "strickt", 0, "allowed").await,
    ] {
        assert!(matches!(unknown, Err(Error::NotFound { .. })), "{unknown:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_saw_the_state_of_an_entity_that_was_removed_does_not_replace_that_of_a_new_one() {
    let running = start().await;
    let id = "a".to_owned();
    let mut seen = Vec::new();
    for _ in 0..2 {
        running.save(&Thing::new("a", 1)).await;
        assert!(running.set_state(0, "allowed").await);
        seen.push(running.watcher.state(&id, "strict").await.unwrap().version);
        let found = running.watcher.load(&id).await.unwrap().unwrap();
        let mut batch = Batch::new();
        running.watcher.remove(&mut batch, &found).await.unwrap();
        assert!(running.store.commit(batch).await.unwrap().is_applied());
    }
    assert!(seen[1] > seen[0], "{seen:?}");
}
