//! The trait of a stage and its inputs.

use async_trait::async_trait;
use buffa::{Message, MessageName};
use buffa_types::google::protobuf::Any;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::answer::mask;
use crate::{Answer, Failure, Offer, Schedule, state, wire};

/// A stage. All methods except [`Stage::on_saved`] must be pure: Torg may call them at any time,
/// repeatedly, concurrently on several instances, and may discard answers. A panic counts as a
/// passing failure.
#[async_trait]
pub trait Stage: Send + Sync + 'static {
    /// The description; the same at every call.
    fn describe(&self) -> Description;

    /// When to visit an offer that has changed. Called only with [`Description::asked`].
    async fn should_process(&self, _subject: &Subject) -> Result<Schedule, Failure> {
        Ok(Schedule::Now)
    }

    /// Visits an offer.
    async fn process(&self, subject: &Subject) -> Result<Answer, Failure>;

    /// Called after a change of this stage was saved: the place for side effects. With
    /// [`Description::hears_of_saves`] it is called at least once for each change, in the order of
    /// the offer's versions; id and version identify a change if it is repeated.
    async fn on_saved(&self, _saved: &Saved) -> Result<(), Failure> {
        Ok(())
    }
}

/// The description of a stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct Description {
    pub(crate) id: String,
    version: String,
    fields: Vec<String>,
    inputs: Vec<String>,
    ask: bool,
    wants_saved: bool,
    pub(crate) sets: Vec<String>,
}

impl Description {
    /// `id` identifies the stage: letters, digits, `-` and `_`; it must never change. `version` is
    /// for people.
    pub fn new(id: impl Into<String>, version: impl Into<String>) -> Description {
        Description { id: id.into(), version: version.into(), ..Description::default() }
    }

    /// The fields whose change triggers a visit: `price`, `attributes`, `attributes.colour`. All by
    /// default.
    pub fn interest<F: Into<String>>(self, fields: impl IntoIterator<Item = F>) -> Description {
        Description { fields: fields.into_iter().map(Into::into).collect(), ..self }
    }

    /// Further fields that the stage reads. If one changes during a visit, the visit is repeated.
    pub fn reads<F: Into<String>>(self, fields: impl IntoIterator<Item = F>) -> Description {
        Description { inputs: fields.into_iter().map(Into::into).collect(), ..self }
    }

    /// The fields that it sets. The registration must allow them.
    pub fn sets<F: Into<String>>(self, fields: impl IntoIterator<Item = F>) -> Description {
        Description { sets: fields.into_iter().map(Into::into).collect(), ..self }
    }

    /// [`Stage::should_process`] is called before a visit.
    pub fn asked(self) -> Description {
        Description { ask: true, ..self }
    }

    /// [`Stage::on_saved`] is called.
    pub fn hears_of_saves(self) -> Description {
        Description { wants_saved: true, ..self }
    }

    pub(crate) fn into_wire(self) -> wire::DescribeResponse {
        let interest = wire::Interest {
            fields: mask(self.fields).into(),
            inputs: mask(self.inputs).into(),
            ask: self.ask,
            ..wire::Interest::default()
        };
        wire::DescribeResponse {
            stage: self.id,
            version: self.version,
            interest: interest.into(),
            wants_saved: self.wants_saved,
            sets: mask(self.sets).into(),
            ..wire::DescribeResponse::default()
        }
    }
}

/// The input of a visit.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// As in the API.
    pub offer: Offer,
    /// Torg's clock. Use it instead of the machine's clock, so that a visit is repeatable.
    pub now: Timestamp,
    pub(crate) state: Option<Any>,
}

impl Subject {
    /// An offer without a state.
    #[must_use]
    pub fn new(offer: Offer, now: Timestamp) -> Subject {
        Subject { offer, now, state: None }
    }

    /// Adds a private state, for tests.
    pub fn with_state(self, state: &impl Serialize) -> Result<Subject, Failure> {
        Ok(Subject { state: Some(state::pack(state)?), ..self })
    }

    /// The private state saved by [`Answer::with_state`].
    pub fn state<T: DeserializeOwned>(&self) -> Result<Option<T>, Failure> {
        state::unpack(self.state.as_ref())
    }

    /// The private state saved by [`Answer::with_message`].
    pub fn message<M: Message + MessageName>(&self) -> Result<Option<M>, Failure> {
        state::unpack_message(self.state.as_ref())
    }
}

/// A saved change of this stage: the offer and the state.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    /// With its new version.
    pub offer: Offer,
    pub(crate) state: Option<Any>,
}

impl Saved {
    /// The private state saved by [`Answer::with_state`].
    pub fn state<T: DeserializeOwned>(&self) -> Result<Option<T>, Failure> {
        state::unpack(self.state.as_ref())
    }

    /// The private state saved by [`Answer::with_message`].
    pub fn message<M: Message + MessageName>(&self) -> Result<Option<M>, Failure> {
        state::unpack_message(self.state.as_ref())
    }
}
