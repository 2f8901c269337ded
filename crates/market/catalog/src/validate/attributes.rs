//! Validates attributes: ids, types, ranges, required ones.

use smallvec::SmallVec;

use crate::attribute::{AttributeData, Labelled};
use crate::catalogue::{Catalogue, Category};
use crate::kind::Kind;
use crate::limits::CATEGORY_ATTRIBUTES_MAX;
use crate::rules::{Bounds, Rules, Slot};
use crate::text::{echo, normalise};
use crate::value::{Subject, Value};
use crate::violation::{Fault, Field};
use ::text::nearest;

use super::Violations;
use super::texts::length_fault;

pub(crate) fn check(subject: &(impl Subject + ?Sized), category: Category<'_>, found: &mut Violations) {
    let mut check = Check {
        catalogue: category.catalogue,
        rules: category.rules(),
        // Offers in a category that is not open have attributes of a descendant, unknown here.
        report_unknown: category.accepts_offers(),
        counts: [0; CATEGORY_ATTRIBUTES_MAX],
        chosen: SmallVec::new(),
        found,
    };
    subject.each_value(&mut |attribute, value| check.value(attribute, value));
    check.finish();
}

struct Check<'a> {
    catalogue: &'a Catalogue,
    rules: &'a Rules,
    report_unknown: bool,
    /// Values by slot.
    counts: [u32; CATEGORY_ATTRIBUTES_MAX],
    /// Chosen values with their slots.
    chosen: SmallVec<[(u8, u16); 16]>,
    found: &'a mut Violations,
}

impl Check<'_> {
    fn value(&mut self, id: &str, value: Value<'_>) {
        let Some(position) = self.catalogue.slot(self.rules, id) else {
            self.unknown(id);
            return;
        };
        self.counts[position] = self.counts[position].saturating_add(1);
        let slot = &self.rules.slots[position];
        let attribute = &self.catalogue.attributes[slot.attribute as usize];
        let fault = match (&slot.kind, value) {
            (Kind::Text { min_length, max_length, characters }, Value::Text(text)) => {
                text_fault(text, Bounds { least: *min_length, most: *max_length }, characters.as_deref())
            }
            (Kind::Whole { min, max }, Value::Whole(number)) => range_fault(number, *min, *max, Value::Whole),
            (Kind::Decimal { .. }, Value::Decimal(number)) => decimal_fault(&slot.kind, number),
            (Kind::Decimal { .. }, Value::Whole(number)) => decimal_fault(&slot.kind, number.into()),
            (Kind::YesNo, Value::YesNo(_)) => None,
            (Kind::Date { min, max }, Value::Date(date)) => range_fault(date, *min, *max, Value::Date),
            (Kind::One | Kind::Several { .. }, Value::Text(text)) => {
                self.choice_fault(position, slot, attribute, text)
            }
            _ => Some(Fault::WrongType { wanted: slot.kind.type_name() }),
        };
        if let Some(fault) = fault {
            self.found.add(Field::Attribute(attribute.id().into()), fault);
        }
    }

    fn choice_fault(
        &mut self,
        position: usize,
        slot: &Slot,
        attribute: &AttributeData,
        text: &str,
    ) -> Option<Fault> {
        let Some(choice) = attribute.choice(text) else {
            return Some(Fault::UnknownValue { given: echo(text), suggestion: suggest(attribute, text) });
        };
        if !slot.allows(choice) {
            return Some(Fault::ValueNotAllowed { given: text.into() });
        }
        if self.chosen.contains(&(position as u8, choice)) {
            return Some(Fault::DuplicateValue { given: text.into() });
        }
        self.chosen.push((position as u8, choice));
        None
    }

    fn unknown(&mut self, id: &str) {
        if !self.report_unknown {
            return;
        }
        let field = Field::Attribute(echo(id));
        if !self.found.has(&field) {
            let known = self.rules.slots.iter().map(|slot| self.catalogue.attribute_id(slot));
            let suggestion = nearest(&echo(id), known).map(Into::into);
            self.found.add(field, Fault::UnknownAttribute { suggestion });
        }
    }

    /// Reports missing attributes and those with too many values, in display order.
    fn finish(self) {
        for &position in &self.rules.shown {
            let slot = &self.rules.slots[usize::from(position)];
            let given = self.counts[usize::from(position)];
            let most = match slot.kind {
                Kind::Several { max_values } => u32::from(max_values),
                _ => 1,
            };
            let fault = if given == 0 && slot.required {
                Fault::Required
            } else if given > most {
                Fault::TooManyValues { most, given }
            } else {
                continue;
            };
            self.found.add(Field::Attribute(self.catalogue.attribute_id(slot).into()), fault);
        }
    }
}

fn text_fault(text: &str, bounds: Bounds, characters: Option<&str>) -> Option<Fault> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Fault::Required);
    }
    if let Some(allowed) = characters
        && let Some(given) = text.chars().find(|c| !allowed.contains(*c))
    {
        return Some(Fault::BadCharacter { given, allowed: allowed.into() });
    }
    length_fault(text, bounds)
}

fn range_fault<T: Copy + Ord>(value: T, min: T, max: T, limit: fn(T) -> Value<'static>) -> Option<Fault> {
    if value < min {
        Some(Fault::TooSmall { least: limit(min) })
    } else if value > max {
        Some(Fault::TooLarge { most: limit(max) })
    } else {
        None
    }
}

fn decimal_fault(kind: &Kind, number: crate::Decimal) -> Option<Fault> {
    let Kind::Decimal { scale, min, max } = kind else { return None };
    if number.scale() > *scale {
        return Some(Fault::TooPrecise { scale: *scale });
    }
    match (min, max) {
        (Some(min), _) if number < *min => Some(Fault::below(*min)),
        (_, Some(max)) if number > *max => Some(Fault::above(*max)),
        _ => None,
    }
}

/// The id of the choice that was probably meant: by its name in any language, or the most similar.
pub(crate) fn suggest(attribute: &AttributeData, given: &str) -> Option<Box<str>> {
    fn texts(choice: &Labelled) -> impl Iterator<Item = &str> {
        std::iter::once(&*choice.id).chain(choice.labels.all())
    }
    let given = echo(given);
    let wanted = normalise(&given);
    let choices = &attribute.choices;
    let by_name = choices.iter().find(|choice| choice.labels.all().any(|name| normalise(name) == wanted));
    let similar = || {
        let near = nearest(&given, choices.iter().flat_map(texts))?;
        choices.iter().find(|choice| texts(choice).any(|text| text == near))
    };
    by_name.or_else(similar).map(|choice| choice.id.clone())
}
