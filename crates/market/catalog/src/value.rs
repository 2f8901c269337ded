//! What the catalogue sees of an offer: its values, its price, and the trait by which it looks.

use std::collections::BTreeMap;

pub use jiff::civil::Date;

use crate::decimal::Decimal;

/// One value of an attribute, borrowed from where the offer keeps it. Measures are in the unit of their attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// A text, or the id of one of the values that an attribute chooses from.
    Text(&'a str),
    /// A whole number.
    Whole(i64),
    /// A decimal number.
    Decimal(Decimal),
    /// Yes or no.
    YesNo(bool),
    /// A day.
    Date(Date),
}

/// A [`Value`] that owns its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnedValue {
    /// A text, or the id of one of the values that an attribute chooses from.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A decimal number.
    Decimal(Decimal),
    /// Yes or no.
    YesNo(bool),
    /// A day.
    Date(Date),
}

impl OwnedValue {
    /// The same value, borrowed.
    #[must_use]
    pub fn borrow(&self) -> Value<'_> {
        match self {
            Self::Text(text) => Value::Text(text),
            Self::Whole(number) => Value::Whole(*number),
            Self::Decimal(number) => Value::Decimal(*number),
            Self::YesNo(answer) => Value::YesNo(*answer),
            Self::Date(date) => Value::Date(*date),
        }
    }
}

impl Value<'_> {
    /// The same value with a text of its own.
    #[must_use]
    pub fn to_owned(&self) -> OwnedValue {
        match *self {
            Self::Text(text) => OwnedValue::Text(text.to_owned()),
            Self::Whole(number) => OwnedValue::Whole(number),
            Self::Decimal(number) => OwnedValue::Decimal(number),
            Self::YesNo(answer) => OwnedValue::YesNo(answer),
            Self::Date(date) => OwnedValue::Date(date),
        }
    }
}

impl From<&str> for OwnedValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for OwnedValue {
    fn from(number: i64) -> Self {
        Self::Whole(number)
    }
}

impl From<Decimal> for OwnedValue {
    fn from(number: Decimal) -> Self {
        Self::Decimal(number)
    }
}

impl From<bool> for OwnedValue {
    fn from(answer: bool) -> Self {
        Self::YesNo(answer)
    }
}

impl From<Date> for OwnedValue {
    fn from(date: Date) -> Self {
        Self::Date(date)
    }
}

/// How a price is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PriceKind {
    /// This amount.
    Fixed,
    /// From one amount to another; one of the two ends may be open.
    Range,
    /// To be agreed; an amount may be named as a start.
    Negotiable,
    /// Given away.
    Free,
}

impl PriceKind {
    /// Every kind, in the order in which people are offered them.
    pub const ALL: [Self; 4] = [Self::Fixed, Self::Range, Self::Negotiable, Self::Free];

    /// The stable name: `fixed`, `range`, `negotiable`, `free`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Range => "range",
            Self::Negotiable => "negotiable",
            Self::Free => "free",
        }
    }

    /// The kind with this stable name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    pub(crate) fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

/// A price as an offer has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price<'a> {
    /// How it is meant.
    pub kind: PriceKind,
    /// The amount in units of the currency (not in cents); of a range its lower end.
    pub amount: Option<Decimal>,
    /// The upper end of a range.
    pub upper: Option<Decimal>,
    /// Three capital letters (ISO 4217).
    pub currency: Option<&'a str>,
}

/// What the catalogue has to see of an offer in order to validate it.
pub trait Subject {
    /// The category's id.
    fn category(&self) -> &str;
    /// The title.
    fn title(&self) -> &str;
    /// The description; empty if there is none.
    fn description(&self) -> &str;
    /// The price, if there is one.
    fn price(&self) -> Option<Price<'_>>;
    /// How many photos there are.
    fn photos(&self) -> usize;
    /// The id of the condition, if one is given.
    fn condition(&self) -> Option<&str>;
    /// Calls `visit` once for every value of every attribute, in any order: an attribute with three values is visited three times,
    /// one with none is not given.
    fn each_value(&self, visit: &mut dyn FnMut(&str, Value<'_>));
}

/// A price that owns its text; see [`Price`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedPrice {
    /// How it is meant.
    pub kind: PriceKind,
    /// The amount, or the lower end.
    pub amount: Option<Decimal>,
    /// The upper end of a range.
    pub upper: Option<Decimal>,
    /// The currency.
    pub currency: Option<String>,
}

/// The plain form of a [`Subject`], for callers that have none of their own, and what a migration reads and writes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Item {
    /// The version of the catalogue that the rest was written by.
    pub version: u32,
    /// The category's id.
    pub category: String,
    /// The title.
    pub title: String,
    /// The description.
    pub description: String,
    /// The price.
    pub price: Option<OwnedPrice>,
    /// How many photos there are.
    pub photos: usize,
    /// The id of the condition.
    pub condition: Option<String>,
    /// Attribute id to values.
    pub attributes: BTreeMap<String, Vec<OwnedValue>>,
    /// What earlier migrations took out of `attributes` and nobody validates any more.
    pub leftover: BTreeMap<String, Vec<OwnedValue>>,
}

impl Subject for Item {
    fn category(&self) -> &str {
        &self.category
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn price(&self) -> Option<Price<'_>> {
        self.price.as_ref().map(|price| Price {
            kind: price.kind,
            amount: price.amount,
            upper: price.upper,
            currency: price.currency.as_deref(),
        })
    }

    fn photos(&self) -> usize {
        self.photos
    }

    fn condition(&self) -> Option<&str> {
        self.condition.as_deref()
    }

    fn each_value(&self, visit: &mut dyn FnMut(&str, Value<'_>)) {
        for (attribute, values) in &self.attributes {
            for value in values {
                visit(attribute, value.borrow());
            }
        }
    }
}
