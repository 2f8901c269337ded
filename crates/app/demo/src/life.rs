//! Background tasks of a demo: they create the remaining offers, simulate users, move task
//! parameters, refetch a feed and save the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use ::feeds::Feeds;
use ctl::Ctl;
use jiff::Timestamp;
use offers::Offers;
use tokio::sync::watch;
use topics::Topics;

use super::child::rest;
use super::clock::DemoClock;
use super::dice::Dice;
use super::fill::Filling;
use super::folder::Folder;
use super::limits::{
    CHANGE_EVERY, CHANGE_EVERY_MIN, CLOCK_SAVED_EVERY, DEEDS_BETWEEN_COUNTS, FAILURE_PAUSE, FEED_EVERY,
    PAST_READ, RETENTION_HOURS, RETENTION_HOURS_AFTER, RETENTION_MB_AFTER, VALUES_EVERY,
};
use super::people::People;
use super::{links, tasks};
use node::parts::retention;

/// Seed of the simulated users' actions.
pub(super) const SEED: u64 = 0x7065_6f70_6c65;
/// The percentage of actions that publish an offer while offers are missing. It is higher than the
/// share of actions that end offers for good.
const PUBLISHED_PERCENT: u32 = 12;

/// The real time.
pub(super) fn system_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64
}

/// Creates the missing offers, starts the clock, and simulates users until `stop` turns true.
/// Retries failures.
pub(super) async fn live(mut filling: Filling, mut stop: watch::Receiver<bool>) -> anyhow::Result<()> {
    while !filling.is_done() {
        if *stop.borrow() {
            return Ok(());
        }
        if let Err(error) = filling.chunk(filling.total).await {
            tracing::warn!(error = format!("{error:#}"), "offers of the demo are not made, will try again");
            if rest(&mut stop, FAILURE_PAUSE).await {
                return Ok(());
            }
        }
    }
    let Filling { offers, people, clock, folder, built_in, total, .. } = filling;
    clock.run_from(system_ms());
    // A restart must not create past offers again.
    folder.save_time(clock.time())?;
    release_outrun(&offers, &built_in).await;
    let mut crowd = Crowd::new(people, total);
    let (mut dice, pause) = (Dice::new(rand::random()), clock.pause(CHANGE_EVERY, CHANGE_EVERY_MIN));
    while !rest(&mut stop, pause).await {
        if let Err(error) = crowd.act(&mut dice).await {
            tracing::warn!(%error, "somebody in the demo could not do what they wanted");
            if rest(&mut stop, FAILURE_PAUSE).await {
                break;
            }
        }
    }
    Ok(())
}

/// Retries visits that were parked because the clock jumped: a stage must not ask for a next visit
/// at a time that is already past.
async fn release_outrun(offers: &Offers, built_in: &[String]) {
    for stage in built_in {
        match offers.watcher().release(stage).await {
            Ok(0) => {}
            Ok(visits) => tracing::info!(stage, visits, "visits that time outran are made again"),
            Err(error) => tracing::warn!(stage, %error, "visits that time outran stay parked"),
        }
    }
}

/// Simulated users. They publish while fewer offers than the target are active, so that a demo
/// keeps its size over weeks.
struct Crowd {
    people: People,
    active_max: u64,
    /// The last count, plus the offers published since.
    active: u64,
    deeds: u32,
}

impl Crowd {
    fn new(people: People, active_max: u32) -> Crowd {
        Crowd { people, active_max: active_max.into(), active: 0, deeds: 0 }
    }

    async fn act(&mut self, dice: &mut Dice) -> offers::Result<()> {
        if self.deeds.is_multiple_of(DEEDS_BETWEEN_COUNTS) {
            self.active = self.people.active().await?;
        }
        self.deeds = self.deeds.wrapping_add(1);
        if self.active < self.active_max && dice.chance(PUBLISHED_PERCENT) {
            self.active += 1;
            return self.people.publish(dice).await;
        }
        self.people.change(dice).await
    }
}

