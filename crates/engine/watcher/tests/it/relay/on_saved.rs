//! Stages hear of the changes that they made.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use bytes::Bytes;
use store::Store;
use tokio::time::Instant;
use watcher::{Answer, Saved, Stage, StageError, Subject};

use crate::common::{Thing, memory};
use crate::relay::place::{AtWork, Counted, Listener, Manner, Written, count};
use crate::relay::{SECOND, exported, save};
use crate::waiting::owners;

/// The first changes of so many entities, all made by this stage.
async fn changes_by(store: &Store, author: &str, shards: u32, entities: usize) {
    for number in 0..entities {
        let entity = format!("{author}{number}");
        let at = i64::try_from(number).unwrap();
        Written { shards, author, at, entity: &entity, version: 1 }.leave(store).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_hangs_holds_up_neither_the_topic_nor_other_stages_nor_the_end() {
    let store = memory();
    let (stuck, quick) = (Listener::new("stuck", Manner::Hangs), Listener::new("thick", Manner::Hears));
    changes_by(&store, "stuck", 4, 200).await;
    let at_work = AtWork::start(&store, 4, vec![Arc::clone(&stuck) as _, Arc::clone(&quick) as _]).await;
    tokio::time::sleep(SECOND).await;
    changes_by(&store, "thick", 4, 200).await;
    tokio::time::sleep(SECOND).await;
    assert_eq!(count(&store, "watcher_outbox").await, 0);
    assert_eq!(exported(&at_work.topics).await.len(), 400);
    assert_eq!(quick.heard().len(), 200);
    assert_eq!(stuck.heard(), []);
    let asked = Instant::now();
    at_work.stop().await;
    assert_eq!(asked.elapsed().as_secs(), 0, "simulated time: nobody waits for the stage");
    assert_eq!(count(&store, "watcher_saved").await, 200);
}

#[tokio::test(start_paused = true)]
async fn a_shard_whose_stage_hangs_over_its_changes_is_given_away_all_the_same() {
    let (store, stuck) = (memory(), Listener::new("stuck", Manner::Hangs));
    changes_by(&store, "stuck", 4, 400).await;
    let one = AtWork::start(&store, 4, vec![Arc::clone(&stuck) as _]).await;
    tokio::time::sleep(SECOND).await;
    let (topics, stages) = (one.topics.clone(), vec![Arc::clone(&stuck) as _]);
    let two = AtWork::start_with(&store, topics, 4, stages, "two").await;
    // Both have beaten, and the second one has asked for its part.
    tokio::time::sleep(11 * SECOND).await;
    let owners: BTreeSet<String> = owners(&store).await.into_values().map(|(owner, _)| owner).collect();
    assert_eq!(owners, BTreeSet::from(["one".to_owned(), "two".to_owned()]));
    one.stop().await;
    two.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_round_ends_with_the_first_time_out_instead_of_going_through_all_changes() {
    let (store, stuck) = (memory(), Listener::new("stuck", Manner::Hangs));
    changes_by(&store, "stuck", 1, 100).await;
    let at_work = AtWork::start(&store, 1, vec![Arc::clone(&stuck) as _]).await;
    tokio::time::sleep(60 * SECOND).await;
    assert!(stuck.told_of("stuck0") > 1);
    assert_eq!(stuck.told_of("stuck99"), 0);
    stuck.set(Manner::Hears);
    tokio::time::sleep(60 * SECOND).await;
    let heard: BTreeSet<_> = stuck.heard().into_iter().collect();
    assert_eq!(heard.len(), 100);
    assert_eq!(count(&store, "watcher_saved").await, 0);
    at_work.stop().await;
}

#[tokio::test(start_paused = true)]
async fn over_one_entity_on_which_a_stage_hangs_the_others_are_heard_of_twice_at_most() {
    let (store, stage) = (memory(), Listener::new("stuck", Manner::HangsOver("stuck3")));
    changes_by(&store, "stuck", 1, 30).await;
    let at_work = AtWork::start(&store, 1, vec![Arc::clone(&stage) as _]).await;
    tokio::time::sleep(600 * SECOND).await;
    for number in (0..30).filter(|number| *number != 3) {
        let told = stage.told_of(&format!("stuck{number}"));
        assert!((1..=2).contains(&told), "stuck{number} was told {told} times");
    }
    assert_eq!(count(&store, "watcher_saved").await, 1);
    assert!(stage.told_of("stuck3") > 2);
    at_work.stop().await;
}

#[tokio::test(start_paused = true)]
async fn many_entities_are_told_at_the_same_time_but_never_two_versions_of_one() {
    let (store, stage) = (memory(), Listener::new("slow", Manner::Takes(SECOND)));
    for version in 1..=3 {
        for entity in 0..10 {
            let (at, entity) = (10 * version, format!("slow{entity}"));
            Written { shards: 1, author: "slow", at, entity: &entity, version }.save(&store).await;
        }
    }
    let at_work = AtWork::start(&store, 1, vec![Arc::clone(&stage) as _]).await;
    tokio::time::sleep(20 * SECOND).await;
    assert_eq!(count(&store, "watcher_saved").await, 0, "one by one it would take 30 s");
    for call in stage.calls.lock().unwrap().iter() {
        let entities: BTreeSet<&String> = call.iter().map(|(entity, _)| entity).collect();
        assert_eq!(entities.len(), call.len(), "{call:?}");
    }
    for entity in 0..10 {
        let of_it = |(told, _): &(String, u64)| *told == format!("slow{entity}");
        let versions: Vec<u64> =
            stage.heard().into_iter().filter(of_it).map(|(_, version)| version).collect();
        assert_eq!(versions, [1, 2, 3]);
    }
    at_work.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_is_down_is_not_told_until_it_is_back() {
    let (store, stage) = (memory(), Listener::new("down", Manner::Dead));
    let at_work = AtWork::start(&store, 4, vec![Arc::clone(&stage) as _]).await;
    for number in 0..100 {
        save(&at_work.watcher, &store, &Thing::new(&format!("visited{number}"), 1)).await;
    }
    tokio::time::sleep(60 * SECOND).await;
    assert!(at_work.watcher.statuses()["down"].down.is_some());
    changes_by(&store, "down", 4, 10).await;
    tokio::time::sleep(20 * SECOND).await;
    assert_eq!(stage.calls.lock().unwrap().len(), 0);
    stage.set(Manner::Hears);
    tokio::time::sleep(60 * SECOND).await;
    assert_eq!(stage.heard().len(), 10);
    at_work.stop().await;
}

#[tokio::test(start_paused = true)]
async fn looking_for_changes_of_which_nobody_has_heard_costs_one_read_of_a_shard_now_and_then() {
    let engine = Counted::new();
    let store = engine.store();
    let ids = ["a", "b", "c", "d", "e"];
    let stages = ids.into_iter().map(|id| Listener::new(id, Manner::Hears) as _).collect();
    let at_work = AtWork::start(&store, 4, stages).await;
    tokio::time::sleep(SECOND).await;
    let before = engine.scans_of("watcher_saved");
    tokio::time::sleep(100 * SECOND).await;
    let reads = engine.scans_of("watcher_saved") - before;
    assert!((4 * 19..=4 * 21).contains(&reads), "{reads} reads in 100 s");
    at_work.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_long_backlog_of_one_stage_does_not_hide_the_changes_of_others() {
    let store = memory();
    let stages = [
        Listener::new("a", Manner::Hangs),
        Listener::new("c", Manner::Fails),
        Listener::new("e", Manner::Hears),
    ];
    for author in ["a", "b", "c", "d"] {
        changes_by(&store, author, 1, 150).await;
    }
    changes_by(&store, "e", 1, 10).await;
    let at_work = AtWork::start(&store, 1, stages.iter().map(|stage| Arc::clone(stage) as _).collect()).await;
    tokio::time::sleep(SECOND).await;
    assert_eq!(stages[2].heard().len(), 10);
    at_work.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_heard_is_not_heard_again_because_the_store_fails_for_a_while() {
    let (engine, stage) = (Counted::new(), Listener::new("slow", Manner::Takes(SECOND)));
    let store = engine.store();
    changes_by(&store, "slow", 1, 3).await;
    let at_work = AtWork::start(&store, 1, vec![Arc::clone(&stage) as _]).await;
    tokio::time::sleep(SECOND / 2).await;
    engine.broken.store(true, Ordering::Relaxed);
    tokio::time::sleep(3 * SECOND).await;
    assert_eq!(stage.heard().len(), 3);
    engine.broken.store(false, Ordering::Relaxed);
    tokio::time::sleep(60 * SECOND).await;
    assert_eq!(stage.heard().len(), 3);
    assert_eq!(count(&store, "watcher_saved").await, 0);
    at_work.stop().await;
}

/// Hears of one change after the other, as long as it is not of `boo`.
struct Shy;

#[async_trait]
impl Stage<Thing> for Shy {
    fn id(&self) -> &'static str {
        "shy"
    }

    async fn process(&self, _: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        Ok(Answer::untouched())
    }

    async fn on_saved(&self, saved: &Saved<Thing>) -> Result<(), StageError> {
        match saved.entity.id.as_str() {
            // A panic that nobody prints.
            "boo" => std::panic::resume_unwind(Box::new("help")),
            "never" => Err(StageError::Lasting("never".to_owned())),
            _ => Ok(()),
        }
    }
}

#[tokio::test]
async fn a_panic_over_one_of_many_changes_is_no_failure_of_the_others() {
    let saved = |id| Saved { entity: Thing::new(id, 1), version: 1, state: Bytes::new() };
    let answers = Shy.on_saved_many(&[saved("a"), saved("boo"), saved("never"), saved("b")]).await;
    let passing = StageError::Passing("it panicked: help".to_owned());
    assert_eq!(answers, [Ok(()), Err(passing), Err(StageError::Lasting("never".to_owned())), Ok(())]);
}
