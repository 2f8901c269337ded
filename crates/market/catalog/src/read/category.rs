//! `[category."id"]` and `[extend."id"]`.

use crate::declared::{BoundsSource, CategorySource, Declared, OwnSource, UseSource};

use super::attribute::read_bound;
use super::header::read_limit;
use super::names;
use super::reader::{Entry, Reader};

const KEYS: [&str; 14] = [
    "name",
    "synonyms",
    "parent",
    "offers",
    "closed",
    "instead",
    "required",
    "optional",
    "narrow",
    "title",
    "description",
    "photos",
    "price",
    "condition",
];

/// The parent is the one it names, or the part of its id before the last `/`.
pub(crate) fn read(reader: &mut Reader<'_>, entry: &Entry<'_>, declared: &mut Declared) {
    let Some(mut category) = read_fields(reader, entry, declared) else { return };
    if category.parent.is_none()
        && let Some((parent, _)) = category.named.id.rsplit_once('/')
    {
        category.parent = Some((parent.into(), category.named.at));
    }
    declared.categories.push(category);
}

/// Additions to a category of another file: attributes, limits, synonyms.
pub(crate) fn read_extension(reader: &mut Reader<'_>, entry: &Entry<'_>, declared: &mut Declared) {
    let at = reader.at(&entry.key_span);
    let Some(extension) = read_fields(reader, entry, declared) else { return };
    if extension.parent.is_some() {
        let advice = "remove `parent`: an extension moves nothing";
        reader.problems.add(at, "an extension names a parent", advice);
    }
    declared.extensions.push(extension);
}

fn read_fields(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    declared: &mut Declared,
) -> Option<CategorySource> {
    let mut category =
        CategorySource { named: reader.named(entry), parent: None, takes_offers: false, own: None };
    let mut own = OwnSource::default();
    let mut has_own = false;
    for (key, value) in reader.table(entry)? {
        let field = Entry::new(key, value);
        match field.key {
            _ if names::read(reader, &field, declared, &mut category.named) => {}
            "parent" => category.parent = reader.reference(&field),
            _ => {
                has_own = true;
                read_own(reader, &field, &mut own);
            }
        }
    }
    if has_own {
        category.own = Some(Box::new(own));
    }
    Some(category)
}

fn read_own(reader: &mut Reader<'_>, field: &Entry<'_>, own: &mut OwnSource) {
    match field.key {
        "offers" => own.offers = reader.yes_no(field),
        "closed" => own.closed = reader.yes_no(field).unwrap_or_default(),
        "instead" => own.instead = reader.reference(field),
        "required" => add_uses(reader, field, true, own),
        "optional" => add_uses(reader, field, false, own),
        "narrow" => narrow(reader, field, own),
        _ if read_limit(reader, field, &mut own.limits) => {}
        _ => reader.unknown_key(field, &KEYS),
    }
}

fn add_uses(reader: &mut Reader<'_>, field: &Entry<'_>, required: bool, own: &mut OwnSource) {
    for (attribute, at) in reader.references(field).unwrap_or_default() {
        match own.uses.iter_mut().find(|known| known.attribute == attribute) {
            Some(known) if known.required.is_none() => known.required = Some(required),
            Some(_) => {
                let what = format!("the attribute `{attribute}` is named twice");
                reader.problems.add(at, what, "name it once, in `required` or in `optional`");
            }
            None => own.uses.push(UseSource {
                attribute,
                at,
                required: Some(required),
                bounds: BoundsSource::default(),
                values: None,
            }),
        }
    }
}

/// `narrow = { year = { min = 1980 }, fuel = { values = ["diesel"] } }`
fn narrow(reader: &mut Reader<'_>, field: &Entry<'_>, own: &mut OwnSource) {
    let Some(table) = reader.table(field) else { return };
    for (attribute, value) in table {
        let item = Entry::new(attribute, value);
        let at = reader.at(&item.key_span);
        let id = item.key;
        let Some(fields) = reader.table(&item) else { continue };
        let (mut bounds, mut values) = (BoundsSource::default(), None);
        for (key, value) in fields {
            let bound = Entry::new(key, value);
            match bound.key {
                "values" => values = reader.references(&bound),
                _ if read_bound(reader, &bound, &mut bounds) => {}
                _ => reader.unknown_key(&bound, &["min", "max", "values", "length", "max-values"]),
            }
        }
        match own.uses.iter_mut().find(|known| &*known.attribute == id) {
            Some(known) => (known.bounds, known.values) = (bounds, values),
            None => own.uses.push(UseSource { attribute: id.into(), at, required: None, bounds, values }),
        }
    }
}
