//! Surveys all feeds for problems within a time budget.
//!
//! A pass over all feeds runs in steps, each of which continues where the last one stopped, so a
//! step costs the same however many feeds there are. Feeds with a problem are checked in every
//! step.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use feeds::FeedName;
use feeds::{Feeds, LastLoad, SurveyPage, Surveyed};
use store::Key;
use tokio::time::Instant;
use wire::torg::feeds::v1::load::State;

use super::limits::{LOAD_STUCK_AFTER, PROBLEMS_OF_A_KIND_MAX};
use super::names;
use super::sample::{Sample, label};

/// The state of the survey.
#[derive(Debug, Default)]
pub(super) struct FeedsSeen {
    /// Where the current pass continues.
    next: Option<Key>,
    /// The totals of the current pass so far.
    counting: Counted,
    /// The totals of the last complete pass.
    counted: Option<Counted>,
    /// Feeds that could not be fetched. One more than is reported may be kept.
    unreachable: BTreeMap<FeedName, Surveyed>,
    /// Feeds whose loads wait for a person. One more than is reported may be kept.
    waiting: BTreeMap<FeedName, Surveyed>,
    /// Feeds with unfinished loads. One more than is reported may be kept; the others follow when
    /// there is room.
    under_way: BTreeMap<FeedName, UnderWay>,
}

/// An unfinished load and the time of its last progress.
#[derive(Debug)]
struct UnderWay {
    feed: Surveyed,
    since: Instant,
}

/// An unfinished load and how long it has made no progress.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stuck {
    pub(super) name: FeedName,
    pub(super) load: LastLoad,
    pub(super) for_long: Duration,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    feeds: u64,
    failing: u64,
    queued: u64,
    reading: u64,
    applying: u64,
    waiting: u64,
}

impl FeedsSeen {
    /// Checks the feeds with a problem or an unfinished load, then continues the pass over the
    /// others until `until`, at most once through all of them.
    pub(super) async fn look(&mut self, feeds: &Feeds, until: Instant) -> feeds::Result<()> {
        let watched = self.unreachable.keys().chain(self.waiting.keys()).chain(self.under_way.keys());
        let watched: BTreeSet<FeedName> = watched.cloned().collect();
        if !watched.is_empty() {
            let names: Vec<FeedName> = watched.into_iter().collect();
            self.again(&feeds.survey_of(&names).await?);
        }
        self.go_on(until, |next| feeds.survey(next)).await
    }

    /// Updates the watched feeds. Deleted feeds are dropped.
    fn again(&mut self, surveyed: &[Surveyed]) {
        self.unreachable.clear();
        self.waiting.clear();
        let under_way: BTreeSet<&FeedName> =
            surveyed.iter().filter(|feed| is_under_way(feed)).map(|feed| &feed.name).collect();
        self.under_way.retain(|name, _| under_way.contains(name));
        for feed in surveyed {
            self.note(feed);
        }
    }

    /// Continues the current pass until it is complete or `until` has passed. Reads at least one
    /// page.
    async fn go_on<F>(&mut self, until: Instant, survey: impl Fn(Option<Key>) -> F) -> feeds::Result<()>
    where
        F: Future<Output = feeds::Result<SurveyPage>>,
    {
        loop {
            // If this fails, the next step retries the same page.
            let page = survey(self.next.clone()).await?;
            for feed in page.feeds {
                self.counting.add(&feed);
                self.note(&feed);
            }
            self.next = page.next;
            if self.next.is_none() {
                self.counted = Some(std::mem::take(&mut self.counting));
                return Ok(());
            }
            if Instant::now() >= until {
                return Ok(());
            }
        }
    }

    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Feeds with a problem.
    pub(super) fn troubled(&self) -> Vec<Surveyed> {
        let others = self.waiting.values().filter(|feed| !self.unreachable.contains_key(&feed.name));
        self.unreachable.values().chain(others).cloned().collect()
    }

    /// The number of feeds, once a pass is complete.
    pub(super) fn count(&self) -> Option<u64> {
        self.counted.map(|counted| counted.feeds)
    }

    /// Loads without progress for too long.
    pub(super) fn stuck(&self) -> Vec<Stuck> {
        let stuck = self.under_way.iter().filter_map(|(name, UnderWay { feed, since })| {
            let for_long = since.elapsed();
            let load = feed.last_load.filter(|_| for_long >= LOAD_STUCK_AFTER)?;
            Some(Stuck { name: name.clone(), load, for_long })
        });
        stuck.collect()
    }

    /// Remembers a feed with a problem or an unfinished load. Each kind has its own limit, so that
    /// many of one kind do not displace the others.
    fn note(&mut self, feed: &Surveyed) {
        let keep = |kept: &mut BTreeMap<FeedName, Surveyed>| {
            // One more than is reported, to know that there are more.
            if kept.len() <= PROBLEMS_OF_A_KIND_MAX || kept.contains_key(&feed.name) {
                kept.insert(feed.name.clone(), feed.clone());
            }
        };
        if feed.unreachable.is_some() {
            keep(&mut self.unreachable);
        }
        if waits(feed) {
            keep(&mut self.waiting);
        }
        if is_under_way(feed) {
            self.watch(feed);
        }
    }

    /// Remembers when a load last made progress.
    fn watch(&mut self, feed: &Surveyed) {
        let is_full = self.under_way.len() > PROBLEMS_OF_A_KIND_MAX;
        match self.under_way.get(&feed.name) {
            Some(known) if known.feed.last_load == feed.last_load => {}
            None if is_full => {}
            _ => {
                let under_way = UnderWay { feed: feed.clone(), since: Instant::now() };
                self.under_way.insert(feed.name.clone(), under_way);
            }
        }
    }

