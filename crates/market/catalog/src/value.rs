//! The catalogue's view of an offer: values, prices and the trait `Subject`.

use std::collections::BTreeMap;

pub use jiff::civil::Date;

use crate::decimal::Decimal;

/// A borrowed value of an attribute. Numbers are in the attribute's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// A text, or the id of a choice.
    Text(&'a str),
    Whole(i64),
    Decimal(Decimal),
    YesNo(bool),
    Date(Date),
}

/// A [`Value`] that owns its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnedValue {
    /// A text, or the id of a choice.
    Text(String),
    Whole(i64),
    Decimal(Decimal),
    YesNo(bool),
    Date(Date),
}

impl OwnedValue {
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

impl std::fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Decimal(number) => write!(f, "{number}"),
            Self::YesNo(answer) => f.write_str(if *answer { "yes" } else { "no" }),
            Self::Date(date) => write!(f, "{date}"),
        }
    }
}

impl From<&str> for OwnedValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

macro_rules! from {
    ($($variant:ident($type:ty))*) => {$(
        impl From<$type> for OwnedValue {
            fn from(value: $type) -> Self {
                Self::$variant(value)
            }
        }
    )*};
}

from! { Whole(i64) Decimal(Decimal) YesNo(bool) Date(Date) }

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PriceKind {
    Fixed,
    /// From one amount to another; one end may be open.
    Range,
    /// Negotiable, with an optional amount to start from.
    Negotiable,
    Free,
}

impl PriceKind {
    /// In display order.
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

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    pub(crate) fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price<'a> {
    pub kind: PriceKind,
    /// In units of the currency, not in cents; the lower end of a range.
    pub amount: Option<Decimal>,
    /// The upper end of a range.
    pub upper: Option<Decimal>,
    /// An ISO 4217 code.
    pub currency: Option<&'a str>,
}

/// An offer as the catalogue validates it.
pub trait Subject {
    /// The id of the category.
    fn category(&self) -> &str;
    fn title(&self) -> &str;
    /// Empty if there is none.
    fn description(&self) -> &str;
    fn price(&self) -> Option<Price<'_>>;
    /// The number of photos.
    fn photos(&self) -> usize;
    /// The id of the condition.
    fn condition(&self) -> Option<&str>;
    /// Calls `visit` once for each value of each attribute, in any order.
    fn each_value(&self, visit: &mut dyn FnMut(&str, Value<'_>));
}

/// A [`Price`] that owns its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedPrice {
    pub kind: PriceKind,
    pub amount: Option<Decimal>,
    pub upper: Option<Decimal>,
    pub currency: Option<String>,
}

/// A plain [`Subject`], which migrations read and write.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Item {
    /// The version of the catalogue that the item conforms to.
    pub version: u32,
    /// The id of the category.
    pub category: String,
    pub title: String,
    pub description: String,
    pub price: Option<OwnedPrice>,
    /// The number of photos.
    pub photos: usize,
    /// The id of the condition.
    pub condition: Option<String>,
    /// Values by attribute id.
    pub attributes: BTreeMap<String, Vec<OwnedValue>>,
    /// Attributes that earlier migrations removed; not validated.
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
