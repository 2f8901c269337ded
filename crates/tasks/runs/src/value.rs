//! Values of parameters, as runs see and set them.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::limits::NAME_BYTES_MAX;

/// The value of a parameter. As text and in JSON: a time by RFC 3339, or the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(i64),
    /// A moment.
    Time(Timestamp),
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(out, "{time}"),
            Self::Number(number) => write!(out, "{number}"),
        }
    }
}

impl FromStr for Value {
    /// What is wrong, for people.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(number) = text.parse() {
            return Ok(Self::Number(number));
        }
        let time = text.parse().map(Self::Time);
        time.map_err(|_| {
            let shown: String = text.chars().take(60).collect();
            format!("{shown:?} is neither a whole number nor a time such as 2021-04-25T00:00:00Z")
        })
    }
}

/// Values by the names of their parameters, such as `sales.loaded_to`.
pub type Values = BTreeMap<String, Value>;

/// What is wrong with the name of a parameter.
pub(crate) fn wrong_name(name: &str) -> Option<&'static str> {
    let allowed = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '/' | '.');
    if name.len() > NAME_BYTES_MAX {
        Some("the name is too long")
    } else if !name.contains('.') {
        Some("a parameter is written as entity.parameter, with a dot")
    } else if name.split('.').any(str::is_empty) {
        Some("a part of the name is empty")
    } else if !name.chars().all(allowed) {
        Some("only letters, digits, _, -, / and dots may stand in the name of a parameter")
    } else {
        None
    }
}

/// The variable that carries a parameter: `sales.loaded_to` is `TORG_VALUE_SALES_LOADED_TO`.
#[must_use]
pub fn variable(parameter: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' }
    };
    "TORG_VALUE_".chars().chain(parameter.chars().map(letter)).collect()
}

/// The variables that carry these values. Parameters whose names differ only in what a variable cannot show have none, for it would be
/// open whose value it is; they are told apart, by sentences for the log of the run.
pub(crate) fn variables(values: &Values) -> (BTreeMap<String, String>, Vec<String>) {
    let mut carried: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in values.keys() {
        carried.entry(variable(name)).or_default().push(name);
    }
    let mut notes = Vec::new();
    let mut variables = BTreeMap::new();
    for (variable, names) in carried {
        match names.as_slice() {
            [name] => {
                variables.insert(variable, values[*name].to_string());
            }
            names => notes.push(format!(
                "torg: {variable} is not set, it would stand for {}: read them from $TORG_VALUES_FILE",
                names.join(" and ")
            )),
        }
    }
    (variables, notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_number_or_a_time_in_text_and_in_json() {
        let time: Value = "2021-04-25T03:00:00+03:00".parse().unwrap();
        assert_eq!(time.to_string(), "2021-04-25T00:00:00Z");
        assert_eq!("-7".parse(), Ok(Value::Number(-7)));
        assert!("7.5".parse::<Value>().unwrap_err().contains("neither"));
        let both: Values = [("a.b".to_owned(), time), ("a.c".to_owned(), Value::Number(5))].into();
        let json = serde_json::to_string(&both).unwrap();
        assert_eq!(json, r#"{"a.b":"2021-04-25T00:00:00Z","a.c":5}"#);
        assert_eq!(serde_json::from_str::<Values>(&json).unwrap(), both);
    }

    #[test]
    fn parameters_that_would_share_a_variable_have_none_and_a_note_says_so() {
        let values = ["a-b.c", "a_b.c", "d.é/f"].map(|name| (name.to_owned(), Value::Number(1)));
        let (variables, notes) = variables(&values.into());
        assert_eq!(variables, [("TORG_VALUE_D___F".to_owned(), "1".to_owned())].into());
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("TORG_VALUE_A_B_C") && notes[0].contains("a-b.c and a_b.c"), "{notes:?}");
    }
}
