//! What can go wrong.

use store::Row;
use triggers::{Kind, Parameter, Value};

use crate::limits::{AUTHOR_CHARS_MAX, CHANGES_MAX, REASON_CHARS_MAX};

/// The result of what is done with values.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not done. Of several changes at once, none was made then.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A row cannot be read.
    #[error("{place} cannot be read: {detail}")]
    Damaged {
        /// Which.
        place: String,
        /// Why.
        detail: String,
    },
    /// No parameter can be called that.
    #[error("{text:?} is no parameter: {what}; write entity.parameter or namespace/entity.parameter")]
    Name {
        /// The beginning of what was given.
        text: String,
        /// What is wrong with it.
        what: String,
    },
    /// Every change is somebody's.
    #[error("an author is needed: a name of 1 to {AUTHOR_CHARS_MAX} characters")]
    Author,
    /// A reason may be left out, but not be a book.
    #[error("the reason is too long: say it in at most {REASON_CHARS_MAX} characters")]
    Reason,
    /// More than [`CHANGES_MAX`].
    #[error("{0} changes at once are too many: make at most {CHANGES_MAX} in one call")]
    TooManyChanges(usize),
    /// It would not be clear which change counts.
    #[error("{0} is changed twice in one call: leave one of the two changes out")]
    Twice(Parameter),
    /// The caller has not allowed it.
    #[error(
        "{parameter} would move back from {current} to {wanted}: tasks that have seen {current} would not fire until it is passed again; \
         set at least {current}, or allow the value to move back"
    )]
    MovesBack {
        /// Which.
        parameter: Parameter,
        /// What it is.
        current: Value,
        /// What it was to become.
        wanted: Value,
    },
    /// A parameter is a time or a number for as long as it has a value.
    #[error(
        "{parameter} is {current}, {}, and cannot become {wanted}, {}: delete the value first if the parameter is to change its kind",
        kind(*current), kind(*wanted)
    )]
    OtherKind {
        /// Which.
        parameter: Parameter,
        /// What it is.
        current: Value,
        /// What it was to become.
        wanted: Value,
    },
    /// Somebody changed it since the caller looked.
    #[error(
        "{parameter} has version {actual} ({}), not {expected}: read it again, and decide again",
        shown(*current)
    )]
    OtherVersion {
        /// Which.
        parameter: Parameter,
        /// What the caller saw; zero is no value.
        expected: u64,
        /// What it has; zero is no value.
        actual: u64,
        /// What it is.
        current: Option<Value>,
    },
    /// It is not what the caller took it to be.
    #[error(
        "{parameter} is {}, not {}: read it again, and decide again",
        shown(*current), shown(*expected)
    )]
    OtherValue {
        /// Which.
        parameter: Parameter,
        /// What the caller took it to be.
        expected: Option<Value>,
        /// What it is.
        current: Option<Value>,
    },
    /// Others change the same values all the time.
    #[error("others change these values all the time: try again, with fewer values in one call")]
    Contended,
}

impl Error {
    /// Whether the same call may succeed later, with nothing changed by the caller.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Store(error) => error.is_passing(),
            other => matches!(other, Self::Contended),
        }
    }

    /// Whether somebody else was quicker: the caller reads again, and decides again.
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
