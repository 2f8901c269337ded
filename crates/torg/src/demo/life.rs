//! The demo at work: it makes the rest of its offers, and then people go on changing them; values move, a feed changes, and the time is written down.

use std::time::{SystemTime, UNIX_EPOCH};

use ::feeds::Feeds;
use jiff::Timestamp;
use offers::Offers;
use reactive::ctl::Ctl;
use tokio::sync::watch;

use super::child::rest;
use super::clock::DemoClock;
use super::dice::Dice;
use super::fill::Filling;
use super::folder::Folder;
use super::limits::{
    CHANGE_EVERY, CHANGE_EVERY_MIN, CLOCK_SAVED_EVERY, FAILURE_PAUSE, FEED_EVERY, VALUES_EVERY,
};
use super::people::People;
use super::{links, tasks};

/// What people do is drawn with this.
pub(super) const SEED: u64 = 0x7065_6f70_6c65;
/// Something new is published in so many of a hundred cases: about as much as is sold or taken away.
const PUBLISHED_PERCENT: u32 = 40;

/// What time it is on this machine.
pub(super) fn system_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64
}

/// Makes the offers that are missing, lets the time run, and has people live with them until `stop` turns true. What fails is tried again.
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
    let Filling { offers, people, clock, folder, built_in, .. } = filling;
    clock.run_from(system_ms());
    // From now on this folder has no past to make up for.
    folder.save_time(clock.time())?;
    release_outrun(&offers, &built_in).await;
    let (mut dice, pause) = (Dice::new(rand::random()), clock.pause(CHANGE_EVERY, CHANGE_EVERY_MIN));
    while !rest(&mut stop, pause).await {
        if let Err(error) = act(&people, &mut dice).await {
            tracing::warn!(%error, "somebody in the demo could not do what they wanted");
            if rest(&mut stop, FAILURE_PAUSE).await {
                break;
            }
        }
    }
    Ok(())
}

/// Has visits tried again that were given up because the past went by too quickly: a stage that asks for its next visit must not ask for one that is over by a day.
async fn release_outrun(offers: &Offers, built_in: &[String]) {
    for stage in built_in {
        match offers.watcher().release(stage).await {
            Ok(0) => {}
            Ok(visits) => tracing::info!(stage, visits, "visits that time outran are made again"),
            Err(error) => tracing::warn!(stage, %error, "visits that time outran stay parked"),
        }
    }
}

async fn act(people: &People, dice: &mut Dice) -> offers::Result<()> {
    if dice.chance(PUBLISHED_PERCENT) { people.publish(dice).await } else { people.change(dice).await }
}

/// Moves the values that tasks wait on, until `stop` turns true.
pub(super) async fn move_values(ctl: Ctl, mut stop: watch::Receiver<bool>) -> anyhow::Result<()> {
    loop {
        let moved = match Timestamp::from_millisecond(system_ms()) {
            Ok(now) => tasks::move_values(&ctl, now).await,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = moved {
            tracing::warn!(error = format!("{error:#}"), "values of the demo do not move, will try again");
        }
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
