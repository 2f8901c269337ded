//! The rules of each category: those of its ancestors, extended and narrowed.

use crate::attribute::{AttributeData, Labelled};
use crate::catalogue::NOTHING;
use crate::decimal::Decimal;
use crate::declared::{CategorySource, Header, LimitsSource, OwnSource, Reference, UseSource};
use crate::error::{At, Problems};
use crate::ids::IdIndex;
use crate::limits::CATEGORY_ATTRIBUTES_MAX;
use crate::rules::{Bounds, Limits, Rules, Slot};

use super::tree::Shape;

const TITLE_DEFAULT: Bounds = Bounds { least: 3, most: 100 };
const DESCRIPTION_DEFAULT: Bounds = Bounds { least: 0, most: 5_000 };
const PHOTOS_DEFAULT: Bounds = Bounds { least: 0, most: 20 };
const PRICE_MAX_DEFAULT: i64 = 1_000_000_000_000;
const EVERY_PRICE_KIND: u8 = 0b1111;

/// Definitions that rules refer to.
pub(crate) struct Parts<'a> {
    pub(crate) attributes: &'a [AttributeData],
    pub(crate) attribute_ids: &'a IdIndex,
    pub(crate) conditions: &'a [Labelled],
}

/// Returns all rules, those of no category first, and the index of each category's rules.
pub(crate) fn resolve(
    header: &Header,
    categories: &[CategorySource],
    shape: &Shape,
    parts: &Parts<'_>,
    problems: &mut Problems,
) -> (Vec<Rules>, Vec<u32>) {
    let everywhere = Limits {
        title: TITLE_DEFAULT,
        description: DESCRIPTION_DEFAULT,
        photos: PHOTOS_DEFAULT,
        price_required: false,
        price_max: PRICE_MAX_DEFAULT.into(),
        condition_required: false,
        price_kinds: EVERY_PRICE_KIND,
        conditions: (0..parts.conditions.len() as u8).collect(),
    };
    let base = Rules {
        limits: limits(&everywhere, &header.limits, parts, problems),
        slots: [].into(),
        shown: [].into(),
    };
    let mut rules = vec![base];
    let mut rules_of = vec![0; categories.len()];
    for &number in &shape.order {
        let parent = shape.parents[number as usize];
        let inherited = if parent == NOTHING { 0 } else { rules_of[parent as usize] };
        let category = &categories[number as usize];
        rules_of[number as usize] = match category.own.as_deref() {
            Some(own) => {
                let made = own_rules(&rules[inherited as usize], own, category, parts, problems);
                rules.push(made);
                (rules.len() - 1) as u32
            }
            None => inherited,
        };
    }
    (rules, rules_of)
}

fn own_rules(
    inherited: &Rules,
    own: &OwnSource,
    category: &CategorySource,
    parts: &Parts<'_>,
    problems: &mut Problems,
) -> Rules {
    let mut slots: Vec<Slot> =
        inherited.shown.iter().map(|slot| inherited.slots[usize::from(*slot)].clone()).collect();
    for source in &own.uses {
        apply(source, &mut slots, parts, problems);
    }
    if slots.len() > CATEGORY_ATTRIBUTES_MAX {
        let what = format!("`{}` has {} attributes", category.named.id, slots.len());
        let advice = format!("keep at most {CATEGORY_ATTRIBUTES_MAX}, inherited ones included");
        problems.add(category.named.at, what, advice);
        slots.truncate(CATEGORY_ATTRIBUTES_MAX);
    }
    let mut by_id: Vec<usize> = (0..slots.len()).collect();
    let id_of = |slot: usize| parts.attributes[slots[slot].attribute as usize].id();
    by_id.sort_by(|a, b| id_of(*a).cmp(id_of(*b)));
    let mut shown = vec![0; slots.len()];
    for (place, slot) in by_id.iter().enumerate() {
        shown[*slot] = place as u8;
    }
    let sorted = by_id.iter().map(|slot| slots[*slot].clone()).collect();
    Rules {
        limits: limits(&inherited.limits, &own.limits, parts, problems),
        slots: sorted,
        shown: shown.into(),
    }
}

