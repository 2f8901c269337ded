//! The state of all feeds, page by page, for monitoring.

use buffa::Message as _;
use offers::time::to_ms;
use store::{Key, Read as _, Row, Scan};
use watcher::Time;
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::{Feed, Fetch, Load, fetch};

use crate::error::{Result, damaged};
use crate::feed::load_key;
use crate::feeds::Feeds;
use crate::limits::SURVEYED_AT_ONCE_MAX;
use crate::loads;
use crate::name::FeedName;
use crate::tables::FEEDS;

#[derive(Clone, Debug, PartialEq)]
pub struct Surveyed {
    pub name: FeedName,
    /// Loads whose files wait to be read.
    pub queued: u64,
    /// `None` if there is no load yet.
    pub last_load: Option<LastLoad>,
    /// The last fetch, if it failed and the feed is fetched at all.
    pub unreachable: Option<Unreachable>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastLoad {
    pub number: u64,
    pub state: State,
    pub created: Time,
    /// Grows with every step; zero while the load is queued.
    pub done: u64,
    /// Offers that it would remove,
    pub would_remove: u64,
    /// of this many.
    pub would_remove_of: u64,
}

/// A feed that could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreachable {
    pub time: Time,
    pub text: String,
    /// Attempts since the last success.
    pub attempts: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurveyPage {
    pub feeds: Vec<Surveyed>,
    /// The cursor of the next page; `None` at the end.
    pub next: Option<Key>,
}

impl Feeds {
    /// The cursor of a feed, whether it exists or not.
    #[must_use]
    pub fn survey_cursor(&self, name: &FeedName) -> Key {
        let id = name.to_string();
        FEEDS.key((watcher::shard_of(&id, self.watcher().shards()), &*id))
    }

    /// The state of a page of all feeds after a cursor, in no meaningful order, with two reads.
    /// Damaged rows are skipped with a log line.
    pub async fn survey(&self, after: Option<Key>) -> Result<SurveyPage> {
        let mut scan = Scan::all(FEEDS.def()).limit(SURVEYED_AT_ONCE_MAX);
        if let Some(after) = after {
            scan = scan.after(after);
        }
        let page = self.store().scan(&scan).await?;
        Ok(SurveyPage { feeds: self.surveyed(&page.rows).await?, next: page.next })
    }

    /// The state of these feeds, without those that do not exist.
    pub async fn survey_of(&self, names: &[FeedName]) -> Result<Vec<Surveyed>> {
        let keys: Vec<Key> =
            names.iter().take(SURVEYED_AT_ONCE_MAX).map(|name| self.survey_cursor(name)).collect();
        let rows: Vec<Row> = self.store().get(&keys).await?.into_iter().flatten().collect();
        self.surveyed(&rows).await
    }

    async fn surveyed(&self, rows: &[Row]) -> Result<Vec<Surveyed>> {
        let feeds: Vec<Feed> = rows.iter().filter_map(read).collect();
        let last = |feed: &Feed| feed.keeping.as_option().map_or(0, |keeping| keeping.last_load);
        let with_loads: Vec<&Feed> = feeds.iter().filter(|feed| last(feed) > 0).collect();
        let keys: Vec<Key> = with_loads
            .iter()
            .map(|feed| load_key(self.seller_shard(&feed.seller), &FeedName::from(*feed), last(feed)))
            .collect();
        let mut loads = self.store().get(&keys).await?.into_iter();
        let mut surveyed = Vec::with_capacity(feeds.len());
        for feed in &feeds {
            let row = if last(feed) > 0 { loads.next().flatten() } else { None };
            let load = row.as_ref().and_then(read_load);
            let last_load = load.map(|load| LastLoad {
                number: load.number,
                state: load.state.as_known().unwrap_or_default(),
                created: Time::from_ms(load.create_time.as_option().map_or(0, to_ms)),
                done: done(&load),
                would_remove: load.would_remove,
                would_remove_of: load.would_remove_of,
            });
            surveyed.push(Surveyed {
                name: FeedName::from(feed),
                queued: queued(feed),
                last_load,
                unreachable: unreachable(feed),
            });
        }
        Ok(surveyed)
    }
}

fn read(row: &Row) -> Option<Feed> {
    let feed = Feed::decode_from_slice(&row.value).map_err(|error| damaged(row, error));
    feed.inspect_err(|error| tracing::warn!(%error, "cannot decode a feed for the survey")).ok()
}

fn read_load(row: &Row) -> Option<Load> {
    loads::read(row).inspect_err(|error| tracing::warn!(%error, "cannot decode a load for the survey")).ok()
}

/// The sum of the steps of reading, sending and applying.
fn done(load: &Load) -> u64 {
    let Some(keeping) = load.keeping.as_option() else { return 0 };
    let steps = [keeping.sent_batches, keeping.answered_batches, keeping.answered_parts];
    keeping.read_bytes.saturating_add(steps.iter().map(|step| u64::from(*step)).sum())
}

fn queued(feed: &Feed) -> u64 {
    let Some(keeping) = feed.keeping.as_option() else { return 0 };
    keeping.queue.iter().filter(|load| load.number > keeping.read_load).count() as u64
}

fn unreachable(feed: &Feed) -> Option<Unreachable> {
    use fetch::Outcome::{OUTCOME_FAILED, OUTCOME_FAILED_FOR_NOW};
    if feed.paused || !feed.link.is_set() {
        return None;
    }
    let Fetch { time, outcome, text, attempts, .. } = feed.last_fetch.as_option()?;
    let failed = matches!(outcome.as_known()?, OUTCOME_FAILED | OUTCOME_FAILED_FOR_NOW);
    let time = Time::from_ms(time.as_option().map_or(0, to_ms));
    failed.then(|| Unreachable { time, text: text.clone(), attempts: *attempts })
}
