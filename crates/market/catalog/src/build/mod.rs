//! Builds and checks a catalogue from the contents of its files.

mod attributes;
mod labels;
mod rules;
mod tree;

use std::sync::OnceLock;

use crate::catalogue::Catalogue;
use crate::declared::{Declared, Header};
use crate::error::{Problems, Result};
use crate::limits::LANGUAGES_MAX;
use crate::read::is_language;
use labels::Labeller;

/// Returns the catalogue, or all problems.
pub(crate) fn build(declared: Declared, mut problems: Problems) -> Result<Catalogue> {
    if problems.has_unreadable() {
        return Err(problems.into_error());
    }
    let languages = languages(&declared, &mut problems);
    let currencies = currencies(&declared.header, &mut problems);
    let version = version(&declared.header, &mut problems);
    let Declared { header, units, conditions, attributes, mut categories, extensions, .. } = declared;
    let labeller = Labeller::new(&declared.languages, &languages);

    let units = attributes::units(units, &labeller, &mut problems);
    let conditions = attributes::conditions(conditions, &labeller, &mut problems);
    let (attributes, attribute_ids) = attributes::attributes(attributes, &units, &labeller, &mut problems);

    let category_ids = tree::index(&mut categories, &mut problems);
    tree::extend(&mut categories, extensions, &category_ids, &mut problems);
    let shape = tree::shape(&categories, &category_ids, &mut problems);
    let parts =
        rules::Parts { attributes: &attributes, attribute_ids: &attribute_ids, conditions: &conditions };
    let (rules, rules_of) = rules::resolve(&header, &categories, &shape, &parts, &mut problems);
    let tree = tree::build(&categories, &shape, &rules_of, &category_ids, &labeller, &mut problems);
    if tree.nodes.is_empty() {
        problems.add(header.at.unwrap_or_default(), "there is no category", "add one: `[category.things]`");
    }
    problems.into_result()?;
    Ok(Catalogue {
        name: header.name.unwrap_or_else(|| "catalogue".into()),
        version,
        digest: 0,
        languages: languages.into(),
        currencies,
        conditions,
        units,
        attributes,
        attribute_ids,
        texts: tree.texts.into(),
        nodes: tree.nodes,
        names: tree.names,
        synonyms: tree.synonyms,
        children: tree.children,
        roots: tree.roots,
        category_ids,
        rules,
        search: OnceLock::new(),
    })
}

fn languages(declared: &Declared, problems: &mut Problems) -> Vec<Box<str>> {
    let at = declared.header.at.unwrap_or_default();
    let Some(listed) = &declared.header.languages else {
        problems.add(at, "the catalogue has no `languages`", "add `languages = [\"en\"]` to `[catalogue]`");
        return declared.languages.clone();
    };
    let mut languages: Vec<Box<str>> = Vec::new();
    for (code, at) in listed {
        if !is_language(code) || languages.contains(code) {
            problems.add(
                *at,
                format!("`{code}` is no language, or a duplicate"),
                "write codes such as en or ru",
            );
        } else {
            languages.push(code.clone());
        }
    }
    if languages.is_empty() || languages.len() > LANGUAGES_MAX {
        let advice = format!("list one to {LANGUAGES_MAX} languages");
        problems.add(at, "`languages` is empty or too long", advice);
        return declared.languages.clone();
    }
    for used in declared.languages.iter().filter(|used| !languages.contains(used)) {
        let advice = "list it in `languages`, or remove the names";
        problems.add(at, format!("there are names in `{used}`, which `languages` does not list"), advice);
    }
    languages
}

fn currencies(header: &Header, problems: &mut Problems) -> Box<[Box<str>]> {
    let listed = header.currencies.as_deref().unwrap_or_default();
    for (code, at) in listed {
        if code.len() != 3 || !code.bytes().all(|byte| byte.is_ascii_uppercase()) {
            problems.add(*at, format!("`{code}` is no currency"), "write three capital letters, such as EUR");
        }
    }
    listed.iter().map(|(code, _)| code.clone()).collect()
}

fn version(header: &Header, problems: &mut Problems) -> u32 {
    if header.version.is_none() {
        let at = header.at.unwrap_or_default();
        problems.add(at, "the catalogue has no `version`", "add a `[catalogue]` with `version = 1`");
    }
    header.version.unwrap_or(1)
}
