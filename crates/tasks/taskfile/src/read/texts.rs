//! Texts with variables: environments, headers, bodies.

use super::fields::entries;
use super::scalar;
use crate::limits::{PAIRS_MAX, TEXT_BYTES_MAX};
use crate::notes::Notes;
use crate::problem::Code;
use crate::template::{Template, TemplateError, is_variable};
use crate::yaml::Node;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn environment(notes: &mut Notes, node: &Node<'_>) -> BTreeMap<String, Template> {
    let mut found = BTreeMap::new();
    for (key, value) in pairs(notes, node, "`environment`", "NAME: value") {
        let name = key.as_text().unwrap_or_default();
        if !is_variable(name) {
            let message = format!("`{}` is no name of a variable", crate::quote(name));
            notes
                .error(Code::BadName, key.place, message)
                .remedy("letters, digits and `_`, and no digit first");
        } else if name.starts_with("TORG_") {
            let message = format!(
                "`{}` cannot be set: variables that begin with `TORG_` are Torg's own",
                crate::quote(name)
            );
            notes.error(Code::BadName, key.place, message).remedy("choose another name");
        } else if let Some(value) = template(notes, value, name) {
            found.insert(name.to_owned(), value);
        }
    }
    found
}

pub(super) fn headers(notes: &mut Notes, node: &Node<'_>) -> BTreeMap<String, Template> {
    let (mut found, mut names) = (BTreeMap::new(), BTreeSet::new());
    for (key, value) in pairs(notes, node, "`headers`", "name: value") {
        let name = key.as_text().unwrap_or_default();
        let lower = name.to_ascii_lowercase();
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(token) {
            let message = format!("`{}` is no name of a header", crate::quote(name));
            notes
                .error(Code::BadName, key.place, message)
                .remedy("letters, digits and `-`, such as `x-team`");
        } else if matches!(lower.as_str(), "content-length" | "transfer-encoding" | "connection" | "host") {
            notes
                .error(Code::BadName, key.place, format!("the header `{name}` is set by Torg"))
                .remedy("remove it");
        } else if !names.insert(lower.clone()) {
            let message = format!("the header `{name}` occurs twice: upper and lower case are the same");
            notes.error(Code::DuplicateKey, key.place, message).remedy("remove one of the two");
        } else if value.as_text().is_some_and(|text| text.contains(['\r', '\n'])) {
            notes
                .error(Code::WrongType, value.place, format!("the header `{name}` has several lines"))
                .remedy("write it in one line");
        } else if let Some(value) = template(notes, value, name) {
            found.insert(lower, value);
        }
    }
    found
}

fn pairs<'n, 't>(
    notes: &mut Notes,
    node: &'n Node<'t>,
    what: &str,
    form: &str,
) -> &'n [(Node<'t>, Node<'t>)] {
    let Some(entries) = entries(node) else {
        let message = format!("{what} is a mapping, not {}", node.what());
        notes.error(Code::WrongType, node.place, message).remedy(format!("write `{form}`"));
        return &[];
    };
    if entries.len() > PAIRS_MAX {
        notes.error(Code::TooLarge, node.place, format!("{what} has more than {PAIRS_MAX} entries"));
        return &[];
    }
    entries
}

pub(super) fn template(notes: &mut Notes, node: &Node<'_>, name: &str) -> Option<Template> {
    if node.is_null() {
        return Template::parse("").ok();
    }
    let text = scalar::text(notes, node, &format!("`{}`", crate::quote(name)), TEXT_BYTES_MAX)?;
    match Template::parse(text) {
        Ok(template) => {
            if template.is_written_secret(name) {
                notes.hide(node.place);
                let message =
                    format!("`{}` seems to be a secret that is written into the file", crate::quote(name));
                let remedy = "set it as an environment variable of Torg, and write `${NAME}` here";
                notes.warning(Code::WrittenSecret, node.place, message).remedy(remedy);
            }
            Some(template)
        }
        Err(error) => {
            let remedy = match &error {
                TemplateError::LoneDollar => {
                    "write `${NAME}` for an environment variable of Torg, and `$$` for a `$`"
                }
                TemplateError::Open => "close it: `${NAME}`",
                TemplateError::Name(_) => "letters, digits and `_`, and no digit first: `${NAME}`",
            };
            notes.refuse(
                Code::BadVariable,
                node.place,
                format!("in `{}`, {error}", crate::quote(name)),
                remedy,
            )
        }
    }
}
