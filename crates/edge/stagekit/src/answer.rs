//! What a stage answers.

use std::fmt;
use std::time::Duration;

use buffa::{Message, MessageName};
use buffa_types::google::protobuf::{Any, FieldMask, Timestamp as WireTime};
use jiff::Timestamp;
use serde::Serialize;

use crate::wire::__buffa::oneof::{answer::Change as WireChange, wish::Kind};
use crate::{Offer, state, wire};

/// Longer texts are cut: `torg explain` shows them in one line.
const MESSAGE_LENGTH_MAX: usize = 1000;

/// Why there is no answer for an offer. Errors of others become passing ones by `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It may work later: Torg tries again, with growing pauses.
    Passing(String),
    /// It will not work with this offer as it is: the visit is parked until the offer changes or somebody releases it.
    Lasting(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Passing(message) | Failure::Lasting(message)) = self;
        f.write_str(message)
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Passing(error.to_string())
    }
}

impl Failure {
    pub(crate) fn to_wire(&self) -> wire::Failure {
        wire::Failure {
            message: self.to_string().chars().take(MESSAGE_LENGTH_MAX).collect(),
            lasting: matches!(self, Failure::Lasting(_)),
            ..wire::Failure::default()
        }
    }
}

/// Whether a stage wants to visit an offer that has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Not because of this change.
    No,
    /// As soon as possible.
    Now,
    /// Then, never earlier.
    At(Timestamp),
}

impl Wish {
    pub(crate) fn to_wire(self) -> Kind {
        match self {
            Wish::No => Kind::No(Box::default()),
            Wish::Now => Kind::Now(Box::default()),
            Wish::At(moment) => Kind::At(Box::new(wire_time(moment))),
        }
    }
}

/// What a visit comes to: what becomes of the offer, of the stage's private state, and when it wants to come again.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct Answer {
    change: Change,
    state: StateChange,
    visit: Visit,
}

#[derive(Debug, Clone, Default, PartialEq)]
enum Change {
    #[default]
    Untouched,
    Patch(Vec<String>, Box<Offer>),
    Replace(Box<Offer>),
}

#[derive(Debug, Clone, Default, PartialEq)]
enum StateChange {
    #[default]
    Stays,
    Becomes(Any),
    Goes,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Visit {
    #[default]
    AfterChange,
    At(Timestamp),
    In(Duration),
}

impl Answer {
    /// The offer stays as it is.
    pub fn untouched() -> Answer {
        Answer::default()
    }

    /// These fields (`title`, `attributes.colour`) take the values that they have in `values`; those that are not set there are cleared.
    pub fn patch<F: Into<String>>(fields: impl IntoIterator<Item = F>, values: Offer) -> Answer {
        let fields = fields.into_iter().map(Into::into).collect();
        Answer { change: Change::Patch(fields, Box::new(values)), ..Answer::default() }
    }

    /// The offer becomes this. A patch is better: it survives what others change meanwhile.
    pub fn replace(offer: Offer) -> Answer {
        Answer { change: Change::Replace(Box::new(offer)), ..Answer::default() }
    }

    /// The private state from now on: anything of serde that has names. Without this it stays as it is. Numbers are floating-point: whole ones are exact up to 2^53.
    pub fn with_state(self, state: &impl Serialize) -> Result<Answer, Failure> {
        Ok(Answer { state: StateChange::Becomes(state::pack(state)?), ..self })
    }

    /// The private state from now on, as a message.
    pub fn with_message<M: Message + MessageName>(self, state: &M) -> Answer {
        Answer { state: StateChange::Becomes(state::pack_message(state)), ..self }
    }

    /// The private state goes.
    pub fn without_state(self) -> Answer {
        Answer { state: StateChange::Goes, ..self }
    }

    /// Come again then, whatever happens in between. Without this, only a change brings the stage back.
    pub fn visit_at(self, moment: Timestamp) -> Answer {
        Answer { visit: Visit::At(moment), ..self }
    }

    /// Come again after this time, counted from the subject's `now`.
    pub fn visit_in(self, time: Duration) -> Answer {
        Answer { visit: Visit::In(time), ..self }
    }

    /// As Torg is told, about this version of this offer.
    pub(crate) fn into_wire(self, offer: &Offer, now: Timestamp) -> Result<wire::Answer, Failure> {
        let visit_at = match self.visit {
            Visit::AfterChange => None,
            Visit::At(moment) => Some(moment),
            Visit::In(time) => Some(now.checked_add(time)?),
        };
        let change = match self.change {
            Change::Untouched => None,
            Change::Patch(paths, values) => Some(WireChange::Patch(Box::new(wire::Patch {
                fields: mask(paths).into(),
                values: (*values).into(),
                ..wire::Patch::default()
            }))),
            Change::Replace(offer) => Some(WireChange::Replace(offer)),
        };
        let clear_state = self.state == StateChange::Goes;
        let state = if let StateChange::Becomes(state) = self.state { Some(state) } else { None };
        Ok(wire::Answer {
            id: offer.id.clone(),
            version: offer.version,
            change,
            state: state.into(),
            clear_state,
            visit_at: visit_at.map(wire_time).into(),
            ..wire::Answer::default()
        })
    }
}

pub(crate) fn mask(paths: Vec<String>) -> FieldMask {
    FieldMask { paths, ..FieldMask::default() }
}

pub(crate) fn wire_time(moment: Timestamp) -> WireTime {
    // Both count nanoseconds; those of a moment before the epoch are negative here, and never on the wire.
    let nanos = moment.subsec_nanosecond();
    let before = i64::from(nanos < 0);
    WireTime {
        seconds: moment.as_second() - before,
        nanos: nanos + 1_000_000_000 * before as i32,
        ..WireTime::default()
    }
}

pub(crate) fn moment(time: &WireTime) -> Result<Timestamp, Failure> {
    Ok(Timestamp::new(time.seconds, time.nanos)?)
}
