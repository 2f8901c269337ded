//! Violations with machine codes.

use std::fmt;

use crate::decimal::Decimal;
use crate::value::{PriceKind, Value};

/// A rule of the catalogue that an offer breaks. See [`Violation::text`] for a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub field: Field,
    /// With the limits that are involved.
    pub fault: Fault,
}

impl Violation {
    #[must_use]
    pub fn code(&self) -> Code {
        self.fault.code()
    }
}

/// A field of an offer; displayed as its path: `title`, `price.amount`, `attributes.mileage`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    Category,
    Title,
    Description,
    Photos,
    Condition,
    Price,
    PriceKind,
    PriceAmount,
    PriceUpper,
    PriceCurrency,
    /// With the attribute's id.
    Attribute(Box<str>),
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Category => "category",
            Self::Title => "title",
            Self::Description => "description",
            Self::Photos => "photos",
            Self::Condition => "condition",
            Self::Price => "price",
            Self::PriceKind => "price.kind",
            Self::PriceAmount => "price.amount",
            Self::PriceUpper => "price.upper",
            Self::PriceCurrency => "price.currency",
            Self::Attribute(id) => return write!(f, "attributes.{id}"),
        })
    }
}

/// What is wrong with a field. Given texts are truncated, suggestions are ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    CategoryUnknown {
        given: Box<str>,
        suggestion: Option<Box<str>>,
    },
    /// Only descendants of the category accept offers.
    CategoryNotOpen,
    /// The branch accepts no more offers.
    CategoryClosed {
        instead: Option<Box<str>>,
    },
    Required,
    /// The field must be empty in this category.
    NotAllowed,
    /// In characters.
    TooShort {
        least: u32,
        given: u32,
    },
    /// In characters.
    TooLong {
        most: u32,
        given: u32,
    },
    BadCharacter {
        given: char,
        allowed: Box<str>,
    },
    UnknownAttribute {
        suggestion: Option<Box<str>>,
    },
    /// `wanted` is a type name of catalogue files.
    WrongType {
        wanted: &'static str,
    },
    TooSmall {
        least: Value<'static>,
    },
    TooLarge {
        most: Value<'static>,
    },
    /// More than `scale` digits after the point.
    TooPrecise {
        scale: u8,
    },
    /// Not one of the choices.
    UnknownValue {
        given: Box<str>,
        suggestion: Option<Box<str>>,
    },
    /// A choice that this category does not allow.
    ValueNotAllowed {
        given: Box<str>,
    },
    TooManyValues {
        most: u32,
        given: u32,
    },
    DuplicateValue {
        given: Box<str>,
    },
    /// The upper end of a range is below the lower one.
    RangeReversed,
    /// The catalogue does not list the currency.
    UnknownCurrency {
        given: Box<str>,
    },
    /// Too few photos.
    TooFew {
        least: u32,
        given: u32,
    },
    /// Too many photos.
    TooMany {
        most: u32,
        given: u32,
    },
}

macro_rules! codes {
    ($($variant:ident = $text:literal,)*) => {
                /// The machine code of a violation. Existing texts never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
                        $($variant,)*
        }

        impl Code {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

                        /// The stable code.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl Fault {
            #[must_use]
            pub fn code(&self) -> Code {
                match self { $(Self::$variant { .. } => Code::$variant,)* }
            }
        }
    };
}

codes! {
    CategoryUnknown = "category_unknown",
    CategoryNotOpen = "category_not_open",
    CategoryClosed = "category_closed",
    Required = "required",
    NotAllowed = "not_allowed",
    TooShort = "too_short",
    TooLong = "too_long",
    BadCharacter = "bad_character",
    UnknownAttribute = "unknown_attribute",
    WrongType = "wrong_type",
    TooSmall = "too_small",
    TooLarge = "too_large",
    TooPrecise = "too_precise",
    UnknownValue = "unknown_value",
    ValueNotAllowed = "value_not_allowed",
    TooManyValues = "too_many_values",
    DuplicateValue = "duplicate_value",
    RangeReversed = "range_reversed",
    UnknownCurrency = "unknown_currency",
    TooFew = "too_few",
    TooMany = "too_many",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Fault {
    pub(crate) fn above(most: Decimal) -> Self {
        Self::TooLarge { most: Value::Decimal(most) }
    }

    pub(crate) fn below(least: Decimal) -> Self {
        Self::TooSmall { least: Value::Decimal(least) }
    }

    pub(crate) fn price_kind(kind: PriceKind) -> Self {
        Self::ValueNotAllowed { given: kind.as_str().into() }
    }
}
