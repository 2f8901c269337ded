//! What can go wrong.

use store::Row;
use triggers::{Kind, Parameter, Value};

use crate::limits::{AUTHOR_CHARS_MAX, CHANGES_MAX, REASON_CHARS_MAX};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not done. Of several changes in one call, none was made.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("{place} cannot be read: {detail}")]
    Damaged { place: String, detail: String },
    #[error("{text:?} is no parameter: {what}; write entity.parameter or namespace/entity.parameter")]
    Name { text: String, what: String },
    #[error("an author is needed: a name of 1 to {AUTHOR_CHARS_MAX} characters")]
    Author,
    #[error("the reason is too long: say it in at most {REASON_CHARS_MAX} characters")]
    Reason,
    #[error("{0} changes at once are too many: make at most {CHANGES_MAX} in one call")]
    TooManyChanges(usize),
    #[error("{0} is changed twice in one call: leave one of the two changes out")]
    Twice(Parameter),
    #[error(
        "{parameter} would move back from {current} to {wanted}: tasks that have seen {current} would not fire until it is passed again; \
         set at least {current}, or allow the value to move back"
    )]
    MovesBack { parameter: Parameter, current: Value, wanted: Value },
    #[error(
        "{parameter} is {current}, {}, and cannot become {wanted}, {}: delete the value first if the parameter is to change its kind",
        kind(*current), kind(*wanted)
    )]
    OtherKind { parameter: Parameter, current: Value, wanted: Value },
    /// It changed since the caller read it. Zero stands for no value.
    #[error(
        "{parameter} has version {actual} ({}), not {expected}: read it again, and decide again",
        shown(*current)
    )]
    OtherVersion { parameter: Parameter, expected: u64, actual: u64, current: Option<Value> },
    #[error(
        "{parameter} is {}, not {}: read it again, and decide again",
        shown(*current), shown(*expected)
    )]
    OtherValue { parameter: Parameter, expected: Option<Value>, current: Option<Value> },
    #[error("too many concurrent changes of these values: try again, with fewer values in one call")]
    Contended,
}

impl Error {
    /// Whether the same call may succeed later without any change by the caller.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Store(error) => error.is_passing(),
            other => matches!(other, Self::Contended),
        }
    }

    /// Whether a concurrent change came first: the caller should read and decide again.
    #[must_use]
    pub fn is_other(&self) -> bool {
        matches!(self, Self::OtherVersion { .. } | Self::OtherValue { .. })
    }
}

fn kind(value: Value) -> Kind {
    value.kind()
}

fn shown(value: Option<Value>) -> String {
    value.map_or_else(|| "no value".to_owned(), |value| value.to_string())
}

pub(super) fn damaged(row: &Row, detail: impl std::fmt::Display) -> Error {
    Error::Damaged { place: row.key.to_string(), detail: detail.to_string() }
}
