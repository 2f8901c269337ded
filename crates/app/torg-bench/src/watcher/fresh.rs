//! A writer that saves new ads at a constant rate, and how long each waits for its visit.

use std::ops::Range;
use std::time::Duration;

use store::Batch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use watcher::Watcher;

use super::ad::{Ad, BODY_BYTES};
use super::base::{Base, PATIENCE};
use crate::observe::{BenchClock, Log, Times};

pub(super) const SAVES_PER_S: u64 = 300;

/// One save, in microseconds of the clock.
struct Save {
    number: u64,
    begin_us: u64,
    returned_us: u64,
}

#[derive(Default)]
pub(super) struct Saves(Vec<Save>);

/// From the save to the call of the stage.
pub(super) struct Waits {
    /// From the return of the commit; zero if the call came first.
    pub(super) from_return: Times,
    /// From the call of the commit.
    pub(super) from_begin: Times,
}

impl Saves {
    /// The ad numbers that the saves of this many seconds need.
    pub(super) fn numbers(seconds: u64) -> u64 {
        SAVES_PER_S * seconds
    }

    /// Saves the ads of these numbers, one by one, until there are no more or `end` resolves.
    pub(super) async fn make(
        base: &Base,
        watcher: &Watcher<Ad>,
        numbers: Range<u64>,
        end: impl Future<Output = ()>,
    ) -> anyhow::Result<Self> {
        let mut ticks = interval(Duration::from_secs(1) / SAVES_PER_S as u32);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let (mut saves, mut under_way) = (Vec::new(), JoinSet::new());
        tokio::pin!(end);
        for number in numbers {
            tokio::select! {
                biased;
                () = &mut end => break,
                _ = ticks.tick() => {}
            }
            let (store, watcher, clock) = (base.store.clone(), watcher.clone(), base.clock.clone());
            under_way.spawn(async move {
                let mut batch = Batch::new();
                watcher.save(&mut batch, None, &Ad::new(number, BODY_BYTES)).await?;
                let begin_us = clock.elapsed_us();
                anyhow::ensure!(store.commit(batch).await?.is_applied(), "a new ad was in conflict");
                Ok(Save { number, begin_us, returned_us: clock.elapsed_us() })
            });
            while let Some(saved) = under_way.try_join_next() {
                saves.push(saved??);
            }
        }
        while let Some(saved) = under_way.join_next().await {
            saves.push(saved??);
        }
        Ok(Self(saves))
    }

    /// Only the saves that began in this time.
    pub(super) fn begun_within(self, us: Range<u64>) -> Self {
        Self(self.0.into_iter().filter(|save| us.contains(&save.begin_us)).collect())
    }

    /// Waits until all are visited, and returns how long each waited.
    pub(super) async fn waits(&self, log: &Log, clock: &BenchClock) -> anyhow::Result<Waits> {
        let last_us = clock.elapsed_us() + PATIENCE.as_micros() as u64;
        while !self.0.iter().all(|save| log.visited_us(save.number).is_some()) {
            anyhow::ensure!(clock.elapsed_us() < last_us, "a saved ad was never visited");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let since = |save: &Save, from: u64| log.visited_us(save.number).unwrap_or(from).saturating_sub(from);
        Ok(Waits {
            from_return: self.0.iter().map(|save| since(save, save.returned_us)).collect(),
            from_begin: self.0.iter().map(|save| since(save, save.begin_us)).collect(),
        })
    }
}
