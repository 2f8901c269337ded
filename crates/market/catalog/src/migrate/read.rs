//! Parses migration files.

use std::collections::BTreeMap;

use toml::de::DeTable;

use crate::decimal::Decimal;
use crate::error::{At, Problems};
use crate::read::{Entry, Reader};

use super::{AttributeStep, CategoryStep, Destination, Migration};

/// Returns the migration and the place of its `[migration]`.
pub(crate) fn read(name: &str, text: &str, problems: &mut Problems) -> (Migration, At) {
    let mut reader = Reader::new(name, text, problems);
    let document = reader.parse(text).unwrap_or_default();
    let mut migration = Migration {
        from: 0,
        to: 0,
        about: String::new(),
        categories: BTreeMap::new(),
        attributes: Vec::new(),
    };
    let mut at = reader.at(&(0..0));
    for (key, value) in &document {
        let entry = Entry::new(key, value);
        match entry.key {
            "migration" => {
                at = reader.at(&entry.key_span);
                read_head(&mut reader, &entry, &mut migration);
            }
            "category" => each(&mut reader, &entry, &mut migration, read_category),
            "attribute" => each(&mut reader, &entry, &mut migration, read_attribute),
            _ => reader.unknown_key(&entry, &["migration", "category", "attribute"]),
        }
    }
    (migration, at)
}

type ReadStep = fn(&mut Reader<'_>, &DeTable<'_>, At, &mut Migration);

fn each(reader: &mut Reader<'_>, entry: &Entry<'_>, migration: &mut Migration, read: ReadStep) {
    for step in reader.array(entry).into_iter().flatten() {
        let at = reader.at(&step.span());
        match step.get_ref().as_table() {
            Some(table) => read(reader, table, at, migration),
            None => reader.problems.add(at, "a step is not a table", format!("write `[[{}]]`", entry.key)),
        }
    }
}

fn read_head(reader: &mut Reader<'_>, entry: &Entry<'_>, migration: &mut Migration) {
    let Some(table) = reader.table(entry) else { return };
    let versions = 1..i64::from(u32::MAX);
    for (key, value) in table {
        let field = Entry::new(key, value);
        match field.key {
            "from" => migration.from = reader.whole(&field, versions.clone()).unwrap_or_default() as u32,
            "to" => migration.to = reader.whole(&field, versions.clone()).unwrap_or_default() as u32,
            "about" => reader.text(&field).unwrap_or_default().clone_into(&mut migration.about),
            _ => reader.unknown_key(&field, &["from", "to", "about"]),
        }
    }
}

#[derive(Default)]
struct CategoryFields {
    from: Vec<Box<str>>,
    to: Option<Box<str>>,
    by: Option<Box<str>>,
    into: Option<BTreeMap<Box<str>, Box<str>>>,
    ranges: Option<Vec<(Option<Decimal>, Box<str>)>>,
    otherwise: Option<Box<str>>,
}

fn read_category(reader: &mut Reader<'_>, table: &DeTable<'_>, at: At, migration: &mut Migration) {
    let mut fields = CategoryFields::default();
    for (key, value) in table {
        let field = Entry::new(key, value);
        match field.key {
            "from" if field.value.get_ref().is_array() => {
                let sources = reader.references(&field).unwrap_or_default();
                fields.from = sources.into_iter().map(|(id, _)| id).collect();
            }
            "from" => fields.from = reader.text(&field).into_iter().map(Into::into).collect(),
            "to" => fields.to = reader.text(&field).map(Into::into),
            "by" => fields.by = reader.text(&field).map(Into::into),
            "into" => fields.into = Some(text_map(reader, &field)),
            "ranges" => fields.ranges = Some(ranges(reader, &field)),
            "otherwise" => fields.otherwise = reader.text(&field).map(Into::into),
            _ => reader.unknown_key(&field, &["from", "to", "by", "into", "ranges", "otherwise"]),
        }
    }
    let sources = std::mem::take(&mut fields.from);
    let Some(change) = destination(fields).filter(|_| !sources.is_empty()) else {
        reader.problems.add(
            at,
            "the step has no source or no target",
            "give `from` and either `to`, or `by` with `into`, or `by` with `ranges`",
        );
        return;
    };
    for source in sources {
        let step = CategoryStep { at, change: change.clone() };
        if let Some(first) = migration.categories.insert(source.clone(), step) {
            let place = reader.problems.place(first.at);
            let what = format!("`{source}` is moved twice, first at {place}");
            reader.problems.add(at, what, "keep one of the steps; to divide a category use `by` and `into`");
        }
    }
}

