//! Stages: code that visits entities and may change them.

use async_trait::async_trait;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::join_all;

use crate::call::caught;
use crate::entity::Entity;
use crate::fields::Fields;
use clock::Time;

/// What a stage is shown.
#[derive(Clone, Debug)]
pub struct Subject<E> {
    pub entity: E,
    pub version: u64,
    /// The private state of the stage beside the entity; empty if there is none.
    pub state: Bytes,
    pub now: Time,
}

/// The changes that concern a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interest {
    /// The fields whose change matters.
    pub fields: Fields,
    /// Whether the stage is asked ([`Stage::should_process`]) before a visit. Otherwise the commit
    /// that changes one of its fields enqueues the visit. A stage visits because of its own change
    /// only if it is asked.
    pub ask: bool,
    /// Further fields that the stage reads: a patch is made again if one of them changed meanwhile.
    pub inputs: Fields,
}

impl Interest {
    /// Asked about every change.
    #[must_use]
    pub fn ask_about_all() -> Self {
        Self { fields: Fields::all(), ask: true, inputs: Fields::all() }
    }

    /// Asked when one of these fields changes.
    #[must_use]
    pub fn ask_about(fields: Fields) -> Self {
        Self { inputs: fields.clone(), fields, ask: true }
    }

    /// Visits when one of these fields changes.
    #[must_use]
    pub fn visit_on(fields: Fields) -> Self {
        Self { inputs: fields.clone(), fields, ask: false }
    }

    /// Reads further fields, whose change alone is no reason for a visit.
    #[must_use]
    pub fn reading(mut self, inputs: &Fields) -> Self {
        self.inputs.extend_from(inputs);
        self
    }
}

/// When a stage wants to visit an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Not because of this change.
    No,
    Now,
    /// At this time, never earlier.
    At(Time),
}

/// The result of a visit.
#[derive(Clone, Debug)]
pub struct Answer<E> {
    pub change: Change<E>,
    pub state: NewState,
    /// When the stage wants to visit the entity again, whatever happens in between.
    pub next: Option<Time>,
    /// The version that the answer was made from, if the stage says so. Another version than the
    /// one shown is an error of the stage.
    pub made_from: Option<u64>,
}

impl<E> Answer<E> {
    /// Nothing changes.
    #[must_use]
    pub fn untouched() -> Self {
        Self { change: Change::Untouched, state: NewState::Keep, next: None, made_from: None }
    }

    /// The entity becomes this.
    #[must_use]
    pub fn replace(entity: E) -> Self {
        Self { change: Change::Replace(entity), ..Self::untouched() }
    }

    /// These fields take their values from `values`.
    #[must_use]
    pub fn patch(fields: Fields, values: E) -> Self {
        Self { change: Change::Patch { fields, values }, ..Self::untouched() }
    }

    /// Replaces the private state.
    #[must_use]
    pub fn with_state(mut self, state: impl Into<Bytes>) -> Self {
        self.state = NewState::Set(state.into());
        self
    }

    #[must_use]
    pub fn made_from(mut self, version: u64) -> Self {
        self.made_from = Some(version);
        self
    }

    /// Requests another visit at this time.
    #[must_use]
    pub fn visit_at(mut self, time: Time) -> Self {
        self.next = Some(time);
        self
    }
}

#[derive(Clone, Debug)]
pub enum Change<E> {
    Untouched,
    Replace(E),
    /// Some fields take new values. Unlike a replacement, a patch survives a concurrent change of
    /// other fields.
    Patch {
        fields: Fields,
        /// An entity with the new values; its other fields do not matter.
        values: E,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewState {
    Keep,
    /// Empty bytes are no state.
    Set(Bytes),
}

/// A saved change, for side effects.
#[derive(Clone, Debug)]
pub struct Saved<E> {
    pub entity: E,
    pub version: u64,
    /// The state that was saved with it.
    pub state: Bytes,
}

/// Why a stage did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StageError {
    /// May pass: the visit is tried again, with growing pauses.
    #[error("{0}")]
    Passing(String),
    /// The stage cannot be reached, which says nothing about the entity: the stage is down at once,
    /// and the visit loses no attempt.
    #[error("{0}")]
    Away(String),
    /// Does not pass: the visit is parked until it is released or the entity changes.
    #[error("{0}")]
    Lasting(String),
}

/// Code that may change an entity.
///
/// All methods but [`on_saved`](Self::on_saved) are pure: they may be called at any time, again
/// with the same input, or in vain.
#[async_trait]
pub trait Stage<E: Entity>: Send + Sync {
    /// Unique in a watcher, and never changes.
    fn id(&self) -> &str;

    /// The changes that concern the stage.
    fn interest(&self) -> Interest {
        Interest::ask_about_all()
    }

    /// When the stage wants to visit an entity because one of its fields changed, if it is not
    /// asked ([`Interest::ask`]). Called in the commit of the change: it must be quick and depend
    /// on the entity alone. A stage that only waits for a time saves a visit this way. An earlier
    /// visit that is queued stays.
    fn visit_after_change(&self, _entity: &E, _now: Time) -> Schedule {
        Schedule::Now
    }

    /// Whether the stage wants to visit an entity that changed. An error counts as "now".
    async fn should_process(&self, _subject: &Subject<E>) -> Result<Schedule, StageError> {
        Ok(Schedule::Now)
    }

    async fn process(&self, subject: &Subject<E>) -> Result<Answer<E>, StageError>;

    /// Whether [`on_saved`](Self::on_saved) is to be called.
    fn wants_saved(&self) -> bool {
        false
    }

    /// Called after a change of this stage was saved: the place for side effects. At least once for
    /// each change, in the order of the versions of an entity. A lasting error means that this
    /// change is not delivered again.
    async fn on_saved(&self, _saved: &Saved<E>) -> Result<(), StageError> {
        Ok(())
    }

    /// [`on_saved`](Self::on_saved) for changes of different entities, concurrently: one answer for
    /// each, in the same order. A panic over one does not fail the others. A call that times out or
    /// gives another number of answers is repeated one by one.
    async fn on_saved_many(&self, saved: &[Saved<E>]) -> Vec<Result<(), StageError>> {
        let calls = saved.iter().map(|saved| caught(self.on_saved(saved)).map(Result::flatten));
        join_all(calls).await
    }

    /// [`should_process`](Self::should_process) for many, concurrently: one answer for each, in
    /// order.
    async fn should_process_many(&self, subjects: &[Subject<E>]) -> Vec<Result<Schedule, StageError>> {
        let calls = subjects.iter().map(|subject| caught(self.should_process(subject)).map(Result::flatten));
        join_all(calls).await
    }

    /// [`process`](Self::process) for many, concurrently: one answer for each, in order. A panic
    /// over one does not fail the others.
    async fn process_many(&self, subjects: &[Subject<E>]) -> Vec<Result<Answer<E>, StageError>> {
        let calls = subjects.iter().map(|subject| caught(self.process(subject)).map(Result::flatten));
        join_all(calls).await
    }
}
