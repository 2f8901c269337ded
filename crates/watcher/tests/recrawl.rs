//! The re-crawl: every stage is asked about every entity, in the background.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

#[path = "common/mod.rs"]
mod common;

use std::sync::Arc;

use store::Batch;
use watcher::{Answer, Clock, Entity, Fields, Interest, Lane, Stage, Waits, Watcher, Why, Wish};

use common::{Doing, Running, SECOND, START, Thing, config, memory};

/// A base of things that were saved before there were any stages.
async fn base(count: usize) -> store::Store {
    let store = memory();
    let watcher: Watcher<Thing> =
        Watcher::open(&store, None, Clock::starting_at(START), config(), vec![], 1).await.unwrap();
    for n in 0..count {
        let mut batch = Batch::new();
        let price = i64::try_from(n % 4).unwrap();
        watcher.save(&mut batch, None, &Thing::new(&format!("e{n}"), price)).await.unwrap();
        assert!(store.commit(batch).await.unwrap().is_applied());
    }
    store
}

async fn start(store: store::Store, clock: Clock, stage: &Arc<Doing>, name: &str) -> Running {
    Running::start_on(store, clock, config(), vec![Arc::clone(stage) as Arc<dyn Stage<Thing>>], name).await
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_is_new_gets_to_see_what_was_there_before_it() {
    let mut picky =
        Doing::with("picky", Interest::ask_about(Fields::of(["price"])), |_| Ok(Answer::untouched()));
    picky.decide = Box::new(|s| match s.entity.price {
        0 => Ok(Wish::No),
        1 => Ok(Wish::At(s.now + 3600 * SECOND)),
        _ => Ok(Wish::Now),
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
    assert_eq!((report.depth[&Lane::Background], report.depth[&Lane::Timer]), (200, 100));
    let standing = running.explain("e2").await.stages["picky"].clone();
    assert_eq!(standing.why, Some(Why::Recrawl));
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
    let error = running.watcher.pause_recrawl().await.unwrap_err().to_string();
    assert!(error.contains("no re-crawl is under way"), "{error}");
    let error = running.watcher.start_recrawl(Some(0)).await.unwrap_err().to_string();
    assert!(error.contains("never ends"), "{error}");
    running.watcher.start_recrawl(Some(10)).await.unwrap();
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
    assert!(store.commit(batch).await.unwrap().is_applied());
    let running = start(store, Clock::starting_at(START), &stage, "one").await;
    running.watcher.start_recrawl(None).await.unwrap();
    running.pass(10 * SECOND).await;
    let crawl = running.watcher.recrawl().await.unwrap().unwrap();
    assert_eq!((crawl.done, crawl.seen, crawl.damaged, stage.visits().len()), (true, 100, 1, 99));
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
    assert!(running.watcher.report("slow").await.unwrap().depth[&Lane::Background] > 1000);
    for n in 0..10 {
        running.save(&Thing::new(&format!("fresh{n}"), 1)).await;
        running.pass(2 * SECOND).await;
        let standing = running.explain(&format!("fresh{n}")).await.stages["slow"].clone();
        assert!(standing.last.is_some(), "{standing}");
    }
    running.stop().await;
}
