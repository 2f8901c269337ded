//! Changes of values, and their results.

use triggers::{Parameter, Value};

use super::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Its version; zero means no value.
    Version(u64),
    /// `None` means no value.
    Value(Option<Value>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub parameter: Parameter,
    pub to: Option<Value>,
    /// What it must be before.
    pub expected: Option<Expected>,
    /// Whether it may become smaller.
    pub may_move_back: bool,
    /// Whether it counts as a change even if the value stays the same: with a new version, a
    /// history entry and a mark.
    pub even_if_same: bool,
}

impl Change {
    #[must_use]
    pub fn set(parameter: Parameter, value: Value) -> Self {
        Self { parameter, to: Some(value), expected: None, may_move_back: false, even_if_same: false }
    }

    /// Deletes a value. Deleting a missing value changes nothing.
    #[must_use]
    pub fn delete(parameter: Parameter) -> Self {
        Self { parameter, to: None, expected: None, may_move_back: false, even_if_same: false }
    }

    /// The same change, applied only if the value is the expected one.
    #[must_use]
    pub fn expecting(mut self, expected: Expected) -> Self {
        self.expected = Some(expected);
        self
    }

    #[must_use]
    pub fn moving_back(mut self) -> Self {
        self.may_move_back = true;
        self
    }

    #[must_use]
    pub fn even_if_same(mut self) -> Self {
        self.even_if_same = true;
        self
    }

    /// What the change does to a value of this version, or why it is refused.
    pub(super) fn decide(&self, before: Option<Value>, version: u64) -> Result<Decision> {
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
        // A value that does not exist cannot be deleted.
        let changed = before != self.to || (self.even_if_same && self.to.is_some());
        Ok(Decision { changed, moved_back })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) changed: bool,
    pub(super) moved_back: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// In its [canonical](super::canonical) form.
    pub parameter: Parameter,
    pub before: Option<Value>,
    pub after: Option<Value>,
    /// The current version; zero if the value was never set.
    pub version: u64,
    /// False if it already had this value.
    pub changed: bool,
    pub moved_back: bool,
}
