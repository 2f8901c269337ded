//! What commits show of the ad store's work, and what they must never show.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use feeds::FeedName;
use offers::StoredOffer;
use store::{Batch, KeyValue, Write};
use watcher::Entity as _;
use wire::torg::feeds::v1::__buffa::oneof::result_message::Content;
use wire::torg::feeds::v1::offer_result::Outcome;
use wire::torg::feeds::v1::result_message::BatchResult;
use wire::torg::feeds::v1::{Counts, Load, LoadProgress, ResultMessage};
use wire::torg::offers::v1::Status;

use super::file::Contents;
use crate::common::of_feed;

/// A load of a feed.
pub(crate) type LoadId = (FeedName, u64);

/// All that is known. Cheap to clone; all clones are one.
#[derive(Clone, Default)]
pub(crate) struct Evidence(Arc<Mutex<Inside>>);

#[derive(Default)]
pub(crate) struct Inside {
    /// What is in files, by their hash.
    pub(crate) files: BTreeMap<String, Contents>,
    /// The hash of a load's file.
    pub(crate) hashes: BTreeMap<LoadId, String>,
    pub(crate) loads: BTreeMap<LoadId, Happened>,
    /// The last load of a feed that the ad store has begun.
    begun: BTreeMap<FeedName, u64>,
    violations: Vec<String>,
}

/// What happened of a load.
#[derive(Clone, Debug, Default)]
pub(crate) struct Happened {
    pub(crate) counts: Counts,
    batches: BTreeSet<u32>,
}

/// What one commit wrote, as far as it matters.
#[derive(Default)]
struct Written {
    answers: Vec<ResultMessage>,
    offers: Vec<(u64, StoredOffer)>,
    progress: Option<(FeedName, LoadProgress)>,
    loads: Vec<Load>,
}

impl Evidence {
    pub(crate) fn look(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap()
    }

    /// What must never happen and did.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.look().violations.clone()
    }

    pub(crate) fn file(&self, text: &str, contents: Contents) {
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        self.look().files.insert(hash, contents);
    }

    /// A batch was applied.
    pub(crate) fn committed(&self, batch: &Batch) {
        let written = Written::of(batch);
        let mut inside = self.look();
        for load in &written.loads {
            inside.hashes.insert((name_of(&load.seller, &load.namespace), load.number), load.hash.clone());
        }
        if let Some((name, progress)) = &written.progress {
            let before = inside.begun.insert(name.clone(), progress.load);
            let is_later = before.is_none_or(|before| before <= progress.load);
            inside.must(is_later, || format!("{name:?}: load {} after {before:?}", progress.load));
        }
        let mut is_of_a_batch = false;
        for answer in &written.answers {
            if let Some(Content::Batch(result)) = &answer.content {
                is_of_a_batch = true;
                let id = (name_of(&answer.seller, &answer.namespace), answer.load);
                inside.applied(&id, result, &written);
            }
        }
        if !is_of_a_batch && !written.offers.is_empty() {
            inside.swept(&written);
        }
    }
}

impl Written {
    fn of(batch: &Batch) -> Self {
        let mut written = Self::default();
        for (key, write) in batch.writes() {
            let Write::Put { version, value } = write else { continue };
            match key.table().name {
                "feed_answers" => written.answers.push(read(value)),
                "feed_loads" => written.loads.push(read(value)),
                "feed_progress" => {
                    let values = key.values().unwrap();
                    let [_, KeyValue::Text(seller), KeyValue::Text(namespace)] = &*values else {
                        panic!("the key of a feed's progress: {values:?}")
                    };
                    written.progress = Some((name_of(seller, namespace), read(value)));
                }
                "offers" => written.offers.push((*version, StoredOffer::decode(value).unwrap())),
                _ => {}
            }
        }
        written
    }
}

impl Inside {
    fn must(&mut self, holds: bool, violation: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(violation());
        }
    }

    /// The ad store answers for a batch of a load: with what the same commit does, and for the
    /// first time.
    fn applied(&mut self, id: &LoadId, result: &BatchResult, written: &Written) {
        let told =
            |outcome| result.offers.iter().filter(|offer| offer.outcome.as_known() == Some(outcome)).count();
        let number = result.number;
        if written.progress.is_none() {
            let is_untouched =
                told(Outcome::OUTCOME_SUPERSEDED) == result.offers.len() && written.offers.is_empty();
            let by = self.begun.get(&id.0).copied();
            self.must(is_untouched && by > Some(id.1), || {
                format!("batch {number} of {id:?} is superseded by {by:?}")
            });
            return;
        }
        let happened = self.loads.entry(id.clone()).or_default();
        let is_new = happened.batches.insert(number);
        let is_next = happened.batches.len() == number as usize + 1;
        happened.counts.unchanged += u64::from(result.unchanged);
        for offer in &result.offers {
            count(&mut happened.counts, offer.outcome.as_known().unwrap());
        }
        self.must(is_new, || format!("batch {number} of {id:?} was applied twice"));
        self.must(is_next, || format!("batch {number} of {id:?} came before its turn"));
        let made = written.offers.iter().filter(|(version, _)| *version == 1).count();
        let done = (made, written.offers.len() - made);
        let said = (told(Outcome::OUTCOME_CREATED), told(Outcome::OUTCOME_CHANGED));
        self.must(said == done, || format!("batch {number} of {id:?} says {said:?} and does {done:?}"));
    }

    /// Offers were given up at the end of a load.
    fn swept(&mut self, written: &Written) {
        let Some((name, progress)) = &written.progress else {
            return self.must(false, || "offers change without a load".to_owned());
        };
        let id = (name.clone(), progress.load);
        for (_, stored) in &written.offers {
            let (namespace, external) = of_feed(&stored.offer).unwrap();
            let is_its_own = *name == name_of(&stored.offer.seller, &namespace);
            self.must(is_its_own, || {
                format!("{id:?} removes {external} of {}/{namespace}", stored.offer.seller)
            });
            let is_removed = stored.status() == Status::STATUS_REMOVED;
            self.must(is_removed, || format!("{id:?} makes {external} {:?}", stored.status()));
            let contents = self.contents(&id).clone();
            self.must(contents.whole, || {
                format!("{id:?} is of a file that is not whole, and removes {external}")
            });
            self.must(!contents.names(&external), || format!("{id:?} removes {external}, which it has"));
            self.loads.entry(id.clone()).or_default().counts.removed += 1;
        }
    }

    /// What is in the file of a load.
    pub(crate) fn contents(&self, id: &LoadId) -> &Contents {
        &self.files[&self.hashes[id]]
    }
}

fn count(counts: &mut Counts, outcome: Outcome) {
    *(match outcome {
        Outcome::OUTCOME_CREATED => &mut counts.created,
        Outcome::OUTCOME_CHANGED => &mut counts.changed,
        Outcome::OUTCOME_UNCHANGED => &mut counts.unchanged,
        Outcome::OUTCOME_REJECTED => &mut counts.rejected,
        other => panic!("nothing in these files leads to {other:?}"),
    }) += 1;
}

pub(crate) fn name_of(seller: &str, namespace: &str) -> FeedName {
    FeedName { seller: seller.to_owned(), namespace: namespace.to_owned() }
}

fn read<M: buffa::Message>(value: &Bytes) -> M {
    M::decode_from_slice(value).unwrap()
}
