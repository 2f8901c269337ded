//! The demo at work: it makes the rest of its offers, and then people go on changing them; values
//! move, a feed changes, and the time is written down.

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

/// What people do is drawn with this.
pub(super) const SEED: u64 = 0x7065_6f70_6c65;
/// Where offers are missing, something new is published in so many of a hundred cases: more often
/// than something ends for good.
const PUBLISHED_PERCENT: u32 = 12;

/// What time it is on this machine.
pub(super) fn system_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64
}

/// Makes the offers that are missing, lets the time run, and has people live with them until `stop`
/// turns true. What fails is tried again.
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
    // From now on this folder has no past to make up for.
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

/// Has visits tried again that were given up because the past went by too quickly: a stage that
/// asks for its next visit must not ask for one that is over by a day.
async fn release_outrun(offers: &Offers, built_in: &[String]) {
    for stage in built_in {
        match offers.watcher().release(stage).await {
            Ok(0) => {}
            Ok(visits) => tracing::info!(stage, visits, "visits that time outran are made again"),
            Err(error) => tracing::warn!(stage, %error, "visits that time outran stay parked"),
        }
    }
}

/// People who publish as long as fewer offers are active than there are to be, so that a demo that
/// runs for weeks is as large as on its first day.
struct Crowd {
    people: People,
    active_max: u64,
    /// As it was counted last, and what was published since.
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

/// Has messages kept for a shorter time once all have read those of the past. A topic whose
/// retention somebody has changed stays as it is.
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
    // Whoever ends early has failed.
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

/// Moves the values that tasks wait on, and keeps the log of their runs short, until `stop` turns
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

/// Has the changing feed fetched whenever it changed, until `stop` turns true.
pub(super) async fn fetch_changes(feeds: Feeds, mut stop: watch::Receiver<bool>) -> anyhow::Result<()> {
    let name = links::changing();
    while !rest(&mut stop, FEED_EVERY).await {
        match feeds.fetch_now(&name).await {
            // Somebody who tries the demo may have paused or deleted it.
            Ok(()) | Err(::feeds::Error::NotFound { .. }) => {}
            Err(error) => tracing::warn!(%error, "the changing feed of the demo is not fetched"),
        }
    }
    Ok(())
}

/// Writes down what time it is in the demo, until `stop` turns true.
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
            // Between two counts some end, and some that were over come back.
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
