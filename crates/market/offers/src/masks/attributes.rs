//! Attributes by their names in masks.

use std::collections::BTreeMap;

use wire::torg::offers::v1::Values;

use super::MaskError;
use super::tree::Branches;

type Attributes = BTreeMap<String, Values>;

enum Name<'a> {
    Exact(&'a str),
    /// May come from JSON: also matches names that differ in case and separators.
    Loose(&'a str),
}

fn parse(name: &str) -> Name<'_> {
    if let Some(quoted) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
        return Name::Exact(quoted);
    }
    let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if plain { Name::Loose(name) } else { Name::Exact(name) }
}

/// A name without case and separators.
fn normalized(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Removes the attributes that no name matches.
pub(super) fn retain(attributes: &mut Attributes, names: &Branches) {
    let mut exact = Vec::new();
    let mut loose = Vec::new();
    for name in names.keys() {
        match parse(name) {
            Name::Exact(name) => exact.push(name),
            Name::Loose(name) if attributes.contains_key(name) => exact.push(name),
            Name::Loose(name) => loose.push(normalized(name)),
        }
    }
    attributes.retain(|name, _| exact.contains(&&**name) || loose.contains(&normalized(name)));
}

/// The attributes of the offer before or after a change that the names match.
pub(super) fn find(names: &Branches, to: &Attributes, from: &Attributes) -> Result<Vec<String>, MaskError> {
    let mut found = Vec::new();
    for name in names.keys() {
        match parse(name) {
            Name::Exact(name) => found.push(name.to_owned()),
            Name::Loose(name) if from.contains_key(name) => found.push(name.to_owned()),
            Name::Loose(name) => found.extend(find_loose(name, to, from)?),
        }
    }
    Ok(found)
}

/// The attribute that a name matches loosely, if any; an error if there are several.
fn find_loose(name: &str, to: &Attributes, from: &Attributes) -> Result<Option<String>, MaskError> {
    let wanted = normalized(name);
    let mut meant: Vec<String> =
        to.keys().chain(from.keys()).filter(|key| normalized(key) == wanted).cloned().collect();
    meant.sort();
    meant.dedup();
    if meant.len() > 1 {
        return Err(MaskError::Ambiguous { name: name.to_owned(), meant });
    }
    Ok(meant.pop())
}

/// Copies attributes; those that `from` does not have are removed.
pub(super) fn copy(to: &mut Attributes, names: &[String], from: &Attributes) {
    for name in names {
        match from.get(name) {
            Some(values) => drop(to.insert(name.clone(), values.clone())),
            None => drop(to.remove(name)),
        }
    }
}