    pub(super) fn tell(&self, sample: &mut Sample) {
        let Some(counted) = self.counted else { return };
        let Counted { feeds, failing, queued, reading, applying, waiting } = counted;
        sample.gauge(names::FEEDS, Vec::new(), feeds as f64);
        sample.gauge(names::FEEDS_FAILING, Vec::new(), failing as f64);
        let states = [("queued", queued), ("reading", reading), ("applying", applying), ("waiting", waiting)];
        for (state, loads) in states {
            sample.gauge(names::LOADS, label("state", state), loads as f64);
        }
        sample.gauge(names::LOADS_STUCK, Vec::new(), self.stuck().len() as f64);
    }
}

impl Counted {
    fn add(&mut self, feed: &Surveyed) {
        self.feeds += 1;
        self.failing += u64::from(feed.unreachable.is_some());
        self.queued += feed.queued;
        match feed.last_load.map(|load| load.state) {
            Some(State::STATE_READING) => self.reading += 1,
            Some(State::STATE_APPLYING) => self.applying += 1,
            Some(State::STATE_WAITING) => self.waiting += 1,
            _ => {}
        }
    }
}

fn waits(feed: &Surveyed) -> bool {
    feed.last_load.is_some_and(|load| load.state == State::STATE_WAITING)
}

fn is_under_way(feed: &Surveyed) -> bool {
    let under_way = [State::STATE_QUEUED, State::STATE_READING, State::STATE_APPLYING];
    feed.last_load.is_some_and(|load| under_way.contains(&load.state))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use clock::Time;
    use feeds::Unreachable;
    use store::Table;

    use super::*;

    static PAGES: Table<(u32,)> = Table::plain("pages", &["shard"]);

    fn feed(namespace: String) -> Surveyed {
        Surveyed {
            name: FeedName { seller: "ann".to_owned(), namespace },
            queued: 0,
            last_load: None,
            unreachable: None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn feeds_are_gone_through_as_long_as_there_is_time_and_then_from_there_on() {
        let (asked, mut seen) = (Cell::new(0), FeedsSeen::default());
        // Five pages, each of which takes a second.
        let survey = |next: Option<Key>| {
            asked.set(asked.get() + 1);
            let page = next.map_or(0, |next| PAGES.parts(&next).unwrap().0);
            async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                let next = (page < 4).then(|| PAGES.key((page + 1,)));
                Ok(SurveyPage { feeds: vec![feed(format!("n{page}"))], next })
            }
        };
        let until = |s| Instant::now() + Duration::from_secs(s);
        seen.go_on(until(2), survey).await.unwrap();
        assert_eq!((asked.get(), seen.counted), (2, None));
        seen.go_on(until(0), survey).await.unwrap();
        assert_eq!(asked.get(), 3, "one at least");
        seen.go_on(until(100), survey).await.unwrap();
        assert_eq!((asked.get(), seen.counted.unwrap().feeds), (5, 5), "once through all of them");
    }

    #[test]
    fn many_feeds_that_cannot_be_fetched_do_not_hide_a_load_that_waits() {
        let mut seen = FeedsSeen::default();
        for n in 0..3 * PROBLEMS_OF_A_KIND_MAX {
            let unreachable = Unreachable { time: Time::default(), text: "404".to_owned(), attempts: 2 };
            seen.note(&Surveyed { unreachable: Some(unreachable), ..feed(format!("n{n}")) });
        }
        let state = State::STATE_WAITING;
        let (created, would_remove, would_remove_of) = (Time::default(), 30, 40);
        let load = LastLoad { number: 7, state, created, done: 0, would_remove, would_remove_of };
        seen.note(&Surveyed { last_load: Some(load), ..feed("waits".to_owned()) });
        let troubled = seen.troubled();
        assert_eq!(troubled.len(), PROBLEMS_OF_A_KIND_MAX + 2, "one more than are told, and the other");
        assert!(troubled.iter().any(|feed| feed.name.namespace == "waits"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_load_is_stuck_for_which_nothing_is_done_until_something_is() {
        let load = |state, done| {
            let (created, would_remove, would_remove_of) = (Time::default(), 0, 0);
            let load = LastLoad { number: 7, state, created, done, would_remove, would_remove_of };
            Surveyed { last_load: Some(load), ..feed("n".to_owned()) }
        };
        let almost = LOAD_STUCK_AFTER.saturating_sub(Duration::from_secs(1));
        let mut seen = FeedsSeen::default();
        seen.note(&load(State::STATE_QUEUED, 0));
        tokio::time::advance(almost).await;
        seen.again(&[load(State::STATE_READING, 0)]);
        tokio::time::advance(almost).await;
        seen.again(&[load(State::STATE_READING, 5)]);
        tokio::time::advance(almost).await;
        seen.again(&[load(State::STATE_READING, 5)]);
        assert!(seen.stuck().is_empty());
        tokio::time::advance(Duration::from_secs(1)).await;
        seen.again(&[load(State::STATE_READING, 5)]);
        let stuck = seen.stuck();
        assert_eq!((stuck.len(), stuck[0].load.done, stuck[0].for_long), (1, 5, LOAD_STUCK_AFTER));
        seen.again(&[load(State::STATE_DONE, 9)]);
        assert!(seen.stuck().is_empty() && seen.under_way.is_empty());
        seen.note(&load(State::STATE_QUEUED, 0));
        seen.again(&[]);
        assert!(seen.under_way.is_empty(), "the feed is gone");
    }
}
