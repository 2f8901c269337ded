//! Counts that are wrong, whoever made them so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use contract::torg::offers::v1::Status;
use offers::chores::{Chore, Turn};
use offers::status::Mover;
use offers::{Call, Move};
use store::{Batch, Key, KeyValue, Store};

use crate::market::{Market, author, bike, seller};

/// The key of a part of a counter.
fn counter(store: &Store, shard: u32, counter: &str, part: u32) -> Key {
    let table = store.schema().table("offer_counters").unwrap();
    let text = |text: &str| KeyValue::Text(text.into());
    Key::encode(table, &[KeyValue::U32(shard), text("ann"), text(counter), KeyValue::U32(part)])
}

async fn corrupt(market: &Market, deltas: &[(&str, i64)]) {
    let shard = watcher::shard_of("ann", market.offers.watcher().shards());
    let mut batch = Batch::new();
    for (n, (name, delta)) in deltas.iter().enumerate() {
        batch.add(counter(&market.store, shard, name, n as u32 % 10), *delta);
    }
    assert!(market.store.commit(batch).await.unwrap().is_applied());
}

/// What the lists have, by preset, against the counts.
async fn require_exact(market: &Market) {
    assert_eq!(
        market.offers.repair_counts("ann").await.unwrap(),
        [],
        "after a repair there is nothing left to correct"
    );
}

pub(crate) async fn drifted_counts_are_corrected_exactly_while_writes_go_on(market: Market) {
    let mut ids = Vec::new();
    for n in 0..40 {
        ids.push(market.publish(&bike(&format!("bike {n}"), 100)).await);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let mut writers = Vec::new();
    for writer in 0..4_usize {
        let (offers, stop, ids) = (market.offers.clone(), Arc::clone(&stop), ids.clone());
        writers.push(tokio::spawn(async move {
            let call = Call::by(author("ann"), Mover::Admin);
            let (mut n, mut moved) = (writer, 0_u32);
            while !stop.load(Ordering::SeqCst) {
                n = (n + 7) % ids.len();
                let to = [Status::Banned, Status::Active, Status::Sold, Status::Removed, Status::Expired]
                    [(n + writer) % 5];
                moved += u32::from(offers.move_to(&call, ids[n], None, &Move::to(to)).await.is_ok());
                let _ = offers.move_to(&call, ids[n], None, &Move::to(Status::Active)).await;
                offers.create(&seller("ann"), &bike("one more", 5)).await.unwrap();
            }
            moved
        }));
    }
    for round in 0..5 {
        corrupt(
            &market,
            &[("all", 1000 + round), ("active", -777), ("needs_attention", 3), ("archived", 12)],
        )
        .await;
        let drifts = market.offers.repair_counts("ann").await.unwrap();
        let found: Vec<(&str, i64)> = drifts.iter().map(|drift| (drift.counter, drift.correction)).collect();
        assert_eq!(
            found,
            [("all", -1000 - round), ("active", 777), ("archived", -12), ("needs_attention", -3)]
        );
    }
    stop.store(true, Ordering::SeqCst);
    for writer in writers {
        assert!(writer.await.unwrap() > 0);
    }
    require_exact(&market).await;
    // The background pass finds it too.
    corrupt(&market, &[("sold_now", 50)]).await;
    market.pass(crate::market::DAY);
    while market.offers.turn(Chore::Counts, "here").await.unwrap() == Turn::Step {}
    require_exact(&market).await;
}

pub(crate) async fn two_repairs_at_a_time_correct_once(market: Market) {
    for n in 0..20 {
        market.publish(&bike(&format!("bike {n}"), 100)).await;
    }
    for _ in 0..5 {
        corrupt(&market, &[("all", 5), ("active", 5)]).await;
        let repairs = (0..6).map(|_| {
            let offers = market.offers.clone();
            tokio::spawn(async move { offers.repair_counts("ann").await.unwrap() })
        });
        let found = futures::future::join_all(repairs).await;
        let corrected: i64 = found.into_iter().flat_map(Result::unwrap).map(|drift| drift.correction).sum();
        assert_eq!(corrected, -10);
        assert_eq!(market.offers.counts("ann").await.unwrap()["all"], 20);
    }
}
