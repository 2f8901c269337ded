//! What the rows of the store tell about all that happened.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use topics::{ReadLimit, Topics};
use watcher::{Entity, Time, shard_of};

use crate::common::Thing;
use crate::processes::serving::{SHARDS, TOPIC};

/// A change as the topic tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) version: u64,
    pub(crate) at: Time,
    /// The stage; empty for a change from outside.
    pub(crate) author: String,
    pub(crate) thing: Thing,
}

impl Change {
    /// The process in which a stage made the change.
    pub(crate) fn process(&self) -> Option<&str> {
        if self.author.is_empty() { None } else { self.thing.title.split(' ').nth(1) }
    }
}

/// What became of one entity.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Its changes, in the order of the topic, each once.
    pub(crate) changes: Vec<Change>,
    /// Messages that repeated what was there already: right behind the first, and behind later
    /// versions.
    pub(crate) repeated: usize,
    pub(crate) repeated_late: usize,
}

impl History {
    fn take(&mut self, change: Change) {
        match self.changes.iter().find(|before| before.version == change.version) {
            None => self.changes.push(change),
            Some(before) => {
                assert_eq!(*before, change, "what is sent again is the same");
                let is_last = self.changes.last().is_some_and(|last| last.version == change.version);
                *(if is_last { &mut self.repeated } else { &mut self.repeated_late }) += 1;
            }
        }
    }

    /// The longest time that a price, once saved, waited to be marked.
    pub(crate) fn longest_wait(&self) -> Duration {
        let mut longest = Duration::ZERO;
        for (n, saved) in self.changes.iter().enumerate().filter(|(_, change)| change.author.is_empty()) {
            let marks =
                |change: &&Change| !change.author.is_empty() && change.thing.price >= saved.thing.price;
            let marked = self.changes[n..].iter().find(marks).expect("every price is marked");
            longest = longest.max(marked.at.since(saved.at));
        }
        longest
    }

    /// The processes that changed the entity, in their order.
    pub(crate) fn processes(&self) -> Vec<&str> {
        let mut processes: Vec<&str> = self.changes.iter().filter_map(Change::process).collect();
        processes.dedup();
        processes
    }
}

/// All that the topic tells, by entity.
pub(crate) async fn histories(topics: &Topics) -> BTreeMap<String, History> {
    let mut histories: BTreeMap<String, History> = BTreeMap::new();
    for partition in 0..topics.partition_count(TOPIC).await.unwrap() {
        let mut next = 0;
        loop {
            let page = topics.read(TOPIC, partition, next, ReadLimit::messages(1000)).await.unwrap();
            if page.messages.is_empty() {
                break;
            }
            next = page.next;
            for message in page.messages.into_iter().map(|delivered| delivered.message) {
                let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
                let header = |name| text(message.header_value(name).unwrap());
                let change = Change {
                    version: header("version").parse().unwrap(),
                    at: Time::from_ms(message.time),
                    author: header("author"),
                    thing: Thing::decode(&message.payload).unwrap(),
                };
                histories.entry(text(&message.key)).or_default().take(change);
            }
        }
    }
    histories
}

/// Who had each shard, by epoch, as far as it was seen.
#[derive(Debug, Default)]
pub(crate) struct Owners(BTreeMap<u32, BTreeMap<u64, String>>);

impl Owners {
    pub(crate) fn note(&mut self, owners: BTreeMap<u32, (String, u64)>) {
        for (shard, (owner, epoch)) in owners {
            let before = self.0.entry(shard).or_default().insert(epoch, owner.clone());
            assert!(before.is_none_or(|before| before == owner), "one epoch, one owner");
        }
    }

    /// Whether an entity was changed by the owners of its shard only, each in its own time.
    pub(crate) fn explain(&self, id: &str, history: &History) -> bool {
        let mut owners: Vec<&str> = self.0[&shard_of(id, SHARDS)].values().map(String::as_str).collect();
        owners.dedup();
        let mut owners = owners.into_iter();
        history.processes().into_iter().all(|process| owners.any(|owner| owner == process))
    }
}

/// The changes of the stage that hears of its own, and those that it was told of.
pub(crate) fn unheard(histories: &BTreeMap<String, History>, said: &[String]) -> Vec<String> {
    let said: BTreeSet<&str> = said.iter().map(String::as_str).collect();
    let marks = histories.iter().flat_map(|(id, history)| {
        let marks = history.changes.iter().filter(|change| change.author == "marking");
        marks.map(move |change| format!("heard {id} {}", change.version))
    });
    marks.filter(|line| !said.contains(&**line)).collect()
}

#[test]
fn a_process_that_writes_when_its_time_is_over_is_noticed() {
    let marked = |version, process: &str| {
        let thing = Thing { title: format!("1 {process} 0"), ..Thing::new("a", 1) };
        Change { version, at: Time::from_ms(0), author: "marking".to_owned(), thing }
    };
    let history = |processes: &[&str]| {
        let mut history = History::default();
        (1..).zip(processes).for_each(|(version, process)| history.take(marked(version, process)));
        history
    };
    let shard = shard_of("a", SHARDS);
    let mut owners = Owners::default();
    for (epoch, owner) in [(1, "one"), (4, "two"), (7, "three")] {
        owners.note(BTreeMap::from([(shard, (owner.to_owned(), epoch))]));
    }
    for fine in [&["one", "one", "two", "three"][..], &["one", "three"], &[]] {
        assert!(owners.explain("a", &history(fine)), "{fine:?}");
    }
    for wrong in [&["one", "two", "one"][..], &["two", "one"], &["four"]] {
        assert!(!owners.explain("a", &history(wrong)), "{wrong:?}");
    }
}
