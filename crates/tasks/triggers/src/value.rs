//! Parameters and values.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;

use crate::error::Error;
use crate::limits::{NAME_BYTES_MAX, VALUE_CHARS_SHOWN};

/// A property of an entity: `sales.loaded_to` is how far the sales were loaded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Parameter {
    pub entity: String,
    pub name: String,
}

impl fmt::Display for Parameter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.entity, self.name)
    }
}

/// Reads `entity.name`, split at the last dot: an entity may contain dots. Letters, digits, `_`,
/// `-` and `/` are allowed.
impl FromStr for Parameter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let shown = || text.chars().take(NAME_BYTES_MAX).collect::<String>();
        let refuse = |what| Err(Error::Parameter { text: shown(), what });
        let Some((entity, name)) = text.rsplit_once('.') else {
            return refuse("there is no dot in it");
        };
        if entity.len() > NAME_BYTES_MAX || name.len() > NAME_BYTES_MAX {
            return Err(Error::LongName { text: shown() });
        }
        if name.is_empty() || entity.split('.').any(str::is_empty) {
            return refuse("a part of it is empty");
        }
        let allowed = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '/' | '.');
        if !text.chars().all(allowed) {
            return refuse("only letters, digits, _, -, / and dots are allowed");
        }
        Ok(Self { entity: entity.to_owned(), name: name.to_owned() })
    }
}

/// The value of a parameter. As text: a moment in UTC, or the number;
/// [`Calendar::show`](crate::Calendar::show) shows moments in its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(untagged))]
pub enum Value {
    /// The data is complete up to this moment.
    Time(Timestamp),
    /// A count or a version.
    Number(i64),
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(out, "{time}"),
            Self::Number(number) => write!(out, "{number}"),
        }
    }
}

/// Reads a whole number, or a time by RFC 3339 with its offset.
impl FromStr for Value {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = text.parse().map(Self::Number).ok();
        let value = number.or_else(|| text.parse().map(Self::Time).ok());
        value.ok_or_else(|| Error::Value { text: text.chars().take(VALUE_CHARS_SHOWN).collect() })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Time,
    Number,
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Time => "a time",
            Self::Number => "a number",
        })
    }
}

impl Value {
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Time(_) => Kind::Time,
            Self::Number(_) => Kind::Number,
        }
    }
}

pub trait Values {
    /// The current value; `None` if it was never set, or was deleted.
    fn current(&self, of: &Parameter) -> Option<Value>;
    /// The value that the check saw whose run succeeded last; `None` if there is no such run, or it
    /// did not read the parameter.
    fn remembered(&self, of: &Parameter) -> Option<Value>;
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    pub current: BTreeMap<Parameter, Value>,
    pub remembered: BTreeMap<Parameter, Value>,
}

impl Values for Known {
    fn current(&self, of: &Parameter) -> Option<Value> {
        self.current.get(of).copied()
    }

    fn remembered(&self, of: &Parameter) -> Option<Value> {
        self.remembered.get(of).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_dot_divides_a_parameter() {
        let read: Parameter = "dwh.sales.loaded_to".parse().unwrap();
        assert_eq!((read.entity.as_str(), read.name.as_str()), ("dwh.sales", "loaded_to"));
        assert_eq!(read.to_string(), "dwh.sales.loaded_to");
    }

    #[test]
    fn a_value_is_read_as_it_is_shown() {
        let time: Value = "2021-04-25T03:00:00+03:00".parse().unwrap();
        assert_eq!(time.to_string(), "2021-04-25T00:00:00Z");
        assert_eq!("-7".parse(), Ok(Value::Number(-7)));
        assert!("7.5".parse::<Value>().unwrap_err().to_string().contains("neither"));
    }

    #[test]
    fn what_is_no_parameter_is_refused_with_the_reason() {
        for (text, reason) in [
            ("sales", "there is no dot"),
            ("", "there is no dot"),
            (".loaded_to", "a part of it is empty"),
            ("sales.", "a part of it is empty"),
            ("a..b", "a part of it is empty"),
            ("sales loaded.to", "only letters"),
        ] {
            let shown = text.parse::<Parameter>().map_err(|error| error.to_string());
            assert!(shown.as_ref().is_err_and(|shown| shown.contains(reason)), "{text}: {shown:?}");
        }
        assert!(matches!(format!("{}.b", "a".repeat(300)).parse::<Parameter>(), Err(Error::LongName { .. })));
    }
}
