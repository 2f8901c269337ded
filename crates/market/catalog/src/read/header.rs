//! `[catalogue]`: name, version, languages, currencies and limits; and the limits of categories,
//! which have the same form.

use crate::declared::{Declared, Header, LimitsSource};
use crate::value::PriceKind;

use super::reader::{Entry, Reader};

const TEXT_CHARS_MAX: u32 = 1_000_000;
const PHOTOS_MAX: u32 = 1_000;
const KEYS: [&str; 9] =
    ["name", "version", "languages", "currencies", "title", "description", "photos", "price", "condition"];

pub(crate) fn read(reader: &mut Reader<'_>, entry: &Entry<'_>, builtin: bool, declared: &mut Declared) {
    let at = reader.at(&entry.key_span);
    if let (Some(first), false) = (declared.header.at, declared.header.builtin) {
        let place = reader.problems.place(first);
        reader.complain(
            &entry.key_span,
            format!("a second `[catalogue]`, the first is at {place}"),
            "keep one of the two",
        );
        return;
    }
    let Some(table) = reader.table(entry) else { return };
    let header = &mut declared.header;
    header.at = Some(at);
    header.builtin = builtin;
    for (key, value) in table {
        read_key(reader, &Entry::new(key, value), header);
    }
}

fn read_key(reader: &mut Reader<'_>, field: &Entry<'_>, header: &mut Header) {
    match field.key {
        "name" => header.name = reader.text(field).map(Into::into),
        "version" => {
            header.version = reader.whole(field, 1..i64::from(u32::MAX)).map(|version| version as u32);
        }
        "languages" => header.languages = reader.references(field),
        "currencies" => header.currencies = reader.references(field),
        _ if read_limit(reader, field, &mut header.limits) => {}
        _ => reader.unknown_key(field, &KEYS),
    }
}

/// Reads a key of limits; `false` for other keys.
pub(crate) fn read_limit(reader: &mut Reader<'_>, field: &Entry<'_>, limits: &mut LimitsSource) -> bool {
    match field.key {
        "title" => limits.title = reader.bounds(field, TEXT_CHARS_MAX),
        "description" => limits.description = reader.bounds(field, TEXT_CHARS_MAX),
        "photos" => limits.photos = reader.bounds(field, PHOTOS_MAX),
        "price" => read_price(reader, field, limits),
        "condition" => read_condition(reader, field, limits),
        _ => return false,
    }
    true
}

fn read_price(reader: &mut Reader<'_>, entry: &Entry<'_>, limits: &mut LimitsSource) {
    let Some(table) = reader.table(entry) else { return };
    for (key, value) in table {
        let field = Entry::new(key, value);
        match field.key {
            "kinds" => limits.price_kinds = read_kinds(reader, &field),
            "required" => limits.price_required = reader.yes_no(&field),
            "max" => limits.price_max = reader.number(&field),
            _ => reader.unknown_key(&field, &["kinds", "required", "max"]),
        }
    }
}

fn read_kinds(reader: &mut Reader<'_>, field: &Entry<'_>) -> Option<u8> {
    let mut bits = 0;
    for (name, at) in reader.references(field)? {
        if let Some(kind) = PriceKind::from_name(&name) {
            bits |= kind.bit();
        } else {
            let known = PriceKind::ALL.into_iter().map(PriceKind::as_str);
            let otherwise = "kinds are: fixed, range, negotiable, free";
            reader.problems.add_unknown(
                at,
                format!("unknown kind of price `{name}`"),
                &name,
                known,
                otherwise,
            );
        }
    }
    Some(bits)
}

fn read_condition(reader: &mut Reader<'_>, entry: &Entry<'_>, limits: &mut LimitsSource) {
    let Some(table) = reader.table(entry) else { return };
    for (key, value) in table {
        let field = Entry::new(key, value);
        match field.key {
            "allowed" => limits.conditions = reader.references(&field),
            "required" => limits.condition_required = reader.yes_no(&field),
            _ => reader.unknown_key(&field, &["allowed", "required"]),
        }
    }
}
