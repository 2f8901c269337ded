//! The names of all settings, derived from the serialised defaults.

use toml::{Table, Value};

use super::Config;

pub(super) const PREFIX: &str = "TORG_";

/// Variables of the command line, which are no settings.
pub(super) const OF_COMMANDS: &[&str] = &["TORG_CONFIG", "TORG_TOKEN", "TORG_CA_FILE", "TORG_STAGE_TOKEN"];

/// The defaults as a table, the form in which layers are merged.
pub(super) fn defaults() -> Table {
    match Value::try_from(Config::default()) {
        Ok(Value::Table(table)) => table,
        // Cannot fail: the defaults are built in, and a test serialises them.
        other => unreachable!("the default configuration is a table: {other:?}"),
    }
}

/// Every setting as a dotted path with its value, in the order of declaration.
pub(super) fn leaves(table: &Table) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (name, value) in table {
        match value {
            Value::Table(inner) => {
                found
                    .extend(leaves(inner).into_iter().map(|(path, value)| (format!("{name}.{path}"), value)));
            }
            value => found.push((name.clone(), value.clone())),
        }
    }
    found
}

pub(super) fn get<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    match path.split_once('.') {
        Some((section, rest)) => get(table.get(section)?.as_table()?, rest),
        None => table.get(path),
    }
}

/// Replaces the value at an existing dotted path.
pub(super) fn set(table: &mut Table, path: &str, value: Value) {
    match path.split_once('.') {
        Some((section, rest)) => {
            if let Some(inner) = table.get_mut(section).and_then(Value::as_table_mut) {
                set(inner, rest, value);
            }
        }
        None => {
            table.insert(path.to_owned(), value);
        }
    }
}

/// The environment variable of a key: `store.cache_mb` is `TORG_STORE_CACHE_MB`.
pub(super) fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "_").to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_key_has_an_environment_variable_of_its_own() {
        let keys = leaves(&defaults());
        let variables: BTreeSet<String> = keys.iter().map(|(key, _)| variable(key)).collect();
        assert_eq!(variables.len(), keys.len());
        assert!(variables.contains("TORG_STORE_CACHE_MB"));
        assert!(variables.contains("TORG_STORE_POSTGRES_COMMIT_LANES"));
    }
}
