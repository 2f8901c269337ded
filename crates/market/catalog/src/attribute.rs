//! Views of attributes with their choices, units and conditions.

use crate::catalogue::Catalogue;
use crate::decimal::Decimal;
use crate::kind::Kind;
use crate::rules::{Rules, Slot};

/// Names in every language of the catalogue, and synonyms with their languages.
#[derive(Debug)]
pub(crate) struct Labels {
    pub(crate) names: Box<[Box<str>]>,
    pub(crate) synonyms: Box<[(u8, Box<str>)]>,
}

impl Labels {
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name).chain(self.synonyms.iter().map(|(_, name)| &**name))
    }
}

/// What has an id and names alone: a choice of an attribute, a condition.
#[derive(Debug)]
pub(crate) struct Labelled {
    pub(crate) id: Box<str>,
    pub(crate) labels: Labels,
}

#[derive(Debug)]
pub(crate) struct UnitData {
    pub(crate) labelled: Labelled,
    pub(crate) quantity: Box<str>,
    pub(crate) factor: Decimal,
}

#[derive(Debug)]
pub(crate) struct AttributeData {
    pub(crate) labelled: Labelled,
    pub(crate) kind: Kind,
    pub(crate) unit: Option<u16>,
    /// In the order of the file.
    pub(crate) choices: Vec<Labelled>,
    /// Indexes into `choices`, sorted by id.
    pub(crate) choices_by_id: Box<[u16]>,
}

impl AttributeData {
    pub(crate) fn id(&self) -> &str {
        &self.labelled.id
    }

    pub(crate) fn choice(&self, id: &str) -> Option<u16> {
        let found =
            self.choices_by_id.binary_search_by(|number| (*self.choices[usize::from(*number)].id).cmp(id));
        found.ok().map(|position| self.choices_by_id[position])
    }
}

/// Ids and names of views that have a method `labelled`.
macro_rules! labelled {
    ($($view:ident)*) => {$(
        impl<'c> $view<'c> {
            /// The stable id.
            #[must_use]
            pub fn id(self) -> &'c str {
                &self.labelled().id
            }

            /// The name in a language; in the first of the catalogue if the language is unknown.
            #[must_use]
            pub fn name(self, language: &str) -> &'c str {
                &self.labelled().labels.names[self.catalogue.language(language)]
            }

            /// Other names, in all languages.
            pub fn synonyms(self) -> impl Iterator<Item = &'c str> {
                self.labelled().labels.synonyms.iter().map(|(_, name)| &**name)
            }
        }
    )*};
}

labelled! { Attribute Choice Unit Condition }

/// A property of an offer, such as a colour or a mileage. Categories use it: see [`Use`].
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'c> {
    pub(crate) catalogue: &'c Catalogue,
    pub(crate) number: u32,
}

impl<'c> Attribute<'c> {
    pub(crate) fn data(self) -> &'c AttributeData {
        &self.catalogue.attributes[self.number as usize]
    }

    fn labelled(self) -> &'c Labelled {
        &self.data().labelled
    }

    /// The type of its values before a category narrows it.
    #[must_use]
    pub fn kind(self) -> &'c Kind {
        &self.data().kind
    }

    #[must_use]
    pub fn unit(self) -> Option<Unit<'c>> {
        self.data().unit.map(|number| Unit { catalogue: self.catalogue, number })
    }

    /// Its choices in display order.
    #[must_use]
    pub fn choices(self) -> impl ExactSizeIterator<Item = Choice<'c>> {
        let catalogue = self.catalogue;
        self.data().choices.iter().map(move |data| Choice { catalogue, data })
    }

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
    data: &'c Labelled,
}

impl<'c> Choice<'c> {
    fn labelled(self) -> &'c Labelled {
        self.data
    }
}

/// A unit of measure.
#[derive(Debug, Clone, Copy)]
pub struct Unit<'c> {
    pub(crate) catalogue: &'c Catalogue,
    pub(crate) number: u16,
}

impl<'c> Unit<'c> {
    fn data(self) -> &'c UnitData {
        &self.catalogue.units[usize::from(self.number)]
    }

    pub(crate) fn labelled(self) -> &'c Labelled {
        &self.data().labelled
    }

    /// Units of one quantity can be converted into each other.
    #[must_use]
    pub fn quantity(self) -> &'c str {
        &self.data().quantity
    }

    /// Converts `value` of this unit, rounded half away from zero to `scale` digits after the
    /// point. `None` if the units measure different quantities or the result does not fit.
    #[must_use]
    pub fn convert(self, value: Decimal, to: Unit<'_>, scale: u8) -> Option<Decimal> {
        if self.quantity() != to.quantity() {
            return None;
        }
        value.convert(self.data().factor, to.data().factor, scale)
    }
}

/// A condition of an item: new, used.
#[derive(Debug, Clone, Copy)]
pub struct Condition<'c> {
    pub(crate) catalogue: &'c Catalogue,
    pub(crate) number: u8,
}

impl<'c> Condition<'c> {
    fn labelled(self) -> &'c Labelled {
        &self.catalogue.conditions[usize::from(self.number)]
    }
}

/// An attribute as one category uses it: inherited or its own, possibly narrowed.
#[derive(Debug, Clone, Copy)]
pub struct Use<'c> {
    pub(crate) catalogue: &'c Catalogue,
    pub(crate) slot: &'c Slot,
}

impl<'c> Use<'c> {
    #[must_use]
    pub fn attribute(self) -> Attribute<'c> {
        Attribute { catalogue: self.catalogue, number: self.slot.attribute }
    }

    #[must_use]
    pub fn required(self) -> bool {
        self.slot.required
    }

    /// The type of its values, narrowed by the category.
    #[must_use]
    pub fn kind(self) -> &'c Kind {
        &self.slot.kind
    }

    /// The choices that the category allows.
    pub fn choices(self) -> impl Iterator<Item = Choice<'c>> {
        let choices = self.attribute().choices().enumerate();
        choices.filter(move |(number, _)| self.slot.allows(*number as u16)).map(|(_, choice)| choice)
    }
}

impl Slot {
    pub(crate) fn allows(&self, choice: u16) -> bool {
        self.choices.as_ref().is_none_or(|allowed| allowed.binary_search(&choice).is_ok())
    }
}

impl Catalogue {
    pub(crate) fn attribute_id(&self, slot: &Slot) -> &str {
        self.attributes[slot.attribute as usize].id()
    }

    pub(crate) fn slot(&self, rules: &Rules, attribute: &str) -> Option<usize> {
        rules.slots.binary_search_by(|slot| self.attribute_id(slot).cmp(attribute)).ok()
    }
}
