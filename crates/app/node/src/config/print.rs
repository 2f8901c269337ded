//! Prints the effective configuration as a file that can be loaded again (`torg config`).

use std::fmt::Write as _;

use toml::{Table, Value};

use super::load::{Effective, Origin};
use super::secret::masked;

impl Effective {
    /// Valid TOML. A comment after each value that was set names its origin. Passwords are masked.
    pub fn to_toml(&self) -> String {
        let mut text = format!("# torg {}: the configuration in effect\n", env!("CARGO_PKG_VERSION"));
        self.section(&mut text, "", &self.table);
        text
    }

    /// The configuration for programs: `values` nested as in the file, and `origins` by key for
    /// values that were set. Passwords are masked.
    pub fn to_json(&self) -> serde_json::Value {
        let origins: serde_json::Map<_, _> =
            self.origins.iter().map(|(key, origin)| (key.clone(), origin.to_string().into())).collect();
        serde_json::json!({ "values": values("", &self.table), "origins": origins })
    }

    /// Number of values that were set explicitly.
    pub fn set_keys(&self) -> usize {
        self.origins.values().filter(|origin| !matches!(origin, Origin::Follows(_))).count()
    }

    fn section(&self, text: &mut String, section: &str, table: &Table) {
        let path =
            |name: &str| if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
        let (sections, values): (Vec<_>, Vec<_>) = table.iter().partition(|(_, value)| value.is_table());
        if !section.is_empty() && !values.is_empty() {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\n[{section}]\n");
        }
        for (name, value) in values {
            let key = path(name);
            let shown = match value {
                Value::String(value) => Value::from(masked(&key, value)),
                value => value.clone(),
            };
            let _ = write!(text, "{name} = {shown}");
            if let Some(origin) = self.origins.get(&key) {
                let _ = write!(text, "  # {origin}");
            }
            text.push('\n');
        }
        for (name, value) in sections {
            if let Value::Table(inner) = value {
                self.section(text, &path(name), inner);
            }
        }
    }
}

/// A section as JSON, with passwords masked.
fn values(section: &str, table: &Table) -> serde_json::Value {
    let shown = |(name, value): (&String, &Value)| {
        let key = if section.is_empty() { name.clone() } else { format!("{section}.{name}") };
        let value = match value {
            Value::Table(inner) => values(&key, inner),
            Value::String(text) => masked(&key, text).into(),
            // TOML and JSON agree on numbers, booleans and lists of strings.
            other => serde_json::to_value(other).unwrap_or_default(),
        };
        (name.clone(), value)
    };
    serde_json::Value::Object(table.iter().map(shown).collect())
}
