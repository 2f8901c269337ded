//! Attributes by the names that masks give them.

use std::collections::BTreeMap;

use wire::torg::offers::v1::Values;

use super::MaskError;
use super::tree::Branches;

type Attributes = BTreeMap<String, Values>;

/// A name in a mask.
enum Name<'a> {
    /// This attribute.
    Exact(&'a str),
    /// Perhaps it went through JSON: this attribute, or one that differs in case and in what parts its words.
    Loose(&'a str),
}

fn read(name: &str) -> Name<'_> {
    if let Some(quoted) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
        return Name::Exact(quoted);
    }
    let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if plain { Name::Loose(name) } else { Name::Exact(name) }
}

/// What two names have in common that differ in case and in what parts their words.
fn core(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Keeps the attributes that are named, all that a name can mean.
pub(super) fn keep(attributes: &mut Attributes, names: &Branches) {
    let (mut exact, mut loose) = (Vec::new(), Vec::new());
    for name in names.keys() {
        match read(name) {
            Name::Exact(name) => exact.push(name),
            Name::Loose(name) if attributes.contains_key(name) => exact.push(name),
            Name::Loose(name) => loose.push(core(name)),
        }
    }
    attributes.retain(|name, _| exact.contains(&&**name) || loose.contains(&core(name)));
}

/// The attributes that the names of a change mean, of those that the offer has or gets.
pub(super) fn find(names: &Branches, to: &Attributes, from: &Attributes) -> Result<Vec<String>, MaskError> {
    let mut found = Vec::new();
    for name in names.keys() {
        match read(name) {
            Name::Exact(name) => found.push(name.to_owned()),
            Name::Loose(name) if from.contains_key(name) => found.push(name.to_owned()),
            Name::Loose(name) => found.extend(alike(name, to, from)?),
        }
    }
    Ok(found)
}

/// The one attribute that a name can mean, if there is any.
fn alike(name: &str, to: &Attributes, from: &Attributes) -> Result<Option<String>, MaskError> {
    let wanted = core(name);
    let mut meant: Vec<String> =
        to.keys().chain(from.keys()).filter(|key| core(key) == wanted).cloned().collect();
    meant.sort();
    meant.dedup();
    if meant.len() > 1 {
        return Err(MaskError::Ambiguous { name: name.to_owned(), meant });
    }
    Ok(meant.pop())
}

/// Takes over attributes; those that the other does not have are removed.
pub(super) fn take(to: &mut Attributes, names: &[String], from: &Attributes) {
    for name in names {
        match from.get(name) {
            Some(values) => drop(to.insert(name.clone(), values.clone())),
            None => drop(to.remove(name)),
        }
    }
}
