//! Releasing what is parked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use store::{Batch, Read};
use watcher::{Answer, Depth, Entity, Interest, StageError, Waits};

use crate::common::{Doing, Running, SECOND, Thing};

#[tokio::test(start_paused = true)]
async fn an_entity_about_which_nobody_could_be_asked_is_released_when_it_was_mended() {
    let reader = Arc::new(Doing::with("reader", Interest::ask_about_all(), |_| Ok(Answer::untouched())));
    let running = Running::start(vec![reader.clone()]).await;
    for id in ["a", "b"] {
        let mut batch = Batch::new();
        running.watcher.save(&mut batch, None, &Thing::new(id, 1)).await.unwrap();
        batch.put(Thing::key(watcher::shard_of(id, 4), &id.to_owned()), 1, "what?");
        assert!(running.store.commit(batch).await.unwrap().is_applied());
    }
    running.pass(60 * SECOND).await;
    let asking = running.explain("a").await.asking.unwrap();
    assert_eq!((asking.waits, asking.fields), (Waits::Parked, vec!["*".to_owned()]));
    assert!(asking.error.unwrap().ends_with("is damaged: a part is missing"));
    assert_eq!(running.watcher.unasked().await.unwrap(), Depth { rows: 2, more: false });
    assert_eq!(running.watcher.release("reader").await.unwrap(), 0, "the stage has parked nothing");

    let mut batch = Batch::new();
    batch.put(Thing::key(watcher::shard_of("a", 4), &"a".to_owned()), 1, "a 1 mended");
    assert!(running.store.commit(batch).await.unwrap().is_applied());
    assert_eq!(running.watcher.release_unasked().await.unwrap(), 2);
    running.pass(SECOND).await;
    assert_eq!(reader.visits().len(), 1);
    assert_eq!(running.explain("a").await.asking, None);
    assert_eq!(running.explain("b").await.asking.unwrap().waits, Waits::Parked, "it still cannot be read");
    assert_eq!(running.watcher.unasked().await.unwrap().rows, 1);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_row_that_cannot_be_read_keeps_no_others_from_being_released() {
    let mended = Arc::new(AtomicBool::new(false));
    let is_mended = Arc::clone(&mended);
    let strict = Doing::on("strict", "price", move |_| {
        if is_mended.load(Ordering::Relaxed) {
            Ok(Answer::untouched())
        } else {
            Err(StageError::Lasting("a bug".to_owned()))
        }
    });
    let running = Running::start(vec![strict]).await;
    for n in 0..20 {
        running.save(&Thing::new(&format!("e{n}"), 1)).await;
    }
    running.pass(60 * SECOND).await;
    let entries = running.store.schema().table("watcher_entries").unwrap();
    let rows = running.store.scan(&entries.scan()).await.unwrap().rows;
    let mut batch = Batch::new();
    batch.put(rows[0].key.clone(), rows[0].version, &b"\xff\xff nonsense"[..]);
    assert!(running.store.commit(batch).await.unwrap().is_applied());
    mended.store(true, Ordering::Relaxed);
    assert_eq!(running.watcher.release("strict").await.unwrap(), 19);
    running.pass(SECOND).await;
    assert_eq!(running.watcher.report("strict").await.unwrap().parked.rows, 1);
    running.stop().await;
}
