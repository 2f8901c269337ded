//! What callers ask for, and what came of it.

use triggers::{Parameter, Value};

use super::error::{Error, Result};

/// What a value must be for a change to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Its version is this; zero is no value.
    Version(u64),
    /// It is this; `None` is no value.
    Value(Option<Value>),
}

/// A change of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Of which parameter.
    pub parameter: Parameter,
    /// What it becomes; `None` deletes it.
    pub to: Option<Value>,
    /// What it must be before.
    pub expected: Option<Expected>,
    /// It may become less than it is.
    pub may_move_back: bool,
    /// It counts as a change even if it is this value already: it gets a new version, a row of the history and a mark.
    pub even_if_same: bool,
}

impl Change {
    /// Sets a value.
    #[must_use]
    pub fn set(parameter: Parameter, value: Value) -> Self {
        Self { parameter, to: Some(value), expected: None, may_move_back: false, even_if_same: false }
    }

    /// Deletes a value. One that is not there stays so, and nothing is changed.
    #[must_use]
    pub fn delete(parameter: Parameter) -> Self {
        Self { parameter, to: None, expected: None, may_move_back: false, even_if_same: false }
    }

    /// The same change, made only if the value is what the caller takes it to be.
    #[must_use]
    pub fn expecting(mut self, expected: Expected) -> Self {
        self.expected = Some(expected);
        self
    }

    /// The same change, also if the value becomes less than it is.
    #[must_use]
    pub fn moving_back(mut self) -> Self {
        self.may_move_back = true;
        self
    }

    /// The same change, also if the value is this already.
    #[must_use]
    pub fn even_if_same(mut self) -> Self {
        self.even_if_same = true;
        self
    }

    /// What the change does to a value of this version, or why it must not be made.
    pub(super) fn decide(&self, before: Option<Value>, version: u64) -> Result<Decided> {
        let parameter = || self.parameter.clone();
        let seen = if before.is_some() { version } else { 0 };
        match self.expected {
            Some(Expected::Version(expected)) if expected != seen => {
                let (parameter, current) = (parameter(), before);
                return Err(Error::OtherVersion { parameter, expected, actual: seen, current });
            }
            Some(Expected::Value(expected)) if expected != before => {
                return Err(Error::OtherValue { parameter: parameter(), expected, current: before });
            }
            _ => {}
        }
        let moved_back = match (before, self.to) {
            (Some(current), Some(wanted)) if current.kind() != wanted.kind() => {
                return Err(Error::OtherKind { parameter: parameter(), current, wanted });
            }
            (Some(current), Some(wanted)) if wanted < current && !self.may_move_back => {
                return Err(Error::MovesBack { parameter: parameter(), current, wanted });
            }
            (Some(current), Some(wanted)) => wanted < current,
            _ => false,
        };
        // What was never there cannot be deleted, however it is asked.
        let changed = before != self.to || (self.even_if_same && self.to.is_some());
        Ok(Decided { changed, moved_back })
    }
}

/// What a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decided {
    pub(super) changed: bool,
    pub(super) moved_back: bool,
}

/// What came of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Of which parameter, in its [canonical](super::canonical) form.
    pub parameter: Parameter,
    /// What it was.
    pub before: Option<Value>,
    /// What it is.
    pub after: Option<Value>,
    /// Its version now; of a value that was never set, zero.
    pub version: u64,
    /// Whether anything was changed; if not, it was this already.
    pub changed: bool,
    /// Whether it moved back.
    pub moved_back: bool,
}