fn apply(source: &UseSource, slots: &mut Vec<Slot>, parts: &Parts<'_>, problems: &mut Problems) {
    let id = &source.attribute;
    let Some(attribute) = parts.attribute_ids.find(id, |number| parts.attributes[number as usize].id())
    else {
        let known = parts.attributes.iter().map(AttributeData::id);
        let advice = format!("add it: `[attribute.{id}]`");
        problems.add_unknown(source.at, format!("there is no attribute `{id}`"), id, known, &advice);
        return;
    };
    let data = &parts.attributes[attribute as usize];
    let place = match slots.iter().position(|slot| slot.attribute == attribute) {
        Some(place) => {
            check_not_relaxed(source, &slots[place], problems);
            place
        }
        None if source.required.is_none() => {
            let what = format!("the category narrows `{id}` but does not have it");
            problems.add(source.at, what, "name it in `required` or `optional` too");
            return;
        }
        None => {
            slots.push(Slot { attribute, required: false, kind: data.kind.clone(), choices: None });
            slots.len() - 1
        }
    };
    let slot = &mut slots[place];
    slot.required |= source.required.unwrap_or_default();
    slot.kind.narrow(&source.bounds, problems);
    if let Some(values) = &source.values {
        narrow_choices(slot, values, data, source.at, problems);
    }
}

fn check_not_relaxed(source: &UseSource, inherited: &Slot, problems: &mut Problems) {
    if source.required == Some(false) && inherited.required {
        let what = format!("`{}` is required by an ancestor and optional here", source.attribute);
        problems.add(source.at, what, "a category may only narrow; require it in the other children instead");
    }
}

fn narrow_choices(
    slot: &mut Slot,
    values: &[Reference],
    data: &AttributeData,
    at: At,
    problems: &mut Problems,
) {
    let mut choices = Vec::with_capacity(values.len());
    for (id, at) in values {
        match data.choice(id) {
            Some(choice) if slot.allows(choice) => choices.push(choice),
            Some(_) => problems.add(
                *at,
                format!("the value `{id}` of `{}` is not allowed by an ancestor", data.id()),
                "a category may only narrow what its ancestors allow",
            ),
            None => {
                let known = data.choices.iter().map(|choice| &*choice.id);
                let advice = format!("add it under `[attribute.{}.values]`", data.id());
                problems.add_unknown(*at, format!("`{}` has no value `{id}`", data.id()), id, known, &advice);
            }
        }
    }
    if choices.is_empty() {
        problems.add(at, format!("no value of `{}` is left", data.id()), "leave at least one");
    }
    choices.sort_unstable();
    choices.dedup();
    slot.choices = Some(choices.into());
}

fn limits(inherited: &Limits, own: &LimitsSource, parts: &Parts<'_>, problems: &mut Problems) -> Limits {
    let bounds = |own: Option<(u32, u32)>, inherited: Bounds| {
        own.map_or(inherited, |(least, most)| Bounds { least, most })
    };
    let price_kinds = own.price_kinds.unwrap_or(inherited.price_kinds);
    let conditions = match &own.conditions {
        Some(listed) => conditions(listed, parts, problems),
        None => inherited.conditions.clone(),
    };
    Limits {
        title: bounds(own.title, inherited.title),
        description: bounds(own.description, inherited.description),
        photos: bounds(own.photos, inherited.photos),
        price_required: own.price_required.unwrap_or(inherited.price_required) && price_kinds != 0,
        price_max: own.price_max.filter(|max| *max > Decimal::default()).unwrap_or(inherited.price_max),
        condition_required: own.condition_required.unwrap_or(inherited.condition_required)
            && !conditions.is_empty(),
        price_kinds,
        conditions,
    }
}

fn conditions(listed: &[Reference], parts: &Parts<'_>, problems: &mut Problems) -> Box<[u8]> {
    let mut numbers = Vec::with_capacity(listed.len());
    for (id, at) in listed {
        if let Some(number) = parts.conditions.iter().position(|known| known.id == *id) {
            numbers.push(number as u8);
        } else {
            let known = parts.conditions.iter().map(|known| &*known.id);
            let advice = format!("add it: `[condition.{id}]`");
            problems.add_unknown(*at, format!("there is no condition `{id}`"), id, known, &advice);
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into()
}
