//! The re-crawl: every stage is asked about every entity, in the background.

use std::sync::Arc;

use futures::future::join_all;
use store::{Batch, Faults, Faulty, Key, KeyValue, Memory, Schema, Store, StoreOptions};
use watcher::{
    Answer, Clock, Entity, Error, Fields, Interest, Lane, Schedule, Setup, Stage, VisitReason, Waits, Watcher,
};

use crate::common::{Doing, Running, SECOND, START, Thing, config, memory};

/// A base of things that were saved before there were any stages.
async fn base(count: usize) -> Store {
    base_in(memory(), count).await
}

async fn base_in(store: Store, count: usize) -> Store {
    let watcher: Watcher<Thing> = Watcher::open(
        &store,
        Setup { clock: Clock::starting_at(START), config: config(), seed: 1, ..Setup::default() },
    )
    .await
    .unwrap();
    for n in 0..count {
        let mut batch = Batch::new();
        let price = i64::try_from(n % 4).unwrap();
        watcher.save(&mut batch, None, &Thing::new(&format!("e{n}"), price)).await.unwrap();
        assert!(store.commit(batch).await.unwrap().is_applied());
    }
    store
}

async fn start(store: Store, clock: Clock, stage: &Arc<Doing>, name: &str) -> Running {
    Running::start_on(store, clock, config(), vec![Arc::clone(stage) as Arc<dyn Stage<Thing>>], name).await
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_is_new_gets_to_see_what_was_there_before_it() {
    let mut picky =
        Doing::with("picky", Interest::ask_about(Fields::of(["price"])), |_| Ok(Answer::untouched()));
    picky.decide = Box::new(|s| match s.entity.price {
        0 => Ok(Schedule::No),
        1 => Ok(Schedule::At(s.now + 3600 * SECOND)),
        _ => Ok(Schedule::Now),
    });
    let picky = Arc::new(picky);
    let running = start(base(400).await, Clock::starting_at(START), &picky, "one").await;
    running.pass(60 * SECOND).await;
    assert!(picky.visits().is_empty() && running.watcher.recrawl().await.unwrap().is_none());
    running.watcher.pause_stage("picky", "").await.unwrap();
    running.watcher.start_recrawl(None).await.unwrap();
    running.pass(10 * SECOND).await;
    let crawl = running.watcher.recrawl().await.unwrap().unwrap();
    assert!(crawl.done && crawl.shards_done == 4, "{crawl:?}");
    assert_eq!((crawl.seen, crawl.queued, crawl.damaged), (400, 300, 0));
    let report = running.watcher.report("picky").await.unwrap();
    assert_eq!((report.depth[&Lane::Background].rows, report.depth[&Lane::Timer].rows), (200, 100));
    let standing = running.explain("e2").await.stages["picky"].clone();
    assert_eq!(standing.why, Some(VisitReason::Recrawl));
    running.watcher.resume_stage("picky").await.unwrap();
    running.pass(10 * SECOND).await;
    assert_eq!(picky.visits().len(), 200);
    assert!(matches!(running.explain("e1").await.stages["picky"].waits, Waits::Until(_, Lane::Timer)));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_recrawl_keeps_its_speed_rests_goes_on_and_survives_a_restart() {
    let stage = Doing::on("stage", "price", |_| Ok(Answer::untouched()));
    let clock = Clock::starting_at(START);
    let running = start(base(1000).await, clock.clone(), &stage, "one").await;
    running.pass(SECOND).await;
    running.watcher.start_recrawl(Some(20)).await.unwrap();
    let error = running.watcher.start_recrawl(None).await.unwrap_err().to_string();
    assert!(error.contains("under way") && error.contains("cancel it first"), "{error}");
    running.pass(10 * SECOND).await;
    let seen = async |running: &Running| running.watcher.recrawl().await.unwrap().unwrap().seen;
    let first = seen(&running).await;
    assert!((180..=240).contains(&first), "{first}");
    running.watcher.pause_recrawl().await.unwrap();
    running.pass(SECOND).await;
    let paused = seen(&running).await;
    running.pass(100 * SECOND).await;
    assert_eq!(seen(&running).await, paused);
    let store = running.stop().await;
    let running = start(store, clock, &stage, "two").await;
    running.pass(100 * SECOND).await;
    assert_eq!(seen(&running).await, paused, "it is still paused");
    running.watcher.resume_recrawl(Some(100)).await.unwrap();
    running.pass(4 * SECOND).await;
    assert!(seen(&running).await < 800, "{}", seen(&running).await);
    running.pass(20 * SECOND).await;
    let crawl = running.watcher.recrawl().await.unwrap().unwrap();
    assert!(crawl.done && crawl.seen == 1000, "{crawl:?}");
    assert_eq!(stage.visits().len(), 1000, "and everything was visited once");
    running.watcher.start_recrawl(None).await.unwrap();
    running.pass(10 * SECOND).await;
    assert_eq!(stage.visits().len(), 2000, "another one may follow");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_recrawl_can_be_cancelled_and_wrong_orders_are_refused() {
    let stage = Doing::on("stage", "price", |_| Ok(Answer::untouched()));
    let running = start(base(1000).await, Clock::starting_at(START), &stage, "one").await;
    let error = running.watcher.pause_recrawl().await.unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error:?}");
    assert_eq!(error.to_string(), "no re-crawl is under way: start one first");
    let error = running.watcher.start_recrawl(Some(0)).await.unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }) && error.to_string().contains("never ends"), "{error:?}");
    running.watcher.start_recrawl(Some(10)).await.unwrap();
    let error = running.watcher.start_recrawl(None).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error:?}");
    let error = running.watcher.resume_recrawl(Some(0)).await.unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }), "{error:?}");
    assert_eq!(
        running.watcher.recrawl().await.unwrap().unwrap().per_second,
        Some(10),
        "nothing is different"
    );
    running.pass(5 * SECOND).await;
    running.watcher.cancel_recrawl().await.unwrap();
    running.pass(SECOND).await;
    let seen = running.watcher.recrawl().await.unwrap().unwrap().seen;
    running.pass(100 * SECOND).await;
    let crawl = running.watcher.recrawl().await.unwrap().unwrap();
    assert!(crawl.cancelled && !crawl.done && crawl.seen == seen, "{crawl:?}");
    assert!(running.watcher.resume_recrawl(None).await.is_err());
    running.watcher.start_recrawl(None).await.unwrap();
    running.pass(10 * SECOND).await;
    assert!(running.watcher.recrawl().await.unwrap().unwrap().done);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_recrawl_passes_by_what_cannot_be_read_and_counts_it() {
    let stage = Doing::on("stage", "price", |_| Ok(Answer::untouched()));
    let store = base(100).await;
    let mut batch = Batch::new();
    batch.put(Thing::key(watcher::shard_of("e7", 4), &"e7".to_owned()), 1, "what is this?");
    // Where another one stands with the stage cannot be read either.
    let text = |text: &str| KeyValue::Text(text.to_owned());
    let shard = KeyValue::U32(watcher::shard_of("e9", 4));
    let entry = [shard, text(Thing::KIND), text("e9"), text("stage")];
    batch.put(Key::encode(store.schema().table("watcher_entries").unwrap(), &entry), 1, "\u{7f}");
    assert!(store.commit(batch).await.unwrap().is_applied());
    let running = start(store, Clock::starting_at(START), &stage, "one").await;
    running.watcher.start_recrawl(None).await.unwrap();
    running.pass(10 * SECOND).await;
    let crawl = running.watcher.recrawl().await.unwrap().unwrap();
    assert_eq!((crawl.done, crawl.seen, crawl.damaged, stage.visits().len()), (true, 100, 2, 98));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn fresh_work_goes_before_the_background() {
    let mut slow =
        Doing::with("slow", Interest::visit_on(Fields::of(["price"])), |_| Ok(Answer::untouched()));
    slow.takes = SECOND;
    let slow = Arc::new(slow);
    let running = start(base(2000).await, Clock::starting_at(START), &slow, "one").await;
    running.watcher.start_recrawl(None).await.unwrap();
    running.pass(5 * SECOND).await;
    assert!(running.watcher.report("slow").await.unwrap().depth[&Lane::Background].rows > 1000);
    for n in 0..10 {
        running.save(&Thing::new(&format!("fresh{n}"), 1)).await;
        running.pass(2 * SECOND).await;
        let standing = running.explain(&format!("fresh{n}")).await.stages["slow"].clone();
        assert!(standing.last.is_some(), "{standing}");
    }
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_recrawl_that_is_done_can_be_neither_paused_nor_cancelled() {
    let stage = Doing::on("stage", "price", |_| Ok(Answer::untouched()));
    let running = start(base(10).await, Clock::starting_at(START), &stage, "one").await;
    running.watcher.start_recrawl(None).await.unwrap();
    running.pass(10 * SECOND).await;
    assert!(running.watcher.recrawl().await.unwrap().unwrap().done);
    let watcher = &running.watcher;
    for order in
        [watcher.pause_recrawl().await, watcher.resume_recrawl(None).await, watcher.cancel_recrawl().await]
    {
        assert!(order.unwrap_err().to_string().contains("no re-crawl is under way"));
    }
    let crawl = watcher.recrawl().await.unwrap().unwrap();
    assert!(crawl.done && !crawl.paused && !crawl.cancelled, "{crawl:?}");
    running.stop().await;
}

/// A store that suffers from faults as soon as it is told to.
fn faulty_memory(seed: u64) -> (Store, Faulty) {
    let tables = watcher::tables().into_iter().chain(topics::tables());
    let memory = Memory::new(Schema::new(1, tables).unwrap());
    let faulty = Faulty::new(memory, seed, Faults::default());
    (Store::over(Arc::new(faulty.clone()), &StoreOptions::default()), faulty)
}

#[tokio::test(start_paused = true)]
async fn a_recrawl_loses_nothing_when_the_store_refuses_now_and_then() {
    let stage = Doing::on("stage", "price", |_| Ok(Answer::untouched()));
    let (store, faulty) = faulty_memory(1);
    let running = start(base_in(store, 200).await, Clock::starting_at(START), &stage, "one").await;
    running.pass(SECOND).await;
    running.watcher.start_recrawl(Some(10)).await.unwrap();
    faulty.set_faults(Faults { spurious_conflict: 100, ..Faults::default() });
    running.pass(100 * SECOND).await;
    faulty.set_faults(Faults::default());
    running.pass(100 * SECOND).await;
    assert!(running.watcher.recrawl().await.unwrap().unwrap().done);
    for n in 0..200 {
        let standing = running.explain(&format!("e{n}")).await.stages["stage"].clone();
        assert!(standing.last.is_some(), "e{n}: {standing}");
    }
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn of_recrawls_that_are_started_at_the_same_moment_one_begins() {
    for seed in 0..50 {
        let (store, faulty) = faulty_memory(seed);
        faulty.set_faults(Faults { delay: 300, delay_max: SECOND, ..Faults::default() });
        let watcher: Watcher<Thing> = Watcher::open(
            &store,
            Setup { clock: Clock::starting_at(START), config: config(), seed: 1, ..Setup::default() },
        )
        .await
        .unwrap();
        let started = join_all((0..5).map(|_| watcher.start_recrawl(None))).await;
        assert_eq!(started.iter().filter(|started| started.is_ok()).count(), 1, "seed {seed}: {started:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_entity_that_a_recrawl_queues_while_it_is_being_removed_is_not_removed_in_part() {
    let stage = Doing::on("stage", "price", |_| Ok(Answer::untouched()));
    let running = start(base(1).await, Clock::starting_at(START), &stage, "one").await;
    running.watcher.pause_stage("stage", "").await.unwrap();
    let found = running.watcher.load(&"e0".to_owned()).await.unwrap().unwrap();
    let mut removal = Batch::new();
    running.watcher.remove(&mut removal, &found).await.unwrap();
    running.watcher.start_recrawl(None).await.unwrap();
    running.pass(10 * SECOND).await;
    assert_eq!(running.watcher.report("stage").await.unwrap().depth[&Lane::Background].rows, 1);
    let store = running.stop().await;
    assert!(!store.commit(removal).await.unwrap().is_applied(), "the entry would be left behind");
}

#[tokio::test(start_paused = true)]
async fn who_is_told_to_stop_does_not_wait_for_a_slow_recrawl() {
    let stage = Doing::on("stage", "price", |_| Ok(Answer::untouched()));
    let config = watcher::Config { shards: 1, ..config() };
    let store = memory();
    let watcher: Watcher<Thing> = Watcher::open(
        &store,
        Setup { clock: Clock::starting_at(START), config: config.clone(), seed: 1, ..Setup::default() },
    )
    .await
    .unwrap();
    for n in 0..10 {
        let mut batch = Batch::new();
        watcher.save(&mut batch, None, &Thing::new(&format!("e{n}"), 1)).await.unwrap();
        assert!(store.commit(batch).await.unwrap().is_applied());
    }
    let stages = vec![stage as Arc<dyn Stage<Thing>>];
    let running = Running::start_on(store, Clock::starting_at(START), config, stages, "one").await;
    running.watcher.start_recrawl(Some(1)).await.unwrap();
    running.pass(SECOND / 2).await;
    let told = tokio::time::Instant::now();
    running.stop().await;
    assert!(told.elapsed() < SECOND / 10, "{:?}", told.elapsed());
}
