//! Stages: code that may change an entity.

use async_trait::async_trait;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::join_all;

use crate::call::caught;
use crate::entity::Entity;
use crate::fields::Fields;
use crate::time::Time;

/// What a stage is shown: an entity, and the state that the stage keeps beside it.
#[derive(Clone, Debug)]
pub struct Subject<E> {
    /// The entity.
    pub entity: E,
    /// Its version.
    pub version: u64,
    /// The stage's private state; empty if there is none.
    pub state: Bytes,
    /// What time it is.
    pub now: Time,
}

/// Which changes a stage wants to hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interest {
    /// The fields whose change matters.
    pub fields: Fields,
    /// Whether the stage is asked ([`Stage::should_process`]) before it is visited. Otherwise a change of its fields is reason enough,
    /// and the visit is queued by the very commit that makes the change. A stage is not visited because of its own change unless it is asked.
    pub ask: bool,
    /// Further fields that the stage reads: a patch that was made while one of them changed is made again.
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

    /// Visited whenever one of these fields changes.
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

/// Whether a stage wants to visit an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Not because of this.
    No,
    /// As soon as possible.
    Now,
    /// At this time, never earlier.
    At(Time),
}

/// What a visit comes to.
#[derive(Clone, Debug)]
pub struct Answer<E> {
    /// What becomes of the entity.
    pub change: Change<E>,
    /// What becomes of the private state.
    pub state: NewState,
    /// When the stage wants to see the entity again, whatever happens in between.
    pub next: Option<Time>,
    /// The version from which the answer was made, if the stage says so: an answer that was made from another than the one that it was shown is
    /// a mistake of the stage.
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

    /// These fields take the values that they have in `values`.
    #[must_use]
    pub fn patch(fields: Fields, values: E) -> Self {
        Self { change: Change::Patch { fields, values }, ..Self::untouched() }
    }

    /// Keeps this state from now on.
    #[must_use]
    pub fn with_state(mut self, state: impl Into<Bytes>) -> Self {
        self.state = NewState::Set(state.into());
        self
    }

    /// Says from which version the answer was made.
    #[must_use]
    pub fn made_from(mut self, version: u64) -> Self {
        self.made_from = Some(version);
        self
    }

    /// Visits the entity again at this time.
    #[must_use]
    pub fn visit_at(mut self, time: Time) -> Self {
        self.next = Some(time);
        self
    }
}

/// What becomes of an entity.
#[derive(Clone, Debug)]
pub enum Change<E> {
    /// Nothing.
    Untouched,
    /// It becomes this.
    Replace(E),
    /// Some of its fields take new values. Unlike a whole new entity, a patch survives a change elsewhere that happens meanwhile.
    Patch {
        /// The fields.
        fields: Fields,
        /// An entity with the new values; its other fields do not matter.
        values: E,
    },
}

/// What becomes of a private state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewState {
    /// It stays.
    Keep,
    /// It becomes this; empty bytes are no state.
    Set(Bytes),
}

/// A saved change, for side effects.
#[derive(Clone, Debug)]
pub struct Saved<E> {
    /// The entity as it was saved.
    pub entity: E,
    /// Its version.
    pub version: u64,
    /// The stage's state as it was saved with it.
    pub state: Bytes,
}

/// Why a stage did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StageError {
    /// It may work later: the visit is tried again, with growing pauses.
    #[error("{0}")]
    Passing(String),
    /// It cannot be reached at all, which is no matter of the entity: the stage is taken to be down at once, and the visit loses no attempt.
    #[error("{0}")]
    Away(String),
    /// It will not work with this entity: the visit is parked until somebody releases it or the entity changes.
    #[error("{0}")]
    Lasting(String),
}

/// Code that may change an entity.
///
/// All methods but [`on_saved`](Self::on_saved) are pure: they may be called at any time, again with the same input, or for nothing.
#[async_trait]
pub trait Stage<E: Entity>: Send + Sync {
    /// The stage's name: unique in a watcher, and the same for ever.
    fn id(&self) -> &str;

    /// Which changes the stage wants to hear of.
    fn interest(&self) -> Interest {
        Interest::ask_about_all()
    }

    /// When the stage wants to visit an entity because one of its fields changed, if it is not asked ([`Interest::ask`]). It is called in the very commit that makes the change: it
    /// is quick, and goes by the entity alone. A stage that only waits for a time saves a visit by saying so. What the stage waits for already stays, if it is earlier.
    fn visit_after_change(&self, _entity: &E, _now: Time) -> Wish {
        Wish::Now
    }

    /// Whether the stage wants to visit an entity that has changed. An error counts as "now".
    async fn should_process(&self, _subject: &Subject<E>) -> Result<Wish, StageError> {
        Ok(Wish::Now)
    }

    /// Visits an entity.
    async fn process(&self, subject: &Subject<E>) -> Result<Answer<E>, StageError>;

    /// Whether [`on_saved`](Self::on_saved) is to be called.
    fn wants_saved(&self) -> bool {
        false
    }

    /// Hears that a change of this stage was saved: the place for side effects. Called at least once for each, in the order of versions of an entity.
    /// A lasting error means that the stage does not want to hear of this change again.
    async fn on_saved(&self, _saved: &Saved<E>) -> Result<(), StageError> {
        Ok(())
    }

    /// [`on_saved`](Self::on_saved) for many, at the same time: one answer for each, in the same order. A panic over one is no failure of the
    /// others. They are changes of different entities. A call that takes too long or gives another number of answers is made again, one by one.
    async fn on_saved_many(&self, saved: &[Saved<E>]) -> Vec<Result<(), StageError>> {
        let calls = saved.iter().map(|saved| caught(self.on_saved(saved)).map(Result::flatten));
        join_all(calls).await
    }

    /// [`should_process`](Self::should_process) for many, at the same time: one answer for each, in the same order.
    async fn should_process_many(&self, subjects: &[Subject<E>]) -> Vec<Result<Wish, StageError>> {
        let calls = subjects.iter().map(|subject| caught(self.should_process(subject)).map(Result::flatten));
        join_all(calls).await
    }

    /// [`process`](Self::process) for many, at the same time: one answer for each, in the same order. A panic over one is no failure of the others.
    async fn process_many(&self, subjects: &[Subject<E>]) -> Vec<Result<Answer<E>, StageError>> {
        let calls = subjects.iter().map(|subject| caught(self.process(subject)).map(Result::flatten));
        join_all(calls).await
    }
}
