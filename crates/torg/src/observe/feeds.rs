//! How all feeds fare. They are gone through some at a time, so that many of them cost no more than few; those with which something is wrong are looked at every time.

use std::collections::{BTreeMap, BTreeSet};

use contract::torg::feeds::v1::load::State;
use feeds::{Feeds, Surveyed};
use offers::autoload::FeedName;
use store::Key;

use super::limits::PROBLEMS_OF_A_KIND_MAX;
use super::names;
use super::sample::{Sample, label};

/// What is known of all feeds.
#[derive(Debug, Default)]
pub(super) struct FeedsSeen {
    /// Where the pass that is under way goes on.
    next: Option<Key>,
    /// What that pass has counted so far.
    counting: Counted,
    /// What the last pass counted, once there was one.
    counted: Option<Counted>,
    /// Feeds that could not be fetched, no more than are told.
    unreachable: BTreeMap<FeedName, Surveyed>,
    /// Feeds whose loads wait for a person, no more than are told.
    waiting: BTreeMap<FeedName, Surveyed>,
}

/// Feeds and loads.
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
    /// Looks at those with which something was wrong, and at some more.
    pub(super) async fn look(&mut self, feeds: &Feeds) -> feeds::Result<()> {
        let troubled: BTreeSet<FeedName> =
            self.unreachable.keys().chain(self.waiting.keys()).cloned().collect();
        if !troubled.is_empty() {
            let names: Vec<FeedName> = troubled.into_iter().collect();
            let surveyed = feeds.survey_of(&names).await?;
            self.unreachable.clear();
            self.waiting.clear();
            for feed in surveyed {
                self.note(&feed);
            }
        }
        // Should it fail, the pass goes on from here.
        let page = feeds.survey(self.next.clone()).await?;
        for feed in page.feeds {
            self.counting.add(&feed);
            self.note(&feed);
        }
        self.next = page.next;
        if self.next.is_none() {
            self.counted = Some(std::mem::take(&mut self.counting));
        }
        Ok(())
    }

    /// Nothing is known any more.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Those with which something is wrong.
    pub(super) fn troubled(&self) -> Vec<Surveyed> {
        let others = self.waiting.values().filter(|feed| !self.unreachable.contains_key(&feed.name));
        self.unreachable.values().chain(others).cloned().collect()
    }

    /// Remembers a feed with which something is wrong. Many of one kind leave room for the other.
    fn note(&mut self, feed: &Surveyed) {
        let keep = |kept: &mut BTreeMap<FeedName, Surveyed>| {
            // One more than are told: it says that there are more.
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

#[cfg(test)]
mod tests {
    use clock::Time;
    use feeds::{LastLoad, Unreachable};

    use super::*;

    #[test]
    fn many_feeds_that_cannot_be_fetched_do_not_hide_a_load_that_waits() {
        let feed = |namespace: String| Surveyed {
            name: FeedName { seller: "ann".to_owned(), namespace },
            queued: 0,
            last_load: None,
            unreachable: None,
        };
        let mut seen = FeedsSeen::default();
        for n in 0..3 * PROBLEMS_OF_A_KIND_MAX {
            let unreachable = Unreachable { time: Time::default(), text: "404".to_owned(), attempts: 2 };
            seen.note(&Surveyed { unreachable: Some(unreachable), ..feed(format!("n{n}")) });
        }
        let state = State::STATE_WAITING;
        let (created, would_remove, would_remove_of) = (Time::default(), 30, 40);
        let load = LastLoad { number: 7, state, created, would_remove, would_remove_of };
        seen.note(&Surveyed { last_load: Some(load), ..feed("waits".to_owned()) });
        let troubled = seen.troubled();
        assert_eq!(troubled.len(), PROBLEMS_OF_A_KIND_MAX + 2, "one more than are told, and the other");
        assert!(troubled.iter().any(|feed| feed.name.namespace == "waits"));
    }
}
