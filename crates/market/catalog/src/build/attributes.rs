//! Units, conditions and attributes.

use crate::attribute::{AttributeData, ChoiceData, Labels, UnitData};
use crate::declared::{AttributeSource, ConditionSource, Reference, TypeName, UnitSource, ValueSource};
use crate::error::{At, Problems};
use crate::ids::IdIndex;
use crate::kind::Kind;
use crate::limits::ATTRIBUTE_VALUES_MAX;
use crate::text::did_you_mean;
use ::text::nearest;

use super::labels::Labeller;

const CONDITIONS_MAX: usize = 64;

pub(crate) fn twice(problems: &mut Problems, what: &str, id: &str, first: At, second: At) {
    let place = problems.place(first);
    problems.add(
        second,
        format!("the {what} `{id}` stands twice, first at {place}"),
        "keep one of the two, or give one another id",
    );
}

pub(crate) fn units(sources: Vec<UnitSource>, labeller: &Labeller, problems: &mut Problems) -> Vec<UnitData> {
    let mut units: Vec<(UnitData, At)> = Vec::with_capacity(sources.len());
    for source in sources {
        if let Some((_, first)) = units.iter().find(|(unit, _)| unit.id == source.id) {
            twice(problems, "unit", &source.id, *first, source.at);
            continue;
        }
        let labels = labeller.labels(&source.id, source.at, &source.names, &source.synonyms, problems);
        let unit = UnitData { id: source.id, labels, quantity: source.quantity, factor: source.factor };
        units.push((unit, source.at));
    }
    units.into_iter().map(|(unit, _)| unit).collect()
}

pub(crate) fn conditions(
    sources: Vec<ConditionSource>,
    labeller: &Labeller,
    problems: &mut Problems,
) -> Vec<(Box<str>, Labels)> {
    let mut conditions: Vec<(Box<str>, Labels)> = Vec::with_capacity(sources.len());
    for source in sources {
        if conditions.iter().any(|(id, _)| *id == source.id) || conditions.len() >= CONDITIONS_MAX {
            let what = format!("the condition `{}` stands twice, or is one too many", source.id);
            problems.add(
                source.at,
                what,
                format!("keep one of the two, and at most {CONDITIONS_MAX} in all"),
            );
            continue;
        }
        let labels = labeller.labels(&source.id, source.at, &source.names, &source.synonyms, problems);
        conditions.push((source.id, labels));
    }
    conditions
}

pub(crate) fn attributes(
    sources: Vec<AttributeSource>,
    units: &[UnitData],
    labeller: &Labeller,
    problems: &mut Problems,
) -> (Vec<AttributeData>, IdIndex) {
    let mut ids = IdIndex::with_capacity(sources.len());
    let mut places = Vec::with_capacity(sources.len());
    let mut attributes: Vec<AttributeData> = Vec::with_capacity(sources.len());
    for source in sources {
        let number = attributes.len() as u32;
        if let Some(first) = ids.insert(&source.id, number, |number| attributes_id(&attributes, number)) {
            twice(problems, "attribute", &source.id, places[first as usize], source.at);
            continue;
        }
        places.push(source.at);
        attributes.push(attribute(source, units, labeller, problems));
    }
    (attributes, ids)
}

fn attributes_id(attributes: &[AttributeData], number: u32) -> &str {
    attributes.get(number as usize).map_or("", |attribute| &attribute.id)
}

fn attribute(
    source: AttributeSource,
    units: &[UnitData],
    labeller: &Labeller,
    problems: &mut Problems,
) -> AttributeData {
    let labels = labeller.labels(&source.id, source.at, &source.names, &source.synonyms, problems);
    check_values(&source, problems);
    let kind = Kind::declared(source.type_name, &source.bounds, source.values.len(), problems);
    let unit = source.unit.and_then(|unit| find_unit(&unit, source.type_name, units, problems));
    let choices = choices(source.values, labeller, problems);
    let mut by_id: Vec<u16> = (0..choices.len() as u16).collect();
    by_id.sort_by(|a, b| choices[usize::from(*a)].id.cmp(&choices[usize::from(*b)].id));
    AttributeData { id: source.id, labels, kind, unit, choices, choices_by_id: by_id.into() }
}

fn check_values(source: &AttributeSource, problems: &mut Problems) {
    let chooses = matches!(source.type_name, TypeName::One | TypeName::Several);
    if chooses && (source.values.is_empty() || source.values.len() > ATTRIBUTE_VALUES_MAX) {
        let what = format!("`{}` chooses from no values, or from too many", source.id);
        let advice =
            format!("add one to {ATTRIBUTE_VALUES_MAX} lines under `[attribute.{}.values]`", source.id);
        problems.add(source.at, what, advice);
    }
    if !chooses && !source.values.is_empty() {
        let what = format!("`{}` has values, but the type {}", source.id, source.type_name.as_str());
        problems.add(source.at, what, "use the type `one` or `several`, or take the values away");
    }
}

fn find_unit(
    unit: &Reference,
    type_name: TypeName,
    units: &[UnitData],
    problems: &mut Problems,
) -> Option<u16> {
    let (id, at) = unit;
    if !matches!(type_name, TypeName::Whole | TypeName::Decimal) {
        let what = format!("an attribute of the type {} has a unit", type_name.as_str());
        problems.add(*at, what, "use the type `whole` or `decimal`, or take the unit away");
        return None;
    }
    let found = units.iter().position(|unit| unit.id == *id);
    if found.is_none() {
        let near = nearest(id, units.iter().map(|unit| &*unit.id));
        let advice = did_you_mean(near, &format!("add it: `[unit.{id}]`"));
        problems.add(*at, format!("there is no unit `{id}`"), advice);
    }
    found.map(|number| number as u16)
}

fn choices(sources: Vec<ValueSource>, labeller: &Labeller, problems: &mut Problems) -> Vec<ChoiceData> {
    sources
        .into_iter()
        .take(ATTRIBUTE_VALUES_MAX)
        .map(|value| {
            let labels = labeller.labels(&value.id, value.at, &value.names, &value.synonyms, problems);
            ChoiceData { id: value.id, labels }
        })
        .collect()
}
