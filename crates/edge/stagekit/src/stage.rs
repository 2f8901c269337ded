//! What a stage is, and what it is shown.

use async_trait::async_trait;
use buffa::{Message, MessageName};
use buffa_types::google::protobuf::Any;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::answer::mask;
use crate::{Answer, Failure, Offer, Wish, state, wire};

/// A stage. All methods but [`Stage::on_saved`] must be pure: Torg may call them at any time, again, at the same time on another instance, or for nothing, and
/// throws answers away. A panic counts as a passing failure of the offer at hand.
#[async_trait]
pub trait Stage: Send + Sync + 'static {
    /// What it is, and what it wants to hear of. The same at every call.
    fn describe(&self) -> Description;

    /// Whether it wants to visit an offer that has changed. Asked only of a stage that says [`Description::asked`].
    async fn should_process(&self, _subject: &Subject) -> Result<Wish, Failure> {
        Ok(Wish::Now)
    }

    /// Visits an offer.
    async fn process(&self, subject: &Subject) -> Result<Answer, Failure>;

    /// A change of this stage was saved: the place for side effects. Called at least once for each change, in the order of an offer's versions, if the stage says
    /// [`Description::hears_of_saves`]; the offer's id with its version names a change, should it come twice.
    async fn on_saved(&self, _saved: &Saved) -> Result<(), Failure> {
        Ok(())
    }
}

/// What a stage is and what it wants to hear of.
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
    /// `id`, under which Torg knows the stage: letters, digits, `-` and `_`; the same for ever. `version`, for people.
    pub fn new(id: impl Into<String>, version: impl Into<String>) -> Description {
        Description { id: id.into(), version: version.into(), ..Description::default() }
    }

    /// The fields whose change matters: `price`, `attributes`, `attributes.colour`. All, without this.
    pub fn interest<F: Into<String>>(self, fields: impl IntoIterator<Item = F>) -> Description {
        Description { fields: fields.into_iter().map(Into::into).collect(), ..self }
    }

    /// Further fields that the stage reads. A patch that was made while one of them changed is made again.
    pub fn reads<F: Into<String>>(self, fields: impl IntoIterator<Item = F>) -> Description {
        Description { inputs: fields.into_iter().map(Into::into).collect(), ..self }
    }

    /// The fields that it sets. Torg must have been told that it may.
    pub fn sets<F: Into<String>>(self, fields: impl IntoIterator<Item = F>) -> Description {
        Description { sets: fields.into_iter().map(Into::into).collect(), ..self }
    }

    /// It is asked by [`Stage::should_process`] before it visits.
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

/// What a stage is shown to decide upon.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// As every caller of the API sees it.
    pub offer: Offer,
    /// What time it is by Torg's clock. Use this instead of the machine's clock: then a visit can be repeated.
    pub now: Timestamp,
    pub(crate) state: Option<Any>,
}

impl Subject {
    /// An offer without a state.
    #[must_use]
    pub fn new(offer: Offer, now: Timestamp) -> Subject {
        Subject { offer, now, state: None }
    }

    /// With a private state beside the offer, for tests.
    pub fn with_state(self, state: &impl Serialize) -> Result<Subject, Failure> {
        Ok(Subject { state: Some(state::pack(state)?), ..self })
    }

    /// The private state that was saved by [`Answer::with_state`]; `None` if there is none.
    pub fn state<T: DeserializeOwned>(&self) -> Result<Option<T>, Failure> {
        state::unpack(self.state.as_ref())
    }

    /// The private state that was saved by [`Answer::with_message`]; `None` if there is none.
    pub fn message<M: Message + MessageName>(&self) -> Result<Option<M>, Failure> {
        state::unpack_message(self.state.as_ref())
    }
}

/// A change of this stage that was saved: the offer and the state as they were saved with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    /// With its new version.
    pub offer: Offer,
    pub(crate) state: Option<Any>,
}

impl Saved {
    /// The private state that was saved by [`Answer::with_state`]; `None` if there is none.
    pub fn state<T: DeserializeOwned>(&self) -> Result<Option<T>, Failure> {
        state::unpack(self.state.as_ref())
    }

    /// The private state that was saved by [`Answer::with_message`]; `None` if there is none.
    pub fn message<M: Message + MessageName>(&self) -> Result<Option<M>, Failure> {
        state::unpack_message(self.state.as_ref())
    }
}
