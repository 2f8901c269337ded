//! What validation finds, for machines.

use std::fmt;

use crate::decimal::Decimal;
use crate::value::{PriceKind, Value};

/// One rule of the catalogue that an offer breaks. For people: [`Violation::text`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where.
    pub field: Field,
    /// What, with the limits that are involved.
    pub fault: Fault,
}

impl Violation {
    /// The machine code; its text is stable.
    #[must_use]
    pub fn code(&self) -> Code {
        self.fault.code()
    }
}

/// A field of an offer. Displayed as its path: `title`, `price.amount`, `attributes.mileage`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// `category`
    Category,
    /// `title`
    Title,
    /// `description`
    Description,
    /// `photos`
    Photos,
    /// `condition`
    Condition,
    /// `price`
    Price,
    /// `price.kind`
    PriceKind,
    /// `price.amount`
    PriceAmount,
    /// `price.upper`
    PriceUpper,
    /// `price.currency`
    PriceCurrency,
    /// `attributes.` and the attribute's id
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

/// What is wrong with a field. Texts that were sent are repeated only in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// There is no category with this id.
    CategoryUnknown {
        /// The id as it was given.
        given: Box<str>,
        /// The id that was probably meant.
        suggestion: Option<Box<str>>,
    },
    /// Offers stand only in categories below this one.
    CategoryNotOpen,
    /// The branch takes no offers any more.
    CategoryClosed {
        /// The id of the category to use.
        instead: Option<Box<str>>,
    },
    /// It has to be given.
    Required,
    /// It must not be given in this category.
    NotAllowed,
    /// A text has too few characters.
    TooShort {
        /// The fewest.
        least: u32,
        /// How many there are.
        given: u32,
    },
    /// A text has too many characters.
    TooLong {
        /// The most.
        most: u32,
        /// How many there are.
        given: u32,
    },
    /// A text has a character that the attribute does not take.
    BadCharacter {
        /// The character.
        given: char,
        /// All that it takes.
        allowed: Box<str>,
    },
    /// The category has no such attribute.
    UnknownAttribute {
        /// The id that was probably meant.
        suggestion: Option<Box<str>>,
    },
    /// The value is of another type.
    WrongType {
        /// The type as catalogue files call it.
        wanted: &'static str,
    },
    /// Below the range.
    TooSmall {
        /// Its lower end.
        least: Value<'static>,
    },
    /// Above the range.
    TooLarge {
        /// Its upper end.
        most: Value<'static>,
    },
    /// Too many digits after the point.
    TooPrecise {
        /// The most digits.
        scale: u8,
    },
    /// Not one of the values to choose from.
    UnknownValue {
        /// The value as it was given.
        given: Box<str>,
        /// The id that was probably meant.
        suggestion: Option<Box<str>>,
    },
    /// One of the values, but not for this category.
    ValueNotAllowed {
        /// The value as it was given.
        given: Box<str>,
    },
    /// More values than the attribute takes.
    TooManyValues {
        /// The most.
        most: u32,
        /// How many there are.
        given: u32,
    },
    /// The same value twice.
    DuplicateValue {
        /// The value.
        given: Box<str>,
    },
    /// A range that ends below its beginning.
    RangeReversed,
    /// A currency that the catalogue does not list.
    UnknownCurrency {
        /// The currency as it was given.
        given: Box<str>,
    },
    /// Fewer photos than the category wants.
    TooFew {
        /// The fewest.
        least: u32,
        /// How many there are.
        given: u32,
    },
    /// More photos than the category takes.
    TooMany {
        /// The most.
        most: u32,
        /// How many there are.
        given: u32,
    },
}

macro_rules! codes {
    ($($variant:ident = $text:literal,)*) => {
        /// The machine code of a violation. The texts never change; new ones may come.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = concat!("`", $text, "`: see the [`Fault`] of the same name.")] $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The stable text.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl Fault {
            /// The machine code.
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
