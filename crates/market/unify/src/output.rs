//! What becomes of an offer of a feed.

use std::collections::BTreeMap;

use catalog::OwnedValue;
use geo::Located;

/// An offer in the words of the catalogue, and what could not be brought into them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Unified {
    /// The category; `None` if none was recognised.
    pub category: Option<Recognised>,
    /// By the catalogue's ids.
    pub attributes: BTreeMap<String, Vec<OwnedValue>>,
    /// What the category has no attribute for, or could not be read: as the feed has it.
    pub leftovers: Vec<Leftover>,
    /// Where it is.
    pub place: Option<Located>,
    /// What is wrong, or doubtful.
    pub marks: Vec<Mark>,
}

impl Unified {
    /// Whether something failed that may pass by itself: the offer must not be deleted for it.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        self.marks.iter().any(|mark| mark.kind.is_passing())
    }
}

/// A category that was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    /// The catalogue's id; offers can stand in it.
    pub id: String,
    /// How sure, from 0 to 1000.
    pub points: u16,
    /// By what.
    pub reason: Reason,
    /// The next likely one, and how sure that would be.
    pub second: Option<(String, u16)>,
    /// Whether the next one is as likely.
    pub is_ambiguous: bool,
}

/// By what a category was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The seller's own mapping says so.
    Mapping,
    /// The feed gives an id of our catalogue.
    Id,
    /// The feed gives a category of Google's taxonomy.
    Google,
    /// The feed's own category.
    Path,
    /// The feed's own category and the title together.
    PathAndTitle,
    /// The title alone.
    Title,
    /// The description.
    Description,
}

impl Reason {
    /// The stable name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mapping => "mapping",
            Self::Id => "id",
            Self::Google => "google",
            Self::Path => "path",
            Self::PathAndTitle => "path_and_title",
            Self::Title => "title",
            Self::Description => "description",
        }
    }
}

/// Something that a feed says and the catalogue has no place for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The name in the feed.
    pub name: String,
    /// The value, with its unit.
    pub value: String,
}

/// Something wrong or doubtful.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// What.
    pub kind: MarkKind,
    /// The field of the feed: `category`, `params.Цвет`, `address`.
    pub field: String,
    /// What stands there, or its beginning.
    pub given: String,
    /// What may have been meant: a category, a value, a place; or what a geocoder said.
    pub suggestion: Option<String>,
}

/// What can be wrong or doubtful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    /// Nothing in the catalogue is called so.
    UnknownCategory,
    /// Two categories are as likely, or the one that is meant has to be chosen among those below it.
    AmbiguousCategory,
    /// The category has no such attribute.
    UnknownAttribute,
    /// The value cannot be read.
    BadAttributeValue,
    /// No known place is named.
    UnknownPlace,
    /// Two places are as likely.
    AmbiguousPlace,
    /// The geocoder could not be asked; that passes.
    GeocoderUnavailable,
    /// The geocoder refuses; that does not pass by itself.
    GeocoderRefused,
}

impl MarkKind {
    /// The stable name: tables and reports keep it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownCategory => "unknown_category",
            Self::AmbiguousCategory => "ambiguous_category",
            Self::UnknownAttribute => "unknown_attribute",
            Self::BadAttributeValue => "bad_attribute_value",
            Self::UnknownPlace => "unknown_place",
            Self::AmbiguousPlace => "ambiguous_place",
            Self::GeocoderUnavailable => "geocoder_unavailable",
            Self::GeocoderRefused => "geocoder_refused",
        }
    }

    /// Whether it may pass by itself.
    #[must_use]
    pub fn is_passing(self) -> bool {
        self == Self::GeocoderUnavailable
    }
}

impl Mark {
    pub(crate) fn new(
        kind: MarkKind,
        field: impl Into<String>,
        given: &str,
        suggestion: Option<String>,
    ) -> Self {
        let given = text::head(given, crate::limits::ECHO_CHARS_MAX).to_owned();
        Self { kind, field: field.into(), given, suggestion }
    }
}
