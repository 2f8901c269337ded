//! `torg config`: the configuration in effect as a file that can be used again.

use std::fmt::Write as _;

use toml::{Table, Value};

use super::load::Effective;
use super::secret::masked;

impl Effective {
    /// Valid TOML; a comment behind each value that was set tells from where; passwords are masked.
    pub(crate) fn to_toml(&self) -> String {
        let mut text = format!("# torg {}: the configuration in effect\n", env!("CARGO_PKG_VERSION"));
        self.section(&mut text, "", &self.table);
        text
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
