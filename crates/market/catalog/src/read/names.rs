//! Names and synonyms by language.

use crate::declared::{Declared, EVERY_LANGUAGE, Language, Named, Names};
use crate::limits::NAME_CHARS_MAX;
use crate::text::echo;

use super::reader::{Entry, Reader};

/// Reads `name` and `synonyms`; `false` for other keys.
pub(crate) fn read(
    reader: &mut Reader<'_>,
    field: &Entry<'_>,
    declared: &mut Declared,
    named: &mut Named,
) -> bool {
    match field.key {
        "name" => named.names = names(reader, field, declared),
        "synonyms" => named.synonyms = synonyms(reader, field, declared),
        _ => return false,
    }
    true
}

/// `name = "BMW"` (the same in every language) or `name = { en = "Cars", ru = "Автомобили" }`.
pub(crate) fn names(reader: &mut Reader<'_>, entry: &Entry<'_>, declared: &mut Declared) -> Names {
    let mut names = Names::new();
    if let Some(text) = entry.value.get_ref().as_str() {
        push(reader, entry, EVERY_LANGUAGE, text, &mut names);
        return names;
    }
    let Some(table) = reader.table(entry) else { return names };
    for (code, value) in table {
        one_name(reader, &Entry::new(code, value), declared, &mut names);
    }
    names
}

/// `ru = "Автомобили"`
pub(crate) fn one_name(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    declared: &mut Declared,
    names: &mut Names,
) {
    let language = language(reader, entry, declared);
    if let (Some(language), Some(text)) = (language, reader.text(entry)) {
        push(reader, entry, language, text, names);
    }
}

/// `synonyms = ["MT"]` (in every language) or `synonyms = { en = ["car"], ru = ["машина"] }`.
pub(crate) fn synonyms(reader: &mut Reader<'_>, entry: &Entry<'_>, declared: &mut Declared) -> Names {
    let mut names = Names::new();
    if entry.value.get_ref().is_array() {
        list(reader, entry, EVERY_LANGUAGE, &mut names);
        return names;
    }
    let Some(table) = reader.table(entry) else { return names };
    for (code, value) in table {
        let by_language = Entry::new(code, value);
        if let Some(language) = language(reader, &by_language, declared) {
            list(reader, &by_language, language, &mut names);
        }
    }
    names
}

fn list(reader: &mut Reader<'_>, entry: &Entry<'_>, language: Language, names: &mut Names) {
    for (text, _) in reader.references(entry).unwrap_or_default() {
        push(reader, entry, language, &text, names);
    }
}

fn push(reader: &mut Reader<'_>, entry: &Entry<'_>, language: Language, text: &str, names: &mut Names) {
    if text.trim().is_empty() {
        reader.complain(&entry.value.span(), format!("`{}` is empty", entry.key), "give it a text");
    } else if text.chars().count() > NAME_CHARS_MAX {
        let what = format!("the name \"{}\" is too long", echo(text));
        reader.complain(&entry.value.span(), what, format!("use at most {NAME_CHARS_MAX} characters"));
    } else {
        names.push((language, text.trim().into()));
    }
}

pub(crate) fn is_language(code: &str) -> bool {
    (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn language(reader: &mut Reader<'_>, entry: &Entry<'_>, declared: &mut Declared) -> Option<Language> {
    let found = if is_language(entry.key) { declared.language(entry.key) } else { None };
    if found.is_none() {
        reader.complain(
            &entry.key_span,
            format!("`{}` is no language", echo(entry.key)),
            "write its code of two or three lower-case letters, such as en or ru; a catalogue has at most 16",
        );
    }
    found
}
