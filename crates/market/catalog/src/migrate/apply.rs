//! The migration of one offer.

use std::collections::BTreeMap;

use crate::catalogue::{Catalogue, Category};
use crate::decimal::Decimal;
use crate::kind::Kind;
use crate::value::{Item, OwnedValue};
use crate::violation::{Fault, Field};

use super::{AttributeStep, Destination, Hindrance, Migration, Obstacle, Outcome};

type Values = BTreeMap<String, Vec<OwnedValue>>;

impl Migration {
    /// Moves one offer to the new catalogue, completely or not at all.
    ///
    /// - [`Outcome::Moved`]: the new item. Removed attributes are in its `leftover`.
    /// - [`Outcome::UpToDate`]: the item already has the new version or a later one, so a second
    ///   call after a crash is harmless.
    /// - [`Outcome::Stuck`]: the obstacles; the item stays unchanged.
    ///
    /// A moved item has only attributes and values that its new category knows. Missing required
    /// attributes are no obstacle: the next validation reports them.
    #[must_use]
    pub fn apply(&self, item: &Item, new: &Catalogue) -> Outcome {
        if item.version >= self.to {
            return Outcome::UpToDate;
        }
        if item.version != self.from || new.version() != self.to {
            return stuck(Field::Category, Hindrance::WrongVersion { found: item.version });
        }
        let target = match self.category_for(item) {
            Ok(target) => target,
            Err(hindrance) => return stuck(Field::Category, hindrance),
        };
        let Some(category) = new.category(target) else {
            return stuck(Field::Category, Hindrance::CategoryGone { category: target.into() });
        };
        let mut moved = Item { category: target.to_owned(), version: self.to, ..item.clone() };
        let mut obstacles = self.move_attributes(item, category, &mut moved);
        if obstacles.is_empty() {
            obstacles = misfits(&moved, new);
        }
        if obstacles.is_empty() { Outcome::Moved(Box::new(moved)) } else { Outcome::Stuck(obstacles) }
    }

    fn category_for<'m>(&'m self, item: &'m Item) -> Result<&'m str, Hindrance> {
        let Some(step) = self.categories.get(item.category.as_str()) else { return Ok(&item.category) };
        let (attribute, found, otherwise) = match &step.change {
            Destination::To(to) => return Ok(to),
            Destination::ByValue { attribute, into, otherwise } => {
                let value = first(item, attribute).map(rule_text);
                (attribute, value.and_then(|value| into.get(value.as_str())), otherwise)
            }
            Destination::ByRange { attribute, ranges, otherwise } => {
                let number = first(item, attribute).and_then(number_of);
                let fits = |number: Decimal| {
                    ranges
                        .iter()
                        .find(|(below, _)| below.is_none_or(|below| number < below))
                        .map(|(_, to)| to)
                };
                (attribute, number.and_then(fits), otherwise)
            }
        };
        match found.or(otherwise.as_ref()) {
            Some(to) => Ok(to),
            None => Err(Hindrance::NoRuleFits { attribute: attribute.clone() }),
        }
    }

    fn move_attributes(&self, item: &Item, category: Category<'_>, moved: &mut Item) -> Vec<Obstacle> {
        let mut obstacles = Vec::new();
        moved.attributes = Values::new();
        for (id, values) in &item.attributes {
            let step = self.step_for(id, category);
            if step.is_some_and(|step| step.remove) {
                moved.leftover.insert(id.clone(), values.clone());
                continue;
            }
            let target = step.map_or(id.as_str(), AttributeStep::target);
            let field = || Field::Attribute(id.as_str().into());
            match step
                .map_or_else(|| Ok(values.clone()), |step| change_values(step, values, category.catalogue))
            {
                Err(hindrance) => obstacles.push(Obstacle { field: field(), hindrance }),
                Ok(_) if moved.attributes.contains_key(target) => {
                    let hindrance = Hindrance::TargetTaken { attribute: target.into() };
                    obstacles.push(Obstacle { field: field(), hindrance });
                }
                Ok(changed) => {
                    moved.attributes.insert(target.to_owned(), changed);
                }
            }
        }
        obstacles
    }

    /// The step for the deepest branch that contains the category.
    fn step_for(&self, attribute: &str, category: Category<'_>) -> Option<&AttributeStep> {
        let depth = |step: &&AttributeStep| match &step.within {
            None => Some(0),
            Some(within) => {
                let branch = category.catalogue.category(within)?;
                category.is_within(branch).then(|| branch.depth() + 1)
            }
        };
        self.attributes
            .iter()
            .filter(|step| &*step.attribute == attribute)
            .filter_map(|step| Some((depth(&step)?, step)))
            .max_by_key(|(depth, _)| *depth)
            .map(|(_, step)| step)
    }
}

fn change_values(
    step: &AttributeStep,
    values: &[OwnedValue],
    new: &Catalogue,
) -> Result<Vec<OwnedValue>, Hindrance> {
    let mut changed: Vec<OwnedValue> = Vec::with_capacity(values.len());
    for value in values {
        let mut value = match value {
            OwnedValue::Text(text) => {
                OwnedValue::Text(step.values.get(text.as_str()).map_or(text.as_str(), |to| to).to_owned())
            }
            other => other.clone(),
        };
        if let Some(units) = &step.unit {
            value = convert(&value, units, step.target(), new)
                .ok_or_else(|| Hindrance::CannotConvert { from: units.0.clone(), to: units.1.clone() })?;
        }
        if step.values.is_empty() || !changed.contains(&value) {
            changed.push(value);
        }
    }
    Ok(changed)
}

fn convert(
    value: &OwnedValue,
    units: &(Box<str>, Box<str>),
    target: &str,
    new: &Catalogue,
) -> Option<OwnedValue> {
    let number = number_of(value)?;
    let (before, after) = (new.unit(&units.0)?, new.unit(&units.1)?);
    match new.attribute(target)?.kind() {
        Kind::Whole { .. } => before.convert(number, after, 0)?.as_whole().map(OwnedValue::Whole),
        Kind::Decimal { scale, .. } => before.convert(number, after, *scale).map(OwnedValue::Decimal),
        _ => None,
    }
}

/// What the new category does not accept.
fn misfits(moved: &Item, new: &Catalogue) -> Vec<Obstacle> {
    let violations = new.validate_attributes(moved).into_iter();
    violations
        .filter(|violation| violation.fault != Fault::Required)
        .map(|violation| Obstacle {
            field: violation.field,
            hindrance: Hindrance::DoesNotFit(violation.fault),
        })
        .collect()
}

fn first<'i>(item: &'i Item, attribute: &str) -> Option<&'i OwnedValue> {
    item.attributes.get(attribute)?.first()
}

fn number_of(value: &OwnedValue) -> Option<Decimal> {
    match value {
        OwnedValue::Whole(number) => Some((*number).into()),
        OwnedValue::Decimal(number) => Some(*number),
        _ => None,
    }
}

/// A value as a key of `into`.
fn rule_text(value: &OwnedValue) -> String {
    value.borrow().to_string()
}

fn stuck(field: Field, hindrance: Hindrance) -> Outcome {
    Outcome::Stuck(vec![Obstacle { field, hindrance }])
}
