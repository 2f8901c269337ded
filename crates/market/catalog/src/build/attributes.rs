//! Units, conditions and attributes.

use crate::attribute::{AttributeData, Labelled, UnitData};
use crate::declared::{AttributeSource, Named, Reference, TypeName, UnitSource};
use crate::error::{At, Problems};
use crate::ids::IdIndex;
use crate::kind::Kind;
use crate::limits::ATTRIBUTE_VALUES_MAX;

use super::labels::Labeller;

const CONDITIONS_MAX: usize = 64;

pub(crate) fn duplicate(problems: &mut Problems, what: &str, id: &str, first: At, second: At) {
    let place = problems.place(first);
    problems.add(
        second,
        format!("duplicate {what} `{id}`, first at {place}"),
        "keep one of the two, or change one id",
    );
}

pub(crate) fn units(sources: Vec<UnitSource>, labeller: &Labeller, problems: &mut Problems) -> Vec<UnitData> {
    let mut units: Vec<(UnitData, At)> = Vec::with_capacity(sources.len());
    for UnitSource { named, quantity, factor } in sources {
        if let Some((_, first)) = units.iter().find(|(unit, _)| unit.labelled.id == named.id) {
            duplicate(problems, "unit", &named.id, *first, named.at);
            continue;
        }
        let at = named.at;
        let labelled = labeller.labelled(named, problems);
        units.push((UnitData { labelled, quantity, factor }, at));
    }
    units.into_iter().map(|(unit, _)| unit).collect()
}

pub(crate) fn conditions(sources: Vec<Named>, labeller: &Labeller, problems: &mut Problems) -> Vec<Labelled> {
    let mut conditions: Vec<Labelled> = Vec::with_capacity(sources.len());
    for source in sources {
        if conditions.iter().any(|known| known.id == source.id) || conditions.len() >= CONDITIONS_MAX {
            let what = format!("the condition `{}` is a duplicate or one too many", source.id);
            let advice = format!("keep one of the two, and at most {CONDITIONS_MAX} in all");
            problems.add(source.at, what, advice);
            continue;
        }
        conditions.push(labeller.labelled(source, problems));
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
    let mut positions = Vec::with_capacity(sources.len());
    let mut attributes: Vec<AttributeData> = Vec::with_capacity(sources.len());
    for source in sources {
        let number = attributes.len() as u32;
        let id_of = |number: u32| attributes.get(number as usize).map_or("", AttributeData::id);
        if let Some(first) = ids.insert(&source.named.id, number, id_of) {
            duplicate(problems, "attribute", &source.named.id, positions[first as usize], source.named.at);
            continue;
        }
        positions.push(source.named.at);
        attributes.push(attribute(source, units, labeller, problems));
    }
    (attributes, ids)
}

fn attribute(
    source: AttributeSource,
    units: &[UnitData],
    labeller: &Labeller,
    problems: &mut Problems,
) -> AttributeData {
    check_values(&source, problems);
    let kind = Kind::declared(source.type_name, &source.bounds, source.values.len(), problems);
    let unit = source.unit.and_then(|unit| find_unit(&unit, source.type_name, units, problems));
    let choices: Vec<Labelled> = source
        .values
        .into_iter()
        .take(ATTRIBUTE_VALUES_MAX)
        .map(|value| labeller.labelled(value, problems))
        .collect();
    let mut by_id: Vec<u16> = (0..choices.len() as u16).collect();
    by_id.sort_by(|a, b| choices[usize::from(*a)].id.cmp(&choices[usize::from(*b)].id));
    let labelled = labeller.labelled(source.named, problems);
    AttributeData { labelled, kind, unit, choices, choices_by_id: by_id.into() }
}

fn check_values(source: &AttributeSource, problems: &mut Problems) {
    let id = &source.named.id;
    let at = source.named.at;
    let chooses = matches!(source.type_name, TypeName::One | TypeName::Several);
    if chooses && (source.values.is_empty() || source.values.len() > ATTRIBUTE_VALUES_MAX) {
        let what = format!("`{id}` has no values, or too many");
        let advice = format!("add one to {ATTRIBUTE_VALUES_MAX} lines under `[attribute.{id}.values]`");
        problems.add(at, what, advice);
    }
    if !chooses && !source.values.is_empty() {
        let what = format!("`{id}` has values, but the type {}", source.type_name.as_str());
        problems.add(at, what, "use the type `one` or `several`, or remove the values");
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
        problems.add(*at, what, "use the type `whole` or `decimal`, or remove the unit");
        return None;
    }
    let found = units.iter().position(|unit| unit.labelled.id == *id);
    if found.is_none() {
        let known = units.iter().map(|unit| &*unit.labelled.id);
        problems.add_unknown(
            *at,
            format!("there is no unit `{id}`"),
            id,
            known,
            &format!("add it: `[unit.{id}]`"),
        );
    }
    found.map(|number| number as u16)
}
