//! What is known of data: a parameter of something, and its value.

use std::fmt;

use jiff::Timestamp;

/// Something that is known of an entity: `sales.loaded_to` is how far the sales were loaded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Parameter {
    /// Of what.
    pub entity: String,
    /// What.
    pub name: String,
}

impl fmt::Display for Parameter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.entity, self.name)
    }
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// A moment: data is there up to it.
    Time(Timestamp),
    /// A number: so many rows, a version.
    Number(i64),
}

/// What kind a value is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Moments.
    Time,
    /// Numbers.
    Number,
}

impl Value {
    /// Its kind.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Time(_) => Kind::Time,
            Self::Number(_) => Kind::Number,
        }
    }
}
