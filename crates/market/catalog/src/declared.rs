//! The contents of the files of a catalogue before they are checked as a whole: `read/` fills them,
//! `build/` makes the catalogue.

use smallvec::SmallVec;

use crate::decimal::Decimal;
use crate::error::At;
use crate::limits::LANGUAGES_MAX;
use crate::value::Date;

/// An index into [`Declared::languages`].
pub(crate) type Language = u8;
/// The language of a name that is the same in every language.
pub(crate) const EVERY_LANGUAGE: Language = Language::MAX;

pub(crate) type Names = SmallVec<[(Language, Box<str>); 2]>;
pub(crate) type Reference = (Box<str>, At);

#[derive(Debug, Default)]
pub(crate) struct Declared {
    pub(crate) header: Header,
    /// Language codes in the order of their first use.
    pub(crate) languages: Vec<Box<str>>,
    pub(crate) units: Vec<UnitSource>,
    pub(crate) conditions: Vec<Named>,
    pub(crate) attributes: Vec<AttributeSource>,
    pub(crate) categories: Vec<CategorySource>,
    /// Additions to categories of other files.
    pub(crate) extensions: Vec<CategorySource>,
}

impl Declared {
    /// The index of a language code; `None` if there are too many.
    pub(crate) fn language(&mut self, code: &str) -> Option<Language> {
        if let Some(known) = self.languages.iter().position(|language| &**language == code) {
            return Some(known as Language);
        }
        if self.languages.len() >= LANGUAGES_MAX {
            return None;
        }
        self.languages.push(code.into());
        Some((self.languages.len() - 1) as Language)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Header {
    /// The place of the header. A header of the built-in catalogue may be overridden.
    pub(crate) at: Option<At>,
    pub(crate) builtin: bool,
    pub(crate) name: Option<Box<str>>,
    pub(crate) version: Option<u32>,
    pub(crate) languages: Option<Vec<Reference>>,
    pub(crate) currencies: Option<Vec<Reference>>,
    pub(crate) limits: LimitsSource,
}

/// The start of every definition.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) id: Box<str>,
    pub(crate) at: At,
    pub(crate) names: Names,
    pub(crate) synonyms: Names,
}

#[derive(Debug)]
pub(crate) struct UnitSource {
    pub(crate) named: Named,
    /// Units of one quantity can be converted into each other.
    pub(crate) quantity: Box<str>,
    /// In base units of the quantity.
    pub(crate) factor: Decimal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeName {
    Text,
    Whole,
    Decimal,
    YesNo,
    Date,
    One,
    Several,
}

impl TypeName {
    pub(crate) const ALL: [(&'static str, Self); 7] = [
        ("text", Self::Text),
        ("whole", Self::Whole),
        ("decimal", Self::Decimal),
        ("yes-no", Self::YesNo),
        ("date", Self::Date),
        ("one", Self::One),
        ("several", Self::Several),
    ];

    pub(crate) fn as_str(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Scalar {
    Number(Decimal),
    Date(Date),
}

/// Bounds of values, for an attribute or its use in a category.
#[derive(Debug, Default)]
pub(crate) struct BoundsSource {
    pub(crate) min: Option<(Scalar, At)>,
    pub(crate) max: Option<(Scalar, At)>,
    pub(crate) length: Option<(u32, u32, At)>,
    pub(crate) scale: Option<(u8, At)>,
    pub(crate) characters: Option<Reference>,
    pub(crate) max_values: Option<(u16, At)>,
}

#[derive(Debug)]
pub(crate) struct AttributeSource {
    pub(crate) named: Named,
    pub(crate) type_name: TypeName,
    pub(crate) bounds: BoundsSource,
    pub(crate) unit: Option<Reference>,
    pub(crate) values: Vec<Named>,
}

#[derive(Debug)]
pub(crate) struct UseSource {
    pub(crate) attribute: Box<str>,
    pub(crate) at: At,
    /// `None` if a category only narrows the attribute.
    pub(crate) required: Option<bool>,
    pub(crate) bounds: BoundsSource,
    pub(crate) values: Option<Vec<Reference>>,
}

#[derive(Debug, Default)]
pub(crate) struct LimitsSource {
    pub(crate) title: Option<(u32, u32)>,
    pub(crate) description: Option<(u32, u32)>,
    pub(crate) photos: Option<(u32, u32)>,
    /// A bit set of [`PriceKind`](crate::PriceKind).
    pub(crate) price_kinds: Option<u8>,
    pub(crate) price_required: Option<bool>,
    pub(crate) price_max: Option<Decimal>,
    pub(crate) conditions: Option<Vec<Reference>>,
    pub(crate) condition_required: Option<bool>,
}

#[derive(Debug)]
pub(crate) struct CategorySource {
    pub(crate) named: Named,
    pub(crate) parent: Option<Reference>,
    /// Whether it accepts offers although it has children, unless `own` says otherwise.
    pub(crate) takes_offers: bool,
    /// Rare properties.
    pub(crate) own: Option<Box<OwnSource>>,
}

#[derive(Debug, Default)]
pub(crate) struct OwnSource {
    pub(crate) offers: Option<bool>,
    pub(crate) closed: bool,
    pub(crate) instead: Option<Reference>,
    pub(crate) limits: LimitsSource,
    pub(crate) uses: Vec<UseSource>,
}
