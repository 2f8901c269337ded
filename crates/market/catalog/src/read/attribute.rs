//! `[attribute.id]`.

use crate::declared::{AttributeSource, BoundsSource, Declared, Named, TypeName};
use crate::limits::{ATTRIBUTE_VALUES_MAX, DECIMAL_SCALE_MAX};

use super::names;
use super::reader::{Entry, Reader};

const TEXT_CHARS_MAX: u32 = 10_000;
const KEYS: [&str; 11] = [
    "name",
    "synonyms",
    "type",
    "unit",
    "values",
    "min",
    "max",
    "length",
    "scale",
    "characters",
    "max-values",
];

pub(crate) fn read(reader: &mut Reader<'_>, entry: &Entry<'_>, declared: &mut Declared) {
    let Some(table) = reader.table(entry) else { return };
    let mut type_name = None;
    let mut attribute = AttributeSource {
        named: reader.named(entry),
        type_name: TypeName::Text,
        bounds: BoundsSource::default(),
        unit: None,
        values: Vec::new(),
    };
    for (key, value) in table {
        let field = Entry::new(key, value);
        match field.key {
            "unit" => attribute.unit = reader.reference(&field),
            "values" => attribute.values = read_values(reader, &field, declared),
            "type" => type_name = read_type(reader, &field),
            _ if names::read(reader, &field, declared, &mut attribute.named) => {}
            _ if read_bound(reader, &field, &mut attribute.bounds) => {}
            _ => reader.unknown_key(&field, &KEYS),
        }
    }
    match type_name {
        Some(type_name) => attribute.type_name = type_name,
        None if !table.contains_key("type") => reader.missing(entry, "type", "a type: `type = \"text\"`"),
        None => {}
    }
    declared.attributes.push(attribute);
}

fn read_type(reader: &mut Reader<'_>, field: &Entry<'_>) -> Option<TypeName> {
    let span = field.value.span();
    let text = reader.text(field)?;
    let found = TypeName::ALL.into_iter().find(|(name, _)| *name == text).map(|(_, type_name)| type_name);
    if found.is_none() {
        let known = TypeName::ALL.into_iter().map(|(name, _)| name);
        let otherwise = "types are: text, whole, decimal, yes-no, date, one, several";
        let at = reader.at(&span);
        reader.problems.add_unknown(at, format!("unknown type `{text}`"), text, known, otherwise);
    }
    found
}

/// Reads a key that bounds values; `false` for other keys.
pub(crate) fn read_bound(reader: &mut Reader<'_>, field: &Entry<'_>, bounds: &mut BoundsSource) -> bool {
    let at = reader.at(&field.key_span);
    match field.key {
        "min" => bounds.min = reader.scalar(field).map(|value| (value, at)),
        "max" => bounds.max = reader.scalar(field).map(|value| (value, at)),
        "length" => {
            bounds.length = reader.bounds(field, TEXT_CHARS_MAX).map(|(least, most)| (least, most, at));
        }
        "scale" => {
            let allowed = 1..i64::from(DECIMAL_SCALE_MAX) + 1;
            bounds.scale = reader.whole(field, allowed).map(|scale| (scale as u8, at));
        }
        "characters" => bounds.characters = reader.reference(field),
        "max-values" => {
            let allowed = 1..ATTRIBUTE_VALUES_MAX as i64 + 1;
            bounds.max_values = reader.whole(field, allowed).map(|count| (count as u16, at));
        }
        _ => return false,
    }
    true
}

/// `[attribute.id.values]`: a table from ids to names, or to tables with `en`, `ru`, ... and
/// `also`.
fn read_values(reader: &mut Reader<'_>, field: &Entry<'_>, declared: &mut Declared) -> Vec<Named> {
    let Some(table) = reader.table(field) else { return Vec::new() };
    let mut values = Vec::with_capacity(table.len());
    for (id, value) in table {
        let item = Entry::new(id, value);
        if !reader.is_id(&item) {
            continue;
        }
        values.push(read_value(reader, &item, declared));
    }
    values
}

fn read_value(reader: &mut Reader<'_>, item: &Entry<'_>, declared: &mut Declared) -> Named {
    let mut named = reader.named(item);
    let Some(table) = item.value.get_ref().as_table() else {
        named.names = names::names(reader, item, declared);
        return named;
    };
    for (key, value) in table {
        let field = Entry::new(key, value);
        if field.key == "also" {
            named.synonyms = names::synonyms(reader, &field, declared);
        } else {
            names::one_name(reader, &field, declared, &mut named.names);
        }
    }
    named
}
