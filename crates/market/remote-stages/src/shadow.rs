//! A shadow: another version of a stage that is shown the same, and whose answers are only compared.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offers::StoredOffer;
use tokio::sync::Semaphore;
use watcher::{Answer, Change, Entity as _, StageError, Subject, Time};

use crate::answers::Reader;
use crate::endpoint::words;
use crate::endpoints::Endpoints;
use crate::limits::{SHADOW_CALLS_MAX, SHADOW_EXAMPLES_MAX};
use crate::plugin::process;

/// How the answers of a shadow compare with those of its stage.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// So many were the same.
    pub same: u64,
    /// So many were different.
    pub different: u64,
    /// So many times the shadow did not answer.
    pub failed: u64,
    /// So many visits were not compared, because it could not keep up.
    pub left_out: u64,
    /// The last differences.
    pub examples: VecDeque<Example>,
}

/// A difference.
#[derive(Clone, Debug)]
pub struct Example {
    /// The offer as both were shown it.
    pub seen: StoredOffer,
    /// Its version.
    pub version: u64,
    /// What the stage made of it.
    pub stage: StoredOffer,
    /// What the shadow made of it, or why it made nothing of it.
    pub shadow: Result<StoredOffer, String>,
    /// Whether the shadow would keep another state.
    pub state_differs: bool,
    /// When the shadow would visit the offer again, if that is another time than the stage's.
    pub visit_at: Option<Time>,
}

/// Another version of a stage. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Shadow {
    endpoints: Endpoints,
    reader: Reader,
    share: f64,
    calls: Arc<Semaphore>,
    compared: Arc<Mutex<Compared>>,
}

impl Shadow {
    pub(crate) fn new(endpoints: Endpoints, reader: Reader, share: f64) -> Self {
        let (calls, compared) = (Arc::new(Semaphore::new(SHADOW_CALLS_MAX)), Arc::default());
        Self { endpoints, reader, share, calls, compared }
    }

    pub(crate) fn compared(&self) -> Compared {
        self.lock().clone()
    }

    /// Has the shadow visit the same offers, beside the work.
    pub(crate) fn compare(
        &self,
        subjects: &[Subject<StoredOffer>],
        answers: &[Result<Answer<StoredOffer>, StageError>],
    ) {
        let sees =
            |(subject, _): &(&Subject<StoredOffer>, _)| is_in_share(&subject.entity.offer.id, self.share);
        let pairs = subjects.iter().zip(answers).filter(sees);
        let (subjects, answers): (Vec<_>, Vec<_>) =
            pairs.map(|(subject, answer)| (subject.clone(), answer.clone())).unzip();
        if subjects.is_empty() {
            return;
        }
        let Ok(turn) = Arc::clone(&self.calls).try_acquire_owned() else {
            self.lock().left_out += subjects.len() as u64;
            return;
        };
        let shadow = self.clone();
        tokio::spawn(async move {
            let theirs = process(&shadow.endpoints, &shadow.reader, &subjects).await;
            let silent = |error| vec![Err(StageError::Passing(words(&error))); subjects.len()];
            let theirs = theirs.unwrap_or_else(silent);
            for ((subject, ours), theirs) in subjects.into_iter().zip(answers).zip(theirs) {
                shadow.note(subject, &ours, &theirs);
            }
            drop(turn);
        });
    }

    fn note(
        &self,
        subject: Subject<StoredOffer>,
        ours: &Result<Answer<StoredOffer>, StageError>,
        theirs: &Result<Answer<StoredOffer>, StageError>,
    ) {
        let mut compared = self.lock();
        let (ours, theirs) = match (ours, theirs) {
            // Nothing to compare with.
            (Err(_), _) => return,
            (Ok(_), Err(_)) => {
                compared.failed += 1;
                (ours, theirs)
            }
            (Ok(ours), Ok(theirs)) if is_same(&subject, ours, theirs) => {
                compared.same += 1;
                return;
            }
            (Ok(_), Ok(_)) => {
                compared.different += 1;
                (ours, theirs)
            }
        };
        let Ok(ours) = ours else { return };
        let answered = theirs.as_ref().ok();
        let example = Example {
            state_differs: answered.is_some_and(|theirs| theirs.state != ours.state),
            visit_at: answered.and_then(|theirs| theirs.next).filter(|next| Some(*next) != ours.next),
            stage: after(&subject, ours),
            shadow: theirs.as_ref().map(|theirs| after(&subject, theirs)).map_err(ToString::to_string),
            version: subject.version,
            seen: subject.entity,
        };
        if compared.examples.len() >= SHADOW_EXAMPLES_MAX {
            compared.examples.pop_front();
        }
        compared.examples.push_back(example);
    }

    fn lock(&self) -> MutexGuard<'_, Compared> {
        self.compared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The offer after an answer.
fn after(subject: &Subject<StoredOffer>, answer: &Answer<StoredOffer>) -> StoredOffer {
    match &answer.change {
        Change::Untouched => subject.entity.clone(),
        Change::Replace(after) => after.clone(),
        Change::Patch { fields, values } => {
            let mut after = subject.entity.clone();
            after.take_fields(fields, values);
            after
        }
    }
}

/// Whether two answers come to the same: the same offer, the same state, the same next visit.
fn is_same(subject: &Subject<StoredOffer>, ours: &Answer<StoredOffer>, theirs: &Answer<StoredOffer>) -> bool {
    let (one, two) = (after(subject, ours), after(subject, theirs));
    StoredOffer::changed_fields(&one, &two).is_empty()
        && ours.state == theirs.state
        && ours.next == theirs.next
}

/// Whether an offer belongs to a share of all: always the same ones, so that a change and what follows from it are both compared.
fn is_in_share(id: &str, share: f64) -> bool {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64 <= share
}
