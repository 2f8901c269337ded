//! Values that the system itself sets, so that tasks can wait on them (`docs/tasks.md`).
//!
//! ```text
//! torg/offers.exported_to                   every earlier change is in the topic
//! torg/feeds/SELLER/NAMESPACE.loaded_at     when the last load of a feed ended
//! torg/recrawl.finished_at                  when the last re-crawl was seen to have ended
//! torg/recrawl.percent                      progress of the last re-crawl
//! ```

use std::time::Duration;

use async_trait::async_trait;
use ctl::messages;
use ctl::{Change, Ctl};
use feeds::FeedName;
use feeds::LoadHook;
use jiff::{Timestamp, ToSpan as _};
use offers::StoredOffer;
use store::Batch;
use tokio::sync::watch;
use triggers::{Parameter, Value};
use watcher::{Recrawl, Watcher};
use wire::torg::feeds::v1::Load;
use xxhash_rust::xxh3::xxh3_64;

/// The author of these changes.
const AUTHOR: &str = "torg";
/// How often the progress of exports and re-crawls is read.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The export advances continuously; its value is set in steps of this many seconds.
const EXPORT_STEP_S: i64 = 10;
/// Maximum length of a seller or a namespace in the name of a value.
const PART_BYTES_MAX: usize = 80;

/// Maintains the values about offers.
pub struct OwnValues {
    ctl: Ctl,
    offers: Watcher<StoredOffer>,
}

impl OwnValues {
    pub fn new(ctl: Ctl, offers: Watcher<StoredOffer>) -> OwnValues {
        OwnValues { ctl, offers }
    }

    /// Updates the values until `stop` turns true. Several processes may do this at once, because
    /// values only move forward.
    pub async fn keep(self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            if let Err(error) = self.look().await {
                tracing::warn!(
                    error = format!("{error:#}"),
                    "Torg's own values cannot be set, will try again"
                );
            }
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    async fn look(&self) -> anyhow::Result<()> {
        let exported =
            self.offers.exported_to().await?.as_ms().div_euclid(EXPORT_STEP_S * 1000) * EXPORT_STEP_S;
        self.forward("offers", "exported_to", Value::Time(Timestamp::from_second(exported)?)).await?;
        if let Some(recrawl) = self.offers.recrawl().await? {
            self.tell_recrawl(&recrawl).await?;
        }
        Ok(())
    }

    async fn tell_recrawl(&self, recrawl: &Recrawl) -> anyhow::Result<()> {
        let (percent, finished_at) = (parameter("recrawl", "percent"), parameter("recrawl", "finished_at"));
        let now = Value::Number(i64::from(recrawl.shards_done * 100 / recrawl.shards.max(1)));
        let mut changes = Vec::new();
        if self.value(&percent).await? != Some(now) {
            // The next re-crawl starts at zero again, so this number may decrease.
            changes.push(Change::set(percent, now).moving_back());
        }
        let started = Value::Time(Timestamp::from_millisecond(recrawl.started.as_ms())?);
        // A short re-crawl begins and ends between two readings.
        if recrawl.done && self.value(&finished_at).await?.is_none_or(|told| told < started) {
            let seen = Timestamp::from_millisecond(self.offers.clock().now().as_ms())?;
            changes.push(Change::set(finished_at, Value::Time(seen)));
        }
        if changes.is_empty() {
            return Ok(());
        }
        forward_only(self.ctl.set(changes, AUTHOR, "").await)
    }

    async fn value(&self, parameter: &Parameter) -> anyhow::Result<Option<Value>> {
        Ok(self.ctl.get(parameter).await?.map(|current| current.value))
    }

    async fn forward(&self, entity: &str, name: &str, value: Value) -> anyhow::Result<()> {
        forward_only(self.ctl.set(vec![Change::set(parameter(entity, name), value)], AUTHOR, "").await)
    }
}

/// An error that the value would move back means that another process, or a clock that is ahead,
/// has set a later one. The later one is kept.
fn forward_only<T>(set: ctl::Result<T>) -> anyhow::Result<()> {
    match set {
        Ok(_) | Err(ctl::Error::MovesBack { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn parameter(entity: &str, name: &str) -> Parameter {
    Parameter { entity: format!("torg/{entity}"), name: name.to_owned() }
}

/// Values about feeds, set by the commit that ends a load.
pub(crate) struct FeedValues {
    ctl: Ctl,
}

impl FeedValues {
    pub(crate) fn new(ctl: Ctl) -> FeedValues {
        FeedValues { ctl }
    }

    /// The value with the time of a feed's last load.
    fn loaded_at(feed: &FeedName) -> Parameter {
        parameter(&format!("feeds/{}/{}", part(&feed.seller), part(&feed.namespace)), "loaded_at")
    }
}

/// A seller or a namespace as a part of a value's name. If it is too long or has other characters,
/// it is replaced and gets a hash that keeps it unique.
fn part(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    if text.len() <= PART_BYTES_MAX && text.chars().all(plain) {
        return text.to_owned();
    }
    let mut shown = String::new();
    for letter in text.chars().map(|letter| if plain(letter) { letter } else { '_' }) {
        if shown.len() + letter.len_utf8() > PART_BYTES_MAX - 9 {
            break;
        }
        shown.push(letter);
    }
    format!("{shown}-{:08x}", xxh3_64(text.as_bytes()) as u32)
}

#[async_trait]
impl LoadHook for FeedValues {
    async fn load_done(&self, feed: &FeedName, load: &Load, batch: &mut Batch) -> store::Result<()> {
        let ended = load.end_time.as_option().and_then(|time| messages::read_time(time).ok());
        let Some(mut ended) = ended else { return Ok(()) };
        let parameter = FeedValues::loaded_at(feed);
        for _ in 0..2 {
            let change = Change::set(parameter.clone(), Value::Time(ended));
            match self.ctl.add_to(batch, &[change], AUTHOR, &format!("load {}", load.number)).await {
                Ok(_) => return Ok(()),
                Err(ctl::Error::Store(error)) => return Err(error),
                // The previous load was ended by a process whose clock is ahead. This load must
                // still count as later.
                Err(ctl::Error::MovesBack { current: Value::Time(current), .. }) => {
                    ended = current.checked_add(1.millisecond()).unwrap_or(current);
                }
                // A value of another kind under this name must not block the load.
                Err(error) => {
                    tracing::warn!(%parameter, %error, "the end of a load is not told to tasks");
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seller_and_namespace_makes_the_name_of_a_value() {
        let name = |seller: &str, namespace: &str| {
            let feed = FeedName { seller: seller.to_owned(), namespace: namespace.to_owned() };
            let parameter = FeedValues::loaded_at(&feed);
            ctl::canonical(&parameter).unwrap().to_string()
        };
        assert_eq!(name("anna", "cars-1"), "torg/feeds/anna/cars-1.loaded_at");
        assert_eq!(name("anna", "машины"), "torg/feeds/anna/машины.loaded_at");
        assert!(name("a.b/c d", "cars").starts_with("torg/feeds/a_b_c_d-"));
        assert_ne!(name("a.b", "cars"), name("a/b", "cars"));
        name(&"x".repeat(300), &"ы".repeat(300));
    }
}
