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

use crate::declared::{Declared, UnitSource};
use crate::error::Problems;

/// Reads a TOML file.
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

/// Calls `read` for every `[kind.id]` of a file in its order.
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
    let mut unit = UnitSource { named: reader.named(entry), quantity: "".into(), factor: 0.into() };
    for (key, value) in table {
        let field = Entry::new(key, value);
        match field.key {
            "measures" => unit.quantity = reader.text(&field).unwrap_or_default().into(),
            "factor" => unit.factor = reader.number(&field).unwrap_or(1.into()),
            _ if names::read(reader, &field, declared, &mut unit.named) => {}
            _ => reader.unknown_key(&field, &["name", "synonyms", "measures", "factor"]),
        }
    }
    if unit.quantity.is_empty() {
        reader.missing(entry, "measures", "a quantity such as `measures = \"length\"`");
    }
    if unit.factor <= 0.into() {
        reader.missing(entry, "factor", "its size in base units, above zero: `factor = 1000`");
    }
    declared.units.push(unit);
}

fn read_condition(reader: &mut Reader<'_>, entry: &Entry<'_>, declared: &mut Declared) {
    let Some(table) = reader.table(entry) else { return };
    let mut named = reader.named(entry);
    for (key, value) in table {
        let field = Entry::new(key, value);
        if !names::read(reader, &field, declared, &mut named) {
            reader.unknown_key(&field, &["name", "synonyms"]);
        }
    }
    declared.conditions.push(named);
}
