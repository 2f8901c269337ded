//! Attributes: known, of the right type, within their range, the required ones there.

use smallvec::SmallVec;

use crate::attribute::AttributeData;
use crate::catalogue::{Catalogue, Category};
use crate::kind::Kind;
use crate::limits::CATEGORY_ATTRIBUTES_MAX;
use crate::rules::{Bounds, Rules, Slot};
use crate::text::{echo, normalise};
use crate::value::{Subject, Value};
use crate::violation::{Fault, Field};
use ::text::nearest;

use super::Found;
use super::texts::length_fault;

pub(crate) fn check(subject: &(impl Subject + ?Sized), category: Category<'_>, found: &mut Found) {
    let mut check = Check {
        catalogue: category.catalogue,
        rules: category.rules(),
        // Offers of a category that is not open have attributes of one below, which this one does not know.
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
    /// Values seen, by slot.
    counts: [u32; CATEGORY_ATTRIBUTES_MAX],
    /// Choices seen, with their slot.
    chosen: SmallVec<[(u8, u16); 16]>,
    found: &'a mut Found,
}

impl Check<'_> {
    fn value(&mut self, id: &str, value: Value<'_>) {
        let Some(place) = self.catalogue.slot(self.rules, id) else {
            self.unknown(id);
            return;
        };
        self.counts[place] = self.counts[place].saturating_add(1);
        let slot = &self.rules.slots[place];
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
                self.choice_fault(place, slot, attribute, text)
            }
            _ => Some(Fault::WrongType { wanted: slot.kind.type_name() }),
        };
        if let Some(fault) = fault {
            self.found.add(Field::Attribute(attribute.id.clone()), fault);
        }
    }

    fn choice_fault(
        &mut self,
        place: usize,
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
        if self.chosen.contains(&(place as u8, choice)) {
            return Some(Fault::DuplicateValue { given: text.into() });
        }
        self.chosen.push((place as u8, choice));
        None
    }

    fn unknown(&mut self, id: &str) {
        if !self.report_unknown {
            return;
        }
        let field = Field::Attribute(echo(id));
        if !self.found.has(&field) {
            let known =
                self.rules.slots.iter().map(|slot| &*self.catalogue.attributes[slot.attribute as usize].id);
            let suggestion = nearest(&echo(id), known).map(Into::into);
            self.found.add(field, Fault::UnknownAttribute { suggestion });
        }
    }

    /// Missing ones, and those with too many values, in the order in which people are shown attributes.
    fn finish(self) {
        for &place in &self.rules.shown {
            let slot = &self.rules.slots[usize::from(place)];
            let given = self.counts[usize::from(place)];
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
            let id = self.catalogue.attributes[slot.attribute as usize].id.clone();
            self.found.add(Field::Attribute(id), fault);
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

/// The id of the choice that was probably meant: the one with this name in any language, or the nearest.
pub(crate) fn suggest(attribute: &AttributeData, given: &str) -> Option<Box<str>> {
    let given = echo(given);
    let wanted = normalise(&given);
    let by_name =
        attribute.choices.iter().find(|choice| choice.labels.all().any(|name| normalise(name) == wanted));
    if let Some(choice) = by_name {
        return Some(choice.id.clone());
    }
    let texts = || {
        attribute.choices.iter().flat_map(|choice| std::iter::once(&*choice.id).chain(choice.labels.all()))
    };
    let near = nearest(&given, texts())?;
    let meant = |choice: &&crate::attribute::ChoiceData| {
        *choice.id == *near || choice.labels.all().any(|name| name == near)
    };
    attribute.choices.iter().find(meant).map(|choice| choice.id.clone())
}
