//! Answers of a stage.

use std::fmt;
use std::time::Duration;

use buffa::{Message, MessageName};
use buffa_types::google::protobuf::{Any, FieldMask, Timestamp as WireTime};
use jiff::Timestamp;
use serde::Serialize;

use crate::wire::__buffa::oneof::{answer::Change as WireChange, wish::Kind};
use crate::{Offer, state, wire};

/// Longer messages are truncated: `torg explain` shows them in one line.
const MESSAGE_LENGTH_MAX: usize = 1000;

/// Why a stage has no answer for an offer. `?` converts other errors to passing failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Temporary: Torg retries with back-off.
    Passing(String),
    /// Permanent for this version of the offer: the visit is parked until the offer changes or an
    /// operator releases it.
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

/// When a stage visits an offer that has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// No visit for this change.
    No,
    /// As soon as possible.
    Now,
    /// At this time, never earlier.
    At(Timestamp),
}

impl Schedule {
    pub(crate) fn to_wire(self) -> Kind {
        match self {
            Schedule::No => Kind::No(Box::default()),
            Schedule::Now => Kind::Now(Box::default()),
            Schedule::At(moment) => Kind::At(Box::new(wire_time(moment))),
        }
    }
}

/// The result of a visit: the change of the offer, the private state, the next visit.
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
    /// No change of the offer.
    pub fn untouched() -> Answer {
        Answer::default()
    }

    /// Sets these fields (`title`, `attributes.colour`) to their values in `values`; fields that
    /// are not set there are cleared.
    pub fn patch<F: Into<String>>(fields: impl IntoIterator<Item = F>, values: Offer) -> Answer {
        let fields = fields.into_iter().map(Into::into).collect();
        Answer { change: Change::Patch(fields, Box::new(values)), ..Answer::default() }
    }

    /// Replaces the offer. Prefer a patch: it survives concurrent changes.
    pub fn replace(offer: Offer) -> Answer {
        Answer { change: Change::Replace(Box::new(offer)), ..Answer::default() }
    }

    /// Sets the private state: any serde value with named fields. Numbers are floating-point:
    /// integers are exact up to 2^53.
    pub fn with_state(self, state: &impl Serialize) -> Result<Answer, Failure> {
        Ok(Answer { state: StateChange::Becomes(state::pack(state)?), ..self })
    }

    /// Sets the private state to a message.
    pub fn with_message<M: Message + MessageName>(self, state: &M) -> Answer {
        Answer { state: StateChange::Becomes(state::pack_message(state)), ..self }
    }

    /// Deletes the private state.
    pub fn without_state(self) -> Answer {
        Answer { state: StateChange::Goes, ..self }
    }

    /// Schedules the next visit. Without it, only a change triggers one.
    pub fn visit_at(self, moment: Timestamp) -> Answer {
        Answer { visit: Visit::At(moment), ..self }
    }

    /// Schedules the next visit after this time, from the subject's `now`.
    pub fn visit_in(self, time: Duration) -> Answer {
        Answer { visit: Visit::In(time), ..self }
    }

    /// The message for Torg about this version of the offer.
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
    // Before the epoch nanoseconds are negative here, never on the wire.
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
