//! Values of parameters, as runs see and set them.

use std::collections::BTreeMap;

use triggers::Parameter;
use triggers::Value;

/// Values by parameter name, such as `sales.loaded_to`.
pub type Values = BTreeMap<String, Value>;

pub(crate) fn wrong_name(name: &str) -> Option<String> {
    name.parse::<Parameter>().err().map(|error| error.to_string())
}

/// The variable of a parameter: `TORG_VALUE_SALES_LOADED_TO` for `sales.loaded_to`.
#[must_use]
pub fn variable(parameter: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' }
    };
    "TORG_VALUE_".chars().chain(parameter.chars().map(letter)).collect()
}

/// The variables for these values. Parameters that would share a variable have none, because its
/// meaning would be ambiguous; the second result explains that for the log of the run.
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
    fn a_value_is_a_number_or_a_time_in_json() {
        let time: Value = "2021-04-25T03:00:00+03:00".parse().unwrap();
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