fn destination(fields: CategoryFields) -> Option<Destination> {
    match fields {
        CategoryFields { to: Some(to), by: None, into: None, ranges: None, otherwise: None, .. } => {
            Some(Destination::To(to))
        }
        CategoryFields {
            to: None, by: Some(attribute), into: Some(into), ranges: None, otherwise, ..
        } => Some(Destination::ByValue { attribute, into, otherwise }),
        CategoryFields {
            to: None, by: Some(attribute), into: None, ranges: Some(ranges), otherwise, ..
        } => Some(Destination::ByRange { attribute, ranges, otherwise }),
        _ => None,
    }
}

/// `[{ below = 50, to = "a" }, { to = "b" }]` with ascending ends.
fn ranges(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Vec<(Option<Decimal>, Box<str>)> {
    let mut ranges: Vec<(Option<Decimal>, Box<str>)> = Vec::new();
    for item in reader.array(entry).into_iter().flatten() {
        let mut below = None;
        let mut to = None;
        for (key, value) in item.get_ref().as_table().into_iter().flatten() {
            let field = Entry::new(key, value);
            match field.key {
                "below" => below = reader.number(&field),
                "to" => to = reader.text(&field),
                _ => reader.unknown_key(&field, &["below", "to"]),
            }
        }
        let ascends = match ranges.last() {
            None => true,
            Some((None, _)) => false,
            Some((Some(before), _)) => below.is_none_or(|below| *before < below),
        };
        match to {
            Some(to) if ascends => ranges.push((below, to.into())),
            _ => reader.complain(
                &item.span(),
                "a range has no `to`, or is not above the previous one",
                "write `{ below = 50, to = \"...\" }` in ascending order; only the last may have no `below`",
            ),
        }
    }
    ranges
}

fn text_map(reader: &mut Reader<'_>, entry: &Entry<'_>) -> BTreeMap<Box<str>, Box<str>> {
    let mut map = BTreeMap::new();
    for (key, value) in reader.table(entry).into_iter().flatten() {
        let field = Entry::new(key, value);
        let id = field.key.into();
        if let Some(text) = reader.text(&field) {
            map.insert(id, text.into());
        }
    }
    map
}

fn read_attribute(reader: &mut Reader<'_>, table: &DeTable<'_>, at: At, migration: &mut Migration) {
    let mut step = AttributeStep {
        at,
        attribute: "".into(),
        within: None,
        to: None,
        unit: None,
        values: BTreeMap::new(),
        remove: false,
    };
    for (key, value) in table {
        let field = Entry::new(key, value);
        match field.key {
            "from" => step.attribute = reader.text(&field).unwrap_or_default().into(),
            "to" => step.to = reader.text(&field).map(Into::into),
            "within" => step.within = reader.text(&field).map(Into::into),
            "values" => step.values = text_map(reader, &field),
            "remove" => step.remove = reader.yes_no(&field).unwrap_or_default(),
            "unit" => step.unit = units(reader, &field),
            _ => reader.unknown_key(&field, &["from", "to", "within", "unit", "values", "remove"]),
        }
    }
    let changes = step.to.is_some() || step.unit.is_some() || !step.values.is_empty();
    if step.attribute.is_empty() || changes == step.remove {
        let advice = "give `from` and either `remove = true`, or some of `to`, `unit` and `values`";
        reader.problems.add(at, "the step has no attribute or no change", advice);
        return;
    }
    let same = |known: &&AttributeStep| known.attribute == step.attribute && known.within == step.within;
    if let Some(first) = migration.attributes.iter().find(same) {
        let place = reader.problems.place(first.at);
        let what = format!("`{}` is changed twice for the same branch, first at {place}", step.attribute);
        reader.problems.add(at, what, "write one step with `to`, `unit` and `values` together");
        return;
    }
    migration.attributes.push(step);
}

fn units(reader: &mut Reader<'_>, field: &Entry<'_>) -> Option<(Box<str>, Box<str>)> {
    let listed = reader.references(field)?;
    if let [(before, _), (after, _)] = &listed[..] {
        return Some((before.clone(), after.clone()));
    }
    reader.complain(&field.value.span(), "`unit` is not a pair", "write `unit = [\"before\", \"after\"]`");
    None
}
