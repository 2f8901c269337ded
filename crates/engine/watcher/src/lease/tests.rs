//! Processes that come, go, die and come back.

use std::sync::Arc;

use store::{Faults, Faulty, Memory, Schema, StoreOptions};

use super::*;
use clock::Time;

impl LeaseManager {
    fn is_trusted(&self) -> bool {
        self.trusted_until.is_some_and(|until| Instant::now() < until)
    }

    /// The shards in which new work may begin.
    fn serving(&self) -> impl Iterator<Item = u32> {
        let trusted = self.is_trusted();
        self.held().serving.into_keys().filter(move |_| trusted)
    }

    fn leaving(&self) -> impl Iterator<Item = u32> {
        self.leaving.iter().copied()
    }

    fn fence(&self, shard: u32) -> Option<Fence> {
        self.owned.get(&shard).map(|epoch| Fence { key: self.lease_key(shard), epoch: *epoch })
    }
}

const LEASE_TIME: Duration = Duration::from_secs(15);
const SHARDS: u32 = 10;

fn memory() -> Store {
    let schema = Schema::new(1, crate::tables()).unwrap();
    Store::over(Arc::new(Memory::new(schema)), &StoreOptions::default())
}

fn manager(store: &Store, instance: &str) -> LeaseManager {
    let clock = Clock::starting_at(Time::from_ms(1_000_000));
    let config = Config { shards: SHARDS, lease_time: LEASE_TIME, ..Config::default() };
    LeaseManager::over(store.clone(), clock, "thing", &config, instance.to_owned())
}

/// One round of all processes: each beats, and gives away what it has too many.
async fn round(managers: &mut [LeaseManager]) {
    tokio::time::advance(LEASE_TIME / BEATS).await;
    for manager in managers {
        manager.tick().await.unwrap();
        for shard in manager.leaving().collect::<Vec<_>>() {
            manager.release(&[shard]).await.unwrap();
        }
    }
}

async fn rounds(managers: &mut [LeaseManager], count: usize) {
    for _ in 0..count {
        round(managers).await;
    }
}

fn served(managers: &[LeaseManager]) -> Vec<usize> {
    let mut all: Vec<u32> = managers.iter().flat_map(LeaseManager::serving).collect();
    let total = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), total, "no shard is served twice");
    managers.iter().map(|manager| manager.serving().count()).collect()
}

async fn write(store: &Store, fence: &Fence) -> bool {
    let mut batch = Batch::new();
    fence.guard(&mut batch);
    batch.set(crate::tables::QUEUES.key((0, "thing", 0, "s", 1, "a")), &b""[..]);
    store.commit(batch).await.unwrap().is_applied()
}

#[tokio::test(start_paused = true)]
async fn one_process_serves_all_shards_and_several_share_them_fairly() {
    let store = memory();
    let mut managers = vec![manager(&store, "a")];
    rounds(&mut managers, 1).await;
    assert_eq!(served(&managers), [10]);
    managers.push(manager(&store, "b"));
    rounds(&mut managers, 3).await;
    assert_eq!(served(&managers), [5, 5]);
    managers.push(manager(&store, "c"));
    rounds(&mut managers, 3).await;
    assert_eq!(served(&managers), [4, 3, 3]);
}

