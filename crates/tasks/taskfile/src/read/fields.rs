//! The entries of a mapping; notes unknown keys.

use crate::keywords::Key;
use crate::location::Location;
use crate::notes::Notes;
use crate::problem::Code;
use crate::suggest;
use crate::yaml::{Kind, Node};

#[derive(Clone)]
pub(super) struct Fields<'n, 't> {
    entries: &'n [(Node<'t>, Node<'t>)],
    /// Keys that misspelt ones stand for: they are not reported as missing.
    misspelt: Vec<&'static str>,
    pub(super) place: Location,
}

impl<'n, 't> Fields<'n, 't> {
    /// The entries of a mapping. `what` names the mapping in messages: `a task`.
    pub(super) fn of(notes: &mut Notes, node: &'n Node<'t>, what: &str, keys: &[Key]) -> Option<Self> {
        let Some(entries) = entries(node) else {
            let names = keys.iter().map(|(name, _)| *name);
            let message = format!("{what} is a mapping, not {}", node.what());
            return notes.refuse(Code::WrongType, node.place, message, suggest::list(names, "its keys"));
        };
        let mut misspelt = Vec::new();
        for (key, value) in entries {
            let name = key.as_text().unwrap_or_default();
            if keys.iter().all(|(known, _)| *known != name) {
                misspelt.extend(unknown(notes, key, value, what, keys));
            }
        }
        Some(Self { entries, misspelt, place: node.place })
    }

    pub(super) fn get(&self, key: &str) -> Option<&'n Node<'t>> {
        self.entry(key).map(|(_, value)| value)
    }

    pub(super) fn entry(&self, key: &str) -> Option<&'n (Node<'t>, Node<'t>)> {
        self.entries.iter().find(|(name, _)| name.as_text() == Some(key))
    }

    /// The value of a required key; `at` is the location of the error if it is missing.
    pub(super) fn need(
        &self,
        notes: &mut Notes,
        key: &str,
        at: Location,
        what: &str,
        remedy: &str,
    ) -> Option<&'n Node<'t>> {
        let found = self.get(key);
        if found.is_none() && !self.misspelt.contains(&key) {
            notes.error(Code::MissingKey, at, format!("{what} has no `{key}`")).remedy(remedy);
        }
        found
    }
}

pub(super) fn entries<'n, 't>(node: &'n Node<'t>) -> Option<&'n [(Node<'t>, Node<'t>)]> {
    match &node.kind {
        Kind::Map(entries) => Some(entries),
        Kind::Scalar { .. } | Kind::List(_) => None,
    }
}

/// Notes an unknown key. Returns the key that was probably meant.
fn unknown(
    notes: &mut Notes,
    key: &Node<'_>,
    value: &Node<'_>,
    what: &str,
    keys: &[Key],
) -> Option<&'static str> {
    let name = key.as_text().unwrap_or_default();
    let known = keys.iter().map(|(known, _)| *known);
    let glued = name.split_once(':').filter(|_| value.is_null());
    let glued = glued.and_then(|(head, tail)| known.clone().find(|key| *key == head).map(|key| (key, tail)));
    let message = format!("{what} has no key `{}`", crate::quote(name));
    let problem = notes.error(Code::UnknownKey, key.place, message);
    if let Some((head, tail)) = glued {
        problem.remedy(format!("a space is missing behind the `:`: write `{head}: {}`", crate::quote(tail)));
        return Some(head);
    }
    problem.remedy(suggest::remedy(name, known.clone(), "its keys"));
    suggest::meant(name, known)
}