/// Shortens the retention of topics once all consumers have read the messages of the past. A topic
/// whose retention a user has changed keeps it.
pub(super) async fn keep_less(
    topics: Topics,
    clock: DemoClock,
    mut stop: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    while !clock.runs() {
        if rest(&mut stop, FAILURE_PAUSE).await {
            return Ok(());
        }
    }
    if rest(&mut stop, PAST_READ).await {
        return Ok(());
    }
    while let Err(error) = shorten(&topics).await {
        tracing::warn!(%error, "the demo's topics keep everything, will try again");
        if rest(&mut stop, FAILURE_PAUSE).await {
            return Ok(());
        }
    }
    // Only a failed task ends before `stop`.
    let _ = stop.wait_for(|stop| *stop).await;
    Ok(())
}

async fn shorten(topics: &Topics) -> topics::Result<()> {
    for spec in topics.list().await? {
        let kept = |hours, megabytes| retention(hours, megabytes, spec.partitions);
        if spec.retention == kept(RETENTION_HOURS, 0) {
            let after = kept(RETENTION_HOURS_AFTER, RETENTION_MB_AFTER);
            topics.create(&spec.retention(after)).await?;
        }
    }
    Ok(())
}

/// Moves the parameters that tasks wait for, and limits the log of their runs, until `stop` turns
/// true.
pub(super) async fn move_values(
    ctl: Ctl,
    folder: Folder,
    mut stop: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    loop {
        let moved = match Timestamp::from_millisecond(system_ms()) {
            Ok(now) => tasks::move_values(&ctl, now).await,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = moved {
            tracing::warn!(error = format!("{error:#}"), "values of the demo do not move, will try again");
        }
        tasks::bound_log(&folder);
        if rest(&mut stop, VALUES_EVERY).await {
            return Ok(());
        }
    }
}

/// Refetches the changing feed after every change, until `stop` turns true.
pub(super) async fn fetch_changes(feeds: Feeds, mut stop: watch::Receiver<bool>) -> anyhow::Result<()> {
    let name = links::changing();
    while !rest(&mut stop, FEED_EVERY).await {
        match feeds.fetch_now(&name).await {
            // A user of the demo may have paused or deleted the feed.
            Ok(()) | Err(::feeds::Error::NotFound { .. }) => {}
            Err(error) => tracing::warn!(%error, "the changing feed of the demo is not fetched"),
        }
    }
    Ok(())
}

/// Saves the clock periodically, until `stop` turns true.
pub(super) async fn save_time(
    clock: DemoClock,
    folder: Folder,
    mut stop: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    loop {
        let stopped = rest(&mut stop, CLOCK_SAVED_EVERY).await;
        if clock.runs()
            && let Err(error) = folder.save_time(clock.time())
        {
            tracing::warn!(error = format!("{error:#}"), "the time of the demo is not written down");
        }
        if stopped {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use topics::TopicSpec;

    use super::*;
    use crate::rig::Rig;

    #[tokio::test]
    async fn a_demo_that_runs_on_has_about_as_many_active_offers_as_it_is_to_have() {
        const WANTED: u32 = 100;
        let rig = Rig::new().await;
        rig.filling(0, 50).chunk(50).await.unwrap();
        let (mut crowd, mut dice) = (Crowd::new(rig.people.clone(), WANTED), Dice::new(1));
        let mut live = async |deeds: u32| {
            for _ in 0..deeds {
                crowd.act(&mut dice).await.unwrap();
            }
            rig.people.active().await.unwrap()
        };
        live(12 * DEEDS_BETWEEN_COUNTS).await;
        for _ in 0..3 {
            let active = live(2 * DEEDS_BETWEEN_COUNTS).await;
            // Between two counts some offers end, and some ended offers return.
            assert!((65..=115).contains(&active), "{active}");
        }
    }

    #[tokio::test]
    async fn messages_are_kept_for_less_once_the_past_is_over_but_where_somebody_wants_them_longer() {
        let rig = Rig::new().await;
        let (past, forever) = (TopicSpec::new("past", 4), TopicSpec::new("forever", 4));
        let past = past.retention(retention(RETENTION_HOURS, 0, 4));
        for topic in [&past, &forever] {
            rig.topics.create(topic).await.unwrap();
        }
        shorten(&rig.topics).await.unwrap();
        let of = async |name: &str| rig.topics.describe(name).await.unwrap().spec;
        let after = retention(RETENTION_HOURS_AFTER, RETENTION_MB_AFTER, 4);
        assert_eq!(of("past").await.retention, after);
        assert_eq!(of("forever").await, forever);
    }
}
