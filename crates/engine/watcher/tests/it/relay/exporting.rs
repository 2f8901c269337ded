//! From the outbox to the topic.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use store::Read;
use topics::{TopicSpec, Topics};

use crate::common::{Thing, memory};
use crate::relay::place::{AtWork, Counted, Listener, Manner, Written, count, set};
use crate::relay::{SECOND, TOPIC, exported, save};

#[tokio::test(start_paused = true)]
async fn a_backlog_of_large_entities_reaches_the_topic() {
    const LARGE: usize = 500 * 1024;
    let store = memory();
    let before = AtWork::start(&store, 1, Vec::new()).await;
    let watcher = before.watcher.clone();
    before.stop().await;
    for number in 0..24 {
        let title = "x".repeat(LARGE);
        save(&watcher, &store, &Thing { title, ..Thing::new(&format!("t{number}"), 1) }).await;
    }
    let at_work = AtWork::start(&store, 1, Vec::new()).await;
    tokio::time::sleep(SECOND).await;
    assert_eq!(count(&store, "watcher_outbox").await, 0);
    assert_eq!(exported(&at_work.topics).await.len(), 24);
    at_work.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_topic_that_fails_is_tried_with_growing_pauses_and_gets_everything_in_the_end() {
    let (store, log) = (memory(), Counted::new());
    let topics = Topics::in_store(&log.store());
    topics.create(&TopicSpec::new(TOPIC, 4)).await.unwrap();
    let at_work = AtWork::start_with(&store, topics, 1, Vec::new(), "one").await;
    tokio::time::sleep(SECOND).await;
    log.broken.store(true, Ordering::Relaxed);
    for number in 0..60 {
        Written { shards: 1, author: "", at: number, entity: "a", version: number + 1 }.leave(&store).await;
        tokio::time::sleep(SECOND).await;
    }
    let refused = log.refused.load(Ordering::Relaxed);
    assert!((8..=15).contains(&refused), "it was tried {refused} times in a minute");
    log.broken.store(false, Ordering::Relaxed);
    tokio::time::sleep(11 * SECOND).await;
    assert_eq!(exported(&at_work.topics).await.len(), 60);
    assert_eq!(count(&store, "watcher_outbox").await, 0);
    at_work.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stage_hears_of_its_change_although_a_process_that_does_not_know_it_has_exported_it() {
    let store = memory();
    let at_work = AtWork::start(&store, 4, vec![Listener::new("another", Manner::Hears)]).await;
    Written { shards: 4, author: "newer", at: 0, entity: "a", version: 1 }.leave(&store).await;
    tokio::time::sleep(10 * SECOND).await;
    assert_eq!(exported(&at_work.topics).await, ["a 1 newer"]);
    assert_eq!(count(&store, "watcher_saved").await, 1);
    at_work.stop().await;

    let newer = Listener::new("newer", Manner::Hears);
    let at_work = AtWork::start(&store, 4, vec![Arc::clone(&newer) as _]).await;
    tokio::time::sleep(SECOND).await;
    assert_eq!(newer.heard(), [("a".to_owned(), 1)]);
    assert_eq!(count(&store, "watcher_saved").await, 0);
    at_work.stop().await;
}

#[tokio::test(start_paused = true)]
async fn rows_of_the_outbox_that_cannot_be_read_stay_there_and_all_behind_them_is_exported() {
    let store = memory();
    for number in 0..150 {
        let damaged = Written { shards: 1, author: "", at: number, entity: "a", version: number + 1 };
        set(&store, damaged.outbox_key(&store), b"\xff\xff".to_vec()).await;
    }
    let at_work = AtWork::start(&store, 1, Vec::new()).await;
    Written { shards: 1, author: "", at: 1000, entity: "b", version: 1 }.leave(&store).await;
    tokio::time::sleep(SECOND).await;
    Written { shards: 1, author: "", at: 1001, entity: "b", version: 2 }.leave(&store).await;
    tokio::time::sleep(200 * SECOND).await;
    assert_eq!(exported(&at_work.topics).await, ["b 1 ", "b 2 "]);
    assert_eq!(count(&store, "watcher_outbox").await, 150);

    let mended = Written { shards: 1, author: "", at: 0, entity: "a", version: 1 };
    mended.leave(&store).await;
    tokio::time::sleep(70 * SECOND).await;
    assert!(exported(&at_work.topics).await.contains(&"a 1 ".to_owned()), "it is tried again");
    assert!(store.get_one(&mended.outbox_key(&store)).await.unwrap().is_none());
    at_work.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_whose_entity_cannot_be_read_here_is_exported_as_it_was_saved() {
    let (store, stage) = (memory(), Listener::new("author", Manner::Hears));
    let strange = Written { shards: 1, author: "author", at: 0, entity: "a", version: 1 };
    set(&store, strange.outbox_key(&store), strange.value(b"\xff")).await;
    let at_work = AtWork::start(&store, 1, vec![Arc::clone(&stage) as _]).await;
    tokio::time::sleep(SECOND).await;
    assert_eq!(exported(&at_work.topics).await, ["a 1 author"]);
    assert_eq!(stage.heard(), []);
    assert_eq!(count(&store, "watcher_saved").await, 0);
    at_work.stop().await;
}
