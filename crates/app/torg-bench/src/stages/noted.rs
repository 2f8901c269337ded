//! A wrapper around a stage that records its visits and latencies.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use offers::StoredOffer;
use watcher::{Answer, Interest, Saved, Schedule, Stage, StageError, Subject, Time};

use super::base::number_of;
use crate::observe::{Log, Times};

/// The latencies of a stage's calls. Cheap to clone; all clones share them.
#[derive(Clone, Default)]
pub(super) struct Calls(Arc<Mutex<Vec<u64>>>);

impl Calls {
    fn note(&self, since: Instant) {
        let took = since.elapsed().as_micros().try_into().unwrap_or(u64::MAX);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(took);
    }

    /// Returns the latencies and clears them.
    pub(super) fn take(&self) -> Times {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }
}

/// Calls a stage and records the offers of its answers.
pub(super) struct Noted {
    pub(super) stage: Arc<dyn Stage<StoredOffer>>,
    pub(super) log: Log,
    pub(super) calls: Calls,
}

#[async_trait]
impl Stage<StoredOffer> for Noted {
    fn id(&self) -> &str {
        self.stage.id()
    }

    fn interest(&self) -> Interest {
        self.stage.interest()
    }

    fn visit_after_change(&self, entity: &StoredOffer, now: Time) -> Schedule {
        self.stage.visit_after_change(entity, now)
    }

    async fn process(&self, subject: &Subject<StoredOffer>) -> Result<Answer<StoredOffer>, StageError> {
        self.stage.process(subject).await
    }

    fn wants_saved(&self) -> bool {
        self.stage.wants_saved()
    }

    async fn on_saved_many(&self, saved: &[Saved<StoredOffer>]) -> Vec<Result<(), StageError>> {
        self.stage.on_saved_many(saved).await
    }

    async fn should_process_many(
        &self,
        subjects: &[Subject<StoredOffer>],
    ) -> Vec<Result<Schedule, StageError>> {
        self.stage.should_process_many(subjects).await
    }

    async fn process_many(
        &self,
        subjects: &[Subject<StoredOffer>],
    ) -> Vec<Result<Answer<StoredOffer>, StageError>> {
        let start = Instant::now();
        let answers = self.stage.process_many(subjects).await;
        self.calls.note(start);
        for (subject, answer) in subjects.iter().zip(&answers) {
            if answer.is_ok() {
                self.log.visit(number_of(&subject.entity));
            }
        }
        answers
    }
}
