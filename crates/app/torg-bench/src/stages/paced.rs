//! Publishes offers one by one at a pace, and measures how long each waits for its visits.

use std::ops::Range;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::base::{Base, PATIENCE};
use crate::observe::{Log, Times};

/// Publishes this many offers per second; returns the time of each, by number from the first.
pub(super) async fn publish(base: &Base, numbers: Range<u64>, per_s: u32) -> anyhow::Result<Vec<(u64, u64)>> {
    let mut ticks = interval(Duration::from_secs(1) / per_s);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let (mut saved, mut under_way) = (Vec::new(), JoinSet::new());
    for number in numbers {
        ticks.tick().await;
        let publishing = base.publish_beside(number);
        under_way.spawn(async move { anyhow::Ok((number, publishing.await?)) });
        while let Some(done) = under_way.try_join_next() {
            saved.push(done??);
        }
    }
    while let Some(done) = under_way.join_next().await {
        saved.push(done??);
    }
    Ok(saved)
}

/// From the publication of an offer to the answer of each stage, for all of them. Zero if the
/// answer came first.
pub(super) async fn waits(base: &Base, saved: &[(u64, u64)], logs: &[Log]) -> anyhow::Result<Times> {
    let last_us = base.clock.elapsed_us() + PATIENCE.as_micros() as u64;
    let is_visited = |log: &Log| saved.iter().all(|(number, _)| log.visited_us(*number).is_some());
    while !logs.iter().all(is_visited) {
        anyhow::ensure!(base.clock.elapsed_us() < last_us, "a published offer was never visited");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let wait =
        |log: &Log, number: u64, since: u64| log.visited_us(number).unwrap_or(since).saturating_sub(since);
    Ok(logs.iter().flat_map(|log| saved.iter().map(|(number, us)| wait(log, *number, *us))).collect())
}
