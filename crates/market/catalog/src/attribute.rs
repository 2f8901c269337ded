//! Attributes, their choices and units, conditions: data and views.

use crate::catalogue::Catalogue;
use crate::decimal::Decimal;
use crate::kind::Kind;
use crate::rules::{Rules, Slot};

/// Names in every language of the catalogue, and other names.
#[derive(Debug)]
pub(crate) struct Labels {
    pub(crate) names: Box<[Box<str>]>,
    pub(crate) synonyms: Box<[(u8, Box<str>)]>,
}

impl Labels {
    /// Every name and synonym.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name).chain(self.synonyms.iter().map(|(_, name)| &**name))
    }
}

#[derive(Debug)]
pub(crate) struct UnitData {
    pub(crate) id: Box<str>,
    pub(crate) labels: Labels,
    pub(crate) quantity: Box<str>,
    pub(crate) factor: Decimal,
}

#[derive(Debug)]
pub(crate) struct ChoiceData {
    pub(crate) id: Box<str>,
    pub(crate) labels: Labels,
}

#[derive(Debug)]
pub(crate) struct AttributeData {
    pub(crate) id: Box<str>,
    pub(crate) labels: Labels,
    pub(crate) kind: Kind,
    pub(crate) unit: Option<u16>,
    /// In the order of the file.
    pub(crate) choices: Vec<ChoiceData>,
    /// Numbers of the choices in the order of their ids.
    pub(crate) choices_by_id: Box<[u16]>,
}

impl AttributeData {
    /// The number of the choice with this id.
    pub(crate) fn choice(&self, id: &str) -> Option<u16> {
        let found =
            self.choices_by_id.binary_search_by(|number| (*self.choices[usize::from(*number)].id).cmp(id));
        found.ok().map(|place| self.choices_by_id[place])
    }
}

/// What an offer can say about a thing: a colour, a mileage. Categories use it; see [`Use`].
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'c> {
    pub(crate) catalogue: &'c Catalogue,
    pub(crate) number: u32,
}

impl<'c> Attribute<'c> {
    pub(crate) fn data(self) -> &'c AttributeData {
        &self.catalogue.attributes[self.number as usize]
    }

    /// The stable id.
    #[must_use]
    pub fn id(self) -> &'c str {
        &self.data().id
    }

    /// The name in a language; in the catalogue's first if it has none in that.
    #[must_use]
    pub fn name(self, language: &str) -> &'c str {
        &self.data().labels.names[self.catalogue.language(language)]
    }

    /// Other names, in all languages.
    pub fn synonyms(self) -> impl Iterator<Item = &'c str> {
        self.data().labels.synonyms.iter().map(|(_, name)| &**name)
    }

    /// The type of its values, before a category narrows it.
    #[must_use]
    pub fn kind(self) -> &'c Kind {
        &self.data().kind
    }

    /// The unit that its values are in.
    #[must_use]
    pub fn unit(self) -> Option<Unit<'c>> {
        self.data().unit.map(|number| Unit { catalogue: self.catalogue, number })
    }

    /// What it chooses from, in the order in which people are shown it.
    #[must_use]
    pub fn choices(self) -> impl ExactSizeIterator<Item = Choice<'c>> {
        let catalogue = self.catalogue;
        self.data().choices.iter().map(move |data| Choice { catalogue, data })
    }

    /// The choice with this id.
    #[must_use]
    pub fn choice(self, id: &str) -> Option<Choice<'c>> {
        let number = self.data().choice(id)?;
        Some(Choice { catalogue: self.catalogue, data: &self.data().choices[usize::from(number)] })
    }
}

/// One of the values that an attribute chooses from.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'c> {
    catalogue: &'c Catalogue,
    data: &'c ChoiceData,
}

