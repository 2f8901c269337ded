//! A shadow: another version of a stage whose answers to the same visits are compared and not
//! applied.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use offers::StoredOffer;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use watcher::{Answer, Change, Entity as _, StageError, Subject, Time};

use crate::answers::Reader;
use crate::endpoint::message;
use crate::endpoints::Endpoints;
use crate::limits::{SHADOW_CALLS_MAX, SHADOW_EXAMPLES_MAX};
use crate::plugin::process;

/// Counts of equal and different answers of a stage and its shadow.
#[derive(Clone, Debug, Default)]
pub struct ShadowReport {
    pub same: u64,
    pub different: u64,
    pub failed: u64,
    /// Visits that were not compared because the shadow was too slow.
    pub left_out: u64,
    pub examples: VecDeque<ShadowExample>,
}

#[derive(Clone, Debug)]
pub struct ShadowExample {
    /// The offer before the visit.
    pub seen: StoredOffer,
    pub version: u64,
    /// The offer after the stage's answer.
    pub stage: StoredOffer,
    /// The offer after the shadow's answer, or its error.
    pub shadow: Result<StoredOffer, String>,
    pub state_differs: bool,
    /// The shadow's time of the next visit, if it differs from the stage's.
    pub visit_at: Option<Time>,
}

#[derive(Clone)]
pub(crate) struct Shadow {
    endpoints: Endpoints,
    reader: Reader,
    share: f64,
    calls: Arc<Semaphore>,
    report: Arc<Mutex<ShadowReport>>,
}

impl Shadow {
    pub(crate) fn new(endpoints: Endpoints, reader: Reader, share: f64) -> Self {
        let calls = Arc::new(Semaphore::new(SHADOW_CALLS_MAX));
        Self { endpoints, reader, share, calls, report: Arc::default() }
    }

    pub(crate) fn report(&self) -> ShadowReport {
        self.report.lock().clone()
    }

    /// Has the shadow visit the same offers in the background.
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
        let Ok(permit) = Arc::clone(&self.calls).try_acquire_owned() else {
            self.report.lock().left_out += subjects.len() as u64;
            return;
        };
        let shadow = self.clone();
        tokio::spawn(async move {
            let theirs = process(&shadow.endpoints, &shadow.reader, &subjects).await;
            let silent = |error| vec![Err(StageError::Passing(message(&error))); subjects.len()];
            let theirs = theirs.unwrap_or_else(silent);
            for ((subject, ours), theirs) in subjects.into_iter().zip(answers).zip(theirs) {
                shadow.note(subject, &ours, &theirs);
            }
            drop(permit);
        });
    }

    fn note(
        &self,
        subject: Subject<StoredOffer>,
        ours: &Result<Answer<StoredOffer>, StageError>,
        theirs: &Result<Answer<StoredOffer>, StageError>,
    ) {
        let Ok(ours) = ours else { return };
        let mut report = self.report.lock();
        match theirs {
            Err(_) => report.failed += 1,
            Ok(theirs) if is_same(&subject, ours, theirs) => {
                report.same += 1;
                return;
            }
            Ok(_) => report.different += 1,
        }
        let answered = theirs.as_ref().ok();
        let example = ShadowExample {
            state_differs: answered.is_some_and(|theirs| theirs.state != ours.state),
            visit_at: answered.and_then(|theirs| theirs.next).filter(|next| Some(*next) != ours.next),
            stage: after(&subject, ours),
            shadow: theirs.as_ref().map(|theirs| after(&subject, theirs)).map_err(ToString::to_string),
            version: subject.version,
            seen: subject.entity,
        };
        if report.examples.len() >= SHADOW_EXAMPLES_MAX {
            report.examples.pop_front();
        }
        report.examples.push_back(example);
    }
}

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

/// Whether two answers have the same offer, state and next visit as a result.
fn is_same(subject: &Subject<StoredOffer>, ours: &Answer<StoredOffer>, theirs: &Answer<StoredOffer>) -> bool {
    let (one, two) = (after(subject, ours), after(subject, theirs));
    StoredOffer::changed_fields(&one, &two).is_empty()
        && ours.state == theirs.state
        && ours.next == theirs.next
}

/// Whether an offer is in the sample. It depends on the id only, so that a change and its
/// consequences are both compared.
fn is_in_share(id: &str, share: f64) -> bool {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64 <= share
}
