//! Reads the files of a catalogue into [`Declared`], with every problem's line.

mod attribute;
mod category;
mod header;
mod names;
mod reader;
mod taxonomy;

pub(crate) use names::is_language;
pub(crate) use reader::{Entry, Reader};
pub(crate) use taxonomy::read_taxonomy;

use crate::declared::{ConditionSource, Declared, UnitSource};
use crate::error::Problems;

/// Reads one file in the people's format (TOML).
pub(crate) fn read_toml(
    name: &str,
    text: &str,
    builtin: bool,
    declared: &mut Declared,
    problems: &mut Problems,
) {
    let mut reader = Reader::new(name, text, problems);
    let Some(document) = reader.parse(text) else { return };
    for (key, value) in &document {
        let entry = Entry::new(key, value);
        match entry.key {
            "catalogue" => header::read(&mut reader, &entry, builtin, declared),
            "unit" => each(&mut reader, &entry, declared, read_unit),
            "condition" => each(&mut reader, &entry, declared, read_condition),
            "attribute" => each(&mut reader, &entry, declared, attribute::read),
            "category" => each(&mut reader, &entry, declared, category::read),
            "extend" => each(&mut reader, &entry, declared, category::read_extension),
            _ => reader
                .unknown_key(&entry, &["catalogue", "unit", "condition", "attribute", "category", "extend"]),
        }
    }
}

/// Calls `read` for every `[kind.id]` of a file, in the file's order.
fn each(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    declared: &mut Declared,
    read: fn(&mut Reader<'_>, &Entry<'_>, &mut Declared),
) {
    let Some(table) = reader.table(entry) else { return };
    for (id, value) in table {
        let item = Entry::new(id, value);
        if reader.is_id(&item) {
            read(reader, &item, declared);
        }
    }
}

fn read_unit(reader: &mut Reader<'_>, entry: &Entry<'_>, declared: &mut Declared) {
    let Some(table) = reader.table(entry) else { return };
    let mut unit = UnitSource {
        id: entry.key.into(),
        at: reader.at(&entry.key_span),
        names: names::Names::new(),
        synonyms: names::Names::new(),
        quantity: "".into(),
        factor: 0.into(),
    };
    for (key, value) in table {
        let field = Entry::new(key, value);
        match field.key {
            "name" => unit.names = names::names(reader, &field, declared),
            "synonyms" => unit.synonyms = names::synonyms(reader, &field, declared),
            "measures" => unit.quantity = reader.text(&field).unwrap_or_default().into(),
            "factor" => unit.factor = reader.number(&field).unwrap_or(1.into()),
            _ => reader.unknown_key(&field, &["name", "synonyms", "measures", "factor"]),
        }
    }
    if unit.quantity.is_empty() {
        reader.missing(entry, "measures", "a quantity such as `measures = \"length\"`");
    }
    if unit.factor <= 0.into() {
        reader.missing(entry, "factor", "how many of the base unit it is, above zero: `factor = 1000`");
    }
    declared.units.push(unit);
}

fn read_condition(reader: &mut Reader<'_>, entry: &Entry<'_>, declared: &mut Declared) {
    let Some(table) = reader.table(entry) else { return };
    let (mut names, mut synonyms) = (names::Names::new(), names::Names::new());
    for (key, value) in table {
        let field = Entry::new(key, value);
        match field.key {
            "name" => names = names::names(reader, &field, declared),
            "synonyms" => synonyms = names::synonyms(reader, &field, declared),
            _ => reader.unknown_key(&field, &["name", "synonyms"]),
        }
    }
    let at = reader.at(&entry.key_span);
    declared.conditions.push(ConditionSource { id: entry.key.into(), at, names, synonyms });
}