impl<'c> Choice<'c> {
    /// The stable id, which offers keep.
    #[must_use]
    pub fn id(self) -> &'c str {
        &self.data.id
    }

    /// The name in a language; in the catalogue's first if it has none in that.
    #[must_use]
    pub fn name(self, language: &str) -> &'c str {
        &self.data.labels.names[self.catalogue.language(language)]
    }

    /// Other names, in all languages.
    pub fn synonyms(self) -> impl Iterator<Item = &'c str> {
        self.data.labels.synonyms.iter().map(|(_, name)| &**name)
    }
}

/// A unit of measure.
#[derive(Debug, Clone, Copy)]
pub struct Unit<'c> {
    pub(crate) catalogue: &'c Catalogue,
    pub(crate) number: u16,
}

impl<'c> Unit<'c> {
    pub(crate) fn data(self) -> &'c UnitData {
        &self.catalogue.units[usize::from(self.number)]
    }

    /// The stable id.
    #[must_use]
    pub fn id(self) -> &'c str {
        &self.data().id
    }

    /// The short name in a language: `km`, `км`.
    #[must_use]
    pub fn name(self, language: &str) -> &'c str {
        &self.data().labels.names[self.catalogue.language(language)]
    }

    /// What it measures; units of one quantity can be converted.
    #[must_use]
    pub fn quantity(self) -> &'c str {
        &self.data().quantity
    }

    /// `value` of this unit in another, rounded half away from zero to `scale` digits after the point.
    /// `None` if the two measure different quantities, or the result does not fit.
    #[must_use]
    pub fn convert(self, value: Decimal, to: Unit<'_>, scale: u8) -> Option<Decimal> {
        if self.quantity() != to.quantity() {
            return None;
        }
        value.convert(self.data().factor, to.data().factor, scale)
    }
}

/// A condition that a thing can be in: new, used.
#[derive(Debug, Clone, Copy)]
pub struct Condition<'c> {
    pub(crate) catalogue: &'c Catalogue,
    pub(crate) number: u8,
}

impl<'c> Condition<'c> {
    /// The stable id.
    #[must_use]
    pub fn id(self) -> &'c str {
        &self.catalogue.conditions[usize::from(self.number)].0
    }

    /// The name in a language; in the catalogue's first if it has none in that.
    #[must_use]
    pub fn name(self, language: &str) -> &'c str {
        &self.catalogue.conditions[usize::from(self.number)].1.names[self.catalogue.language(language)]
    }
}

/// An attribute as one category uses it: inherited or its own, perhaps narrowed.
#[derive(Debug, Clone, Copy)]
pub struct Use<'c> {
    pub(crate) catalogue: &'c Catalogue,
    pub(crate) slot: &'c Slot,
}

impl<'c> Use<'c> {
    /// The attribute.
    #[must_use]
    pub fn attribute(self) -> Attribute<'c> {
        Attribute { catalogue: self.catalogue, number: self.slot.attribute }
    }

    /// Whether an offer of the category has to have it.
    #[must_use]
    pub fn required(self) -> bool {
        self.slot.required
    }

    /// The type of its values, as narrow as this category wants it.
    #[must_use]
    pub fn kind(self) -> &'c Kind {
        &self.slot.kind
    }

    /// The choices that this category allows.
    pub fn choices(self) -> impl Iterator<Item = Choice<'c>> {
        let (catalogue, data) = (self.catalogue, self.attribute().data());
        data.choices
            .iter()
            .enumerate()
            .filter(move |(number, _)| self.slot.allows(*number as u16))
            .map(move |(_, data)| Choice { catalogue, data })
    }
}

impl Slot {
    pub(crate) fn allows(&self, choice: u16) -> bool {
        self.choices.as_ref().is_none_or(|allowed| allowed.binary_search(&choice).is_ok())
    }
}

impl Catalogue {
    /// The number of the slot of an attribute.
    pub(crate) fn slot(&self, rules: &Rules, attribute: &str) -> Option<usize> {
        rules
            .slots
            .binary_search_by(|slot| (*self.attributes[slot.attribute as usize].id).cmp(attribute))
            .ok()
    }
}