#[tokio::test(start_paused = true)]
async fn shards_of_a_process_that_died_move_after_a_lease_time_and_not_before() {
    let store = memory();
    let mut managers = vec![manager(&store, "a"), manager(&store, "b")];
    rounds(&mut managers, 3).await;
    let dead = managers.pop().unwrap();
    rounds(&mut managers, BEATS as usize).await;
    assert_eq!(served(&managers), [5], "it may only be slow");
    rounds(&mut managers, 1).await;
    assert_eq!(served(&managers), [10]);
    drop(dead);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_resigns_leaves_its_shards_to_the_next_round() {
    let store = memory();
    let mut managers = vec![manager(&store, "a"), manager(&store, "b")];
    rounds(&mut managers, 3).await;
    managers.pop().unwrap().release_all().await.unwrap();
    rounds(&mut managers, 1).await;
    assert_eq!(served(&managers), [10]);
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_was_away_too_long_cannot_write_and_starts_again_with_nothing() {
    let store = memory();
    let mut managers = vec![manager(&store, "a"), manager(&store, "b")];
    rounds(&mut managers, 3).await;
    let mut stale = managers.pop().unwrap();
    let shard = stale.serving().next().unwrap();
    let fence = stale.fence(shard).unwrap();
    assert!(write(&store, &fence).await);
    rounds(&mut managers, 5).await;
    assert_eq!(served(&managers), [10]);
    assert_eq!(stale.serving().count(), 0, "it does not trust its leases any more");
    assert!(!write(&store, &fence).await, "and what it had on its way is refused");
    stale.tick().await.unwrap();
    assert_eq!((stale.serving().count(), stale.fence(shard)), (0, None));
    managers.push(stale);
    rounds(&mut managers, 4).await;
    assert_eq!(served(&managers), [5, 5], "later it gets its share again");
}

#[tokio::test(start_paused = true)]
async fn a_shard_that_is_to_be_given_away_is_ours_until_it_is() {
    let store = memory();
    let mut a = manager(&store, "a");
    a.tick().await.unwrap();
    let mut b = manager(&store, "b");
    b.tick().await.unwrap();
    a.tick().await.unwrap();
    let leaving: Vec<u32> = a.leaving().collect();
    assert_eq!((leaving.len(), a.serving().count()), (5, 5));
    b.tick().await.unwrap();
    assert_eq!(b.serving().count(), 0);
    let fence = a.fence(leaving[0]).unwrap();
    assert!(write(&store, &fence).await, "visits under way can end");
    a.release(&leaving[..1]).await.unwrap();
    assert!(!write(&store, &fence).await);
    b.tick().await.unwrap();
    assert_eq!(b.serving().collect::<Vec<_>>(), [leaving[0]]);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_took_over_and_one_that_comes_back_never_hold_the_same_epoch() {
    let store = memory();
    let mut epochs = BTreeSet::new();
    for n in 0..6 {
        let mut manager = manager(&store, &format!("i{n}"));
        for _ in 0..5 {
            round(std::slice::from_mut(&mut manager)).await;
        }
        let fence = manager.fence(3).unwrap();
        assert!(epochs.insert(fence.epoch), "epoch {} was used before", fence.epoch);
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_was_buried_and_comes_back_is_not_buried_again_by_one_who_saw_it_before() {
    let store = memory();
    let [mut a, mut b, mut c] = ["a", "b", "c"].map(|instance| manager(&store, instance));
    for manager in [&mut c, &mut a, &mut b] {
        manager.tick().await.unwrap();
    }
    a.live_instances().await.unwrap();
    tokio::time::advance(LEASE_TIME / 2).await;
    a.heartbeat().await.unwrap();
    b.heartbeat().await.unwrap();
    tokio::time::advance(LEASE_TIME / 2).await;
    b.tick().await.unwrap();
    c.tick().await.unwrap();
    assert!(!c.is_trusted(), "b has buried it");
    c.tick().await.unwrap();
    a.tick().await.unwrap();
    c.tick().await.unwrap();
    assert!(c.is_trusted(), "a knows that it has come back");
}

#[tokio::test(start_paused = true)]
async fn one_who_looks_slowly_does_not_bury_those_who_beat_meanwhile() {
    let memory = Memory::new(Schema::new(1, crate::tables()).unwrap());
    let slow = Faulty::new(memory.clone(), 1, Faults::default());
    let mut a = manager(&Store::over(Arc::new(slow.clone()), &StoreOptions::default()), "a");
    let mut b = manager(&Store::over(Arc::new(memory), &StoreOptions::default()), "b");
    b.tick().await.unwrap();
    slow.set_faults(Faults { delay: 1000, delay_max: 4 * LEASE_TIME, ..Faults::default() });
    let began = Instant::now();
    let beats = async {
        loop {
            tokio::time::sleep(LEASE_TIME / BEATS).await;
            b.heartbeat().await.unwrap();
        }
    };
    tokio::select! {
        biased;
        seen = a.live_instances() => assert_eq!(seen.unwrap().len(), 2),
        () = beats => {}
    }
    assert!(began.elapsed() > LEASE_TIME, "it took long: {:?}", began.elapsed());
    slow.set_faults(Faults::default());
    assert_eq!(a.live_instances().await.unwrap().len(), 2, "b is alive");
}

#[tokio::test(start_paused = true)]
async fn a_process_that_starts_again_under_its_old_name_gets_new_epochs() {
    let store = memory();
    let mut before = manager(&store, "a");
    before.tick().await.unwrap();
    let old: Vec<Fence> = before.held().serving.into_values().collect();
    let mut after = manager(&store, "a");
    for _ in 0..3 {
        after.tick().await.unwrap();
    }
    let new: Vec<Fence> = after.held().serving.into_values().collect();
    assert_eq!(new.len(), old.len());
    assert!(new.iter().all(|fence| !old.contains(fence)), "what is left of its old life must not write");
}
