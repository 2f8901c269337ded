//! `torg config`: the configuration in effect as a file that can be used again.

use std::fmt::Write as _;

use toml::{Table, Value};

use super::load::{Effective, Origin};
use super::secret::masked;

impl Effective {
    /// Valid TOML; a comment behind each value that was set tells from where; passwords are masked.
    pub fn to_toml(&self) -> String {
        let mut text = format!("# torg {}: the configuration in effect\n", env!("CARGO_PKG_VERSION"));
        self.section(&mut text, "", &self.table);
        text
    }

    /// The same for programs: `values` as they are nested in the file, and `origins` of those that
    /// were set, by key.
    pub fn to_json(&self) -> serde_json::Value {
        let origins: serde_json::Map<_, _> =
            self.origins.iter().map(|(key, origin)| (key.clone(), origin.to_string().into())).collect();
        serde_json::json!({ "values": values("", &self.table), "origins": origins })
    }

    /// How many values were set by somebody.
    pub fn set_keys(&self) -> usize {
        self.origins.values().filter(|origin| !matches!(origin, Origin::Follows(_))).count()
    }

    fn section(&self, text: &mut String, section: &str, table: &Table) {
        let path =
            |name: &str| if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
        let (sections, values): (Vec<_>, Vec<_>) = table.iter().partition(|(_, value)| value.is_table());
        if !section.is_empty() && !values.is_empty() {
            // A `String` takes every write.
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

/// A section as JSON; passwords are masked.
fn values(section: &str, table: &Table) -> serde_json::Value {
    let shown = |(name, value): (&String, &Value)| {
        let key = if section.is_empty() { name.clone() } else { format!("{section}.{name}") };
        let value = match value {
            Value::Table(inner) => values(&key, inner),
            Value::String(text) => masked(&key, text).into(),
            // Numbers, words and lists of words: TOML and JSON agree on them.
            other => serde_json::to_value(other).unwrap_or_default(),
        };
        (name.clone(), value)
    };
    serde_json::Value::Object(table.iter().map(shown).collect())
}
