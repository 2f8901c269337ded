//! Changes from outside: what one batch carries.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use store::{Batch, Faults, Faulty, Memory, Outcome, Read, Schema, Store, StoreOptions};
use watcher::{Answer, Clock, Config, Error, Fields, Interest, Setup, Stage, StageError, Subject, Watcher};

use crate::common::{START, Thing, memory};

/// A stage with an interest and nothing to do.
struct Idle(&'static str, Interest);

#[async_trait]
impl Stage<Thing> for Idle {
    fn id(&self) -> &str {
        self.0
    }

    fn interest(&self) -> Interest {
        self.1.clone()
    }

    async fn process(&self, _: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        Ok(Answer::untouched())
    }
}

fn visiting(id: &'static str, field: &str) -> Arc<dyn Stage<Thing>> {
    Arc::new(Idle(id, Interest::visit_on(Fields::of([field]))))
}

fn asked(id: &'static str, field: &str) -> Arc<dyn Stage<Thing>> {
    Arc::new(Idle(id, Interest::ask_about(Fields::of([field]))))
}

async fn open(store: &Store, stages: Vec<Arc<dyn Stage<Thing>>>) -> Watcher<Thing> {
    Watcher::open(store, Setup { clock: Clock::starting_at(START), stages, seed: 1, ..Setup::default() })
        .await
        .unwrap()
}

/// The rows of one of the watcher's tables, as `key`.
async fn keys(store: &Store, table: &str) -> Vec<String> {
    let table = store.schema().table(table).unwrap();
    store.scan(&table.scan()).await.unwrap().rows.iter().map(|row| row.key.to_string()).collect()
}

/// The stages in whose queues anything stands.
async fn queued(store: &Store) -> Vec<String> {
    let rows = keys(store, "watcher_queues").await;
    rows.iter().map(|key| key.split(", ").nth(3).unwrap().trim_matches('"').to_owned()).collect()
}

async fn save(watcher: &Watcher<Thing>, store: &Store, thing: &Thing) -> (Outcome, u64) {
    let before = watcher.load(&thing.id).await.unwrap();
    let mut batch = Batch::new();
    let version = watcher.save(&mut batch, before.as_ref(), thing).await.unwrap();
    (store.commit(batch).await.unwrap(), version)
}

#[tokio::test(start_paused = true)]
async fn a_new_entity_is_queued_for_every_stage_that_cares_and_leaves_through_the_outbox() {
    let store = memory();
    let watcher = open(&store, vec![visiting("price", "price"), visiting("title", "title")]).await;
    assert_eq!(save(&watcher, &store, &Thing::new("a", 5)).await, (Outcome::Applied, 1));
    assert_eq!(queued(&store).await, ["price", "title"]);
    assert_eq!(keys(&store, "watcher_outbox").await.len(), 1);
    assert_eq!(watcher.load(&"a".to_owned()).await.unwrap().unwrap().entity, Thing::new("a", 5));
}

#[tokio::test(start_paused = true)]
async fn a_change_queues_only_the_stages_whose_fields_changed() {
    let store = memory();
    let watcher = open(&store, vec![visiting("title", "title"), asked("tag", "title")]).await;
    assert_eq!(save(&watcher, &store, &Thing::new("a", 5)).await.1, 1);
    let queues = keys(&store, "watcher_queues").await;
    assert_eq!(queued(&store).await, ["", "title"], "the system stage will ask `tag`");
    assert_eq!(save(&watcher, &store, &Thing::new("a", 6)).await, (Outcome::Applied, 2));
    assert_eq!(keys(&store, "watcher_queues").await, queues, "nobody cares for the price");
    assert_eq!(keys(&store, "watcher_outbox").await.len(), 2, "but the topic does");
}

#[tokio::test(start_paused = true)]
async fn an_entity_stands_in_a_queue_once_however_often_it_changes() {
    let store = memory();
    let watcher = open(&store, vec![visiting("price", "price"), asked("tag", "price")]).await;
    for price in 0..10 {
        tokio::time::advance(std::time::Duration::from_millis(7)).await;
        assert!(save(&watcher, &store, &Thing::new("a", price)).await.0.is_applied());
    }
    assert_eq!(queued(&store).await, ["", "price"]);
}

#[tokio::test(start_paused = true)]
async fn of_two_changes_made_from_one_version_the_second_is_in_conflict() {
    let store = memory();
    let watcher = open(&store, vec![visiting("price", "price")]).await;
    assert!(save(&watcher, &store, &Thing::new("a", 1)).await.0.is_applied());
    let before = watcher.load(&"a".to_owned()).await.unwrap();
    let (mut one, mut two) = (Batch::new(), Batch::new());
    watcher.save(&mut one, before.as_ref(), &Thing::new("a", 2)).await.unwrap();
    watcher.save(&mut two, before.as_ref(), &Thing::new("a", 3)).await.unwrap();
    assert!(store.commit(one).await.unwrap().is_applied());
    assert!(!store.commit(two).await.unwrap().is_applied());
    assert_eq!(watcher.load(&"a".to_owned()).await.unwrap().unwrap().entity.price, 2);
}

#[tokio::test(start_paused = true)]
async fn what_was_loaded_to_be_changed_is_saved_as_if_all_were_read_again() {
    let (store, id) = (memory(), "a".to_owned());
    let watcher = open(&store, vec![visiting("price", "price"), visiting("title", "title")]).await;
    assert!(save(&watcher, &store, &Thing::new("a", 1)).await.0.is_applied());
    let batch = async |found| {
        let mut batch = Batch::new();
        watcher.save(&mut batch, Some(found), &Thing::new("a", 2)).await.unwrap();
        batch
    };
    let (read, plain) = (
        watcher.load_to_change(&id, &Fields::all()).await.unwrap().unwrap(),
        watcher.load(&id).await.unwrap().unwrap(),
    );
    assert_eq!(read, plain);
    let (old, again) = (batch(&read).await, batch(&plain).await);
    assert_eq!((old.checks(), old.writes()), (again.checks(), again.writes()));
    // Of which other fields were to change than those that do.
    let other = watcher.load_to_change(&id, &Fields::of(["title"])).await.unwrap().unwrap();
    let other = batch(&other).await;
    assert_eq!((other.checks(), other.writes()), (again.checks(), again.writes()));
    // Its price is visited meanwhile, in a way that leaves the entity as it is: what was read with
    // it is old.
    let entry = old.checks().iter().find(|(key, _)| key.to_string().contains("\"price\"")).unwrap().clone();
    let mut visit = Batch::new();
    visit.check(entry.0.clone(), entry.1).put(entry.0, entry.1 + 1, Vec::new());
    assert!(store.commit(visit).await.unwrap().is_applied());
    assert!(!store.commit(old).await.unwrap().is_applied());
    assert!(watcher.load_to_change(&"b".to_owned(), &Fields::all()).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn changes_leave_in_the_order_of_versions_even_if_a_clock_goes_back() {
    let store = memory();
    let ahead = open(&store, vec![]).await;
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    assert!(save(&ahead, &store, &Thing::new("a", 1)).await.0.is_applied());
    let behind = open(&store, vec![]).await;
    for price in 2..5 {
        assert!(save(&behind, &store, &Thing::new("a", price)).await.0.is_applied());
    }
    let rows = keys(&store, "watcher_outbox").await;
    let versions: Vec<&str> = rows.iter().map(|key| key.rsplit(", ").next().unwrap()).collect();
    assert_eq!(versions, ["1)", "2)", "3)", "4)"]);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_work_is_refused_when_the_watcher_is_opened() {
    let store = memory();
    let attempt = async |config: Config, stages| {
        Watcher::<Thing>::open(
            &store,
            Setup { clock: Clock::starting_at(START), config, stages, seed: 1, ..Setup::default() },
        )
        .await
        .err()
        .map(|e| e.to_string())
    };
    let twice = vec![visiting("price", "price"), visiting("price", "title")];
    let error = attempt(Config::default(), twice).await.unwrap();
    assert_eq!(error, "two stages have the id \"price\": give one of them another id");
    let error = attempt(Config::default(), vec![visiting("", "price")]).await.unwrap();
    assert!(error.contains("an id must have 1 to 64 bytes"), "{error}");
    let error = attempt(Config { shards: 0, ..Config::default() }, vec![]).await.unwrap();
    assert_eq!(error, "shards must be from 1 to 65536, not 0");
    assert_eq!(attempt(Config { shards: 8, ..Config::default() }, vec![]).await, None);
    let error = attempt(Config { shards: 16, ..Config::default() }, vec![]).await.unwrap();
    assert!(error.contains("keeps thing in 8 shards, and 16 are configured"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_entity_that_cannot_be_kept_is_refused_and_the_batch_stays_as_it_was() {
    let store = memory();
    let watcher = open(&store, vec![]).await;
    let mut batch = Batch::new();
    let long = Thing::new(&"x".repeat(201), 1);
    assert!(matches!(watcher.save(&mut batch, None, &long).await, Err(Error::Refused { .. })));
    assert!(save(&watcher, &store, &Thing::new("a", 1)).await.0.is_applied());
    let a = watcher.load(&"a".to_owned()).await.unwrap();
    let error = watcher.save(&mut batch, a.as_ref(), &Thing::new("b", 1)).await.unwrap_err();
    assert_eq!(error.to_string(), "thing b: an entity cannot change its id");
    assert!(batch.is_empty());
}

/// Makes and removes a thing; the version of the removal.
async fn make_and_remove(watcher: &Watcher<Thing>, store: &Store) -> u64 {
    assert!(save(watcher, store, &Thing::new("a", 1)).await.0.is_applied());
    let found = watcher.load(&"a".to_owned()).await.unwrap().unwrap();
    let mut batch = Batch::new();
    let version = watcher.remove(&mut batch, &found).await.unwrap();
    assert!(store.commit(batch).await.unwrap().is_applied());
    version
}

#[tokio::test(start_paused = true)]
async fn no_version_is_used_twice_when_somebody_else_makes_and_removes_the_same_entity_meanwhile() {
    for delay in (0..300).step_by(10) {
        let memory = Memory::new(Schema::new(1, watcher::tables()).unwrap());
        let engine = Faulty::new(memory.clone(), 1, Faults::default());
        let slow = Store::over(Arc::new(engine.clone()), &StoreOptions::default());
        let fast = Store::over(Arc::new(memory), &StoreOptions::default());
        let (one, other) = (open(&slow, Vec::new()).await, open(&fast, Vec::new()).await);
        engine.set_faults(Faults { delay: 1000, delay_max: Duration::from_millis(200), ..Faults::default() });
        let (mut batch, thing) = (Batch::new(), Thing::new("a", 2));
        let (saved, removed) = tokio::join!(one.save(&mut batch, None, &thing), async {
            tokio::time::sleep(Duration::from_millis(delay)).await;
            make_and_remove(&other, &fast).await
        });
        let version = saved.unwrap();
        if slow.commit(batch).await.unwrap().is_applied() {
            assert!(version > removed, "v{version} after the removal v{removed}, {delay} ms");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_of_a_removed_entity_whose_visit_was_asked_for_meanwhile() {
    for delay in (0..800).step_by(10) {
        let memory = Memory::new(Schema::new(1, watcher::tables()).unwrap());
        let engine = Faulty::new(memory.clone(), 1, Faults::default());
        let slow = Store::over(Arc::new(engine.clone()), &StoreOptions::default());
        let fast = Store::over(Arc::new(memory), &StoreOptions::default());
        let (one, other) =
            (open(&slow, vec![asked("s", "price")]).await, open(&fast, vec![asked("s", "price")]).await);
        assert!(save(&other, &fast, &Thing::new("a", 1)).await.0.is_applied());
        let found = other.load(&"a".to_owned()).await.unwrap().unwrap();
        engine.set_faults(Faults { delay: 1000, delay_max: Duration::from_millis(200), ..Faults::default() });
        let (mut batch, id) = (Batch::new(), "a".to_owned());
        let (removed, requested) = tokio::join!(one.remove(&mut batch, &found), async {
            tokio::time::sleep(Duration::from_millis(delay)).await;
            other.request_visit(&id, "s").await
        });
        removed.and(requested).unwrap();
        if slow.commit(batch).await.unwrap().is_applied() {
            assert_eq!(keys(&fast, "watcher_entries").await, Vec::<String>::new(), "{delay} ms");
            assert_eq!(keys(&fast, "watcher_queues").await, Vec::<String>::new(), "{delay} ms");
        }
    }
}
