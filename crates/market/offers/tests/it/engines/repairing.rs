//! Repair of wrong counters.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use offers::chores::{Chore, ChoreStep};
use offers::status::Mover;
use offers::{Call, Move, OfferId, Offers};
use store::{Batch, Key, KeyValue, Store};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use wire::torg::offers::v1::Status;

use crate::engines::market::{Market, author, bike, seller};

/// Those who write at the same time.
const WRITERS: u32 = 4;
/// What all of them make together, as far as the engine allows.
const WRITES_PER_SECOND: u32 = 500;
/// Writes that are made after counts went wrong and before they are corrected; more are made while
/// they are.
const WRITES_BETWEEN: u64 = 100;
/// How often counts go wrong.
const ROUNDS: i64 = 5;

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

/// Those who write all the time.
struct Writers {
    stop: Arc<AtomicBool>,
    /// Writes that were acknowledged so far.
    made: watch::Receiver<u64>,
    tasks: Vec<JoinHandle<()>>,
}

impl Writers {
    fn start(market: &Market, ids: &[OfferId]) -> Self {
        let (stop, (sender, made)) = (Arc::new(AtomicBool::new(false)), watch::channel(0));
        let start = |writer| {
            let (offers, ids) = (market.offers.clone(), ids.to_vec());
            tokio::spawn(keep_writing(writer, offers, ids, sender.clone(), Arc::clone(&stop)))
        };
        let tasks = (0..WRITERS as usize).map(start).collect();
        Self { stop, made, tasks }
    }

    /// Waits for this number of further writes.
    async fn write(&mut self, count: u64) {
        let wanted = *self.made.borrow() + count;
        self.made.wait_for(|made| *made >= wanted).await.expect("all writers ended");
    }

    /// Ends them; says how many writes were made.
    async fn stop(self) -> u64 {
        self.stop.store(true, Ordering::SeqCst);
        for task in self.tasks {
            task.await.unwrap();
        }
        *self.made.borrow()
    }
}

/// Moves offers there and back and makes new ones, at its share of the pace; behind it, as fast as
/// the engine allows.
async fn keep_writing(
    writer: usize,
    offers: Offers,
    ids: Vec<OfferId>,
    made: watch::Sender<u64>,
    stop: Arc<AtomicBool>,
) {
    let call = Call::by(author("ann"), Mover::Admin);
    let mut pace = tokio::time::interval(Duration::from_secs(1) * WRITERS / WRITES_PER_SECOND);
    let (mut n, mut turn) = (writer, 0);
    while !stop.load(Ordering::SeqCst) {
        pace.tick().await;
        let is_done = match turn % 3 {
            0 => {
                n = (n + 7) % ids.len();
                let to = [Status::Banned, Status::Active, Status::Sold, Status::Removed, Status::Expired]
                    [(n + writer) % 5];
                offers.move_to(&call, ids[n], None, &Move::to(to)).await.is_ok()
            }
            1 => offers.move_to(&call, ids[n], None, &Move::to(Status::Active)).await.is_ok(),
            _ => offers.create(&seller("ann"), &bike("one more", 5)).await.is_ok(),
        };
        turn += 1;
        made.send_modify(|made| *made += u64::from(is_done));
    }
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
    let mut writers = Writers::start(&market, &ids);
    for round in 0..ROUNDS {
        corrupt(
            &market,
            &[("all", 1000 + round), ("active", -777), ("needs_attention", 3), ("archived", 12)],
        )
        .await;
        writers.write(WRITES_BETWEEN).await;
        let drifts = market.offers.repair_counts("ann").await.unwrap();
        let found: Vec<(&str, i64)> = drifts.iter().map(|drift| (drift.counter, drift.correction)).collect();
        assert_eq!(
            found,
            [("all", -1000 - round), ("active", 777), ("archived", -12), ("needs_attention", -3)]
        );
    }
    let made = writers.stop().await;
    assert!(made >= WRITES_BETWEEN * ROUNDS.unsigned_abs(), "only {made} writes");
    require_exact(&market).await;
    // The background pass finds it too.
    corrupt(&market, &[("sold_now", 50)]).await;
    market.pass(crate::engines::market::DAY);
    while market.offers.run_chore_step(Chore::Counts, "here").await.unwrap() == ChoreStep::Done {}
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
