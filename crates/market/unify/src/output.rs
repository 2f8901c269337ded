//! The result for an offer of a feed.

use std::collections::BTreeMap;

use catalog::OwnedValue;
use geo::Located;

use crate::limits::ECHO_CHARS_MAX;
use crate::unifier::truncate;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Unified {
    /// `None` if none was recognised.
    pub category: Option<Recognised>,
    /// By ids of the catalogue.
    pub attributes: BTreeMap<String, Vec<OwnedValue>>,
    /// Values without an attribute, and those that cannot be read.
    pub leftovers: Vec<Leftover>,
    pub place: Option<Located>,
    /// Problems and doubts.
    pub marks: Vec<Mark>,
}

impl Unified {
    /// Whether a temporary failure occurred: the offer must not be deleted for it.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        self.marks.iter().any(|mark| mark.kind.is_passing())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    /// A category that accepts offers.
    pub id: String,
    /// Confidence from 0 to 1000.
    pub points: u16,
    pub reason: Reason,
    /// The next likely category with its confidence.
    pub second: Option<(String, u16)>,
    /// Whether `second` is equally likely.
    pub is_ambiguous: bool,
}

/// Why a category was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The seller's own mapping.
    Mapping,
    /// An id of our catalogue in the feed.
    Id,
    /// A category of Google's taxonomy in the feed.
    Google,
    /// The category of the feed.
    Path,
    /// The category of the feed and the title.
    PathAndTitle,
    Title,
    Description,
}

impl Reason {
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

/// A parameter of the feed without an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    pub name: String,
    /// With its unit.
    pub value: String,
}

/// A problem or doubt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub kind: MarkKind,
    /// `category`, `params.Цвет`, `address`.
    pub field: String,
    /// The given text, truncated.
    pub given: String,
    /// A category, value or place that may be meant, or the error of a geocoder.
    pub suggestion: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    UnknownCategory,
    /// Two categories are equally likely, or the recognised one accepts no offers itself.
    AmbiguousCategory,
    /// The category does not have the attribute.
    UnknownAttribute,
    BadAttributeValue,
    UnknownPlace,
    /// Two places are equally likely.
    AmbiguousPlace,
    /// A temporary failure.
    GeocoderUnavailable,
    /// A permanent failure.
    GeocoderRefused,
}

impl MarkKind {
    /// The stable name, used in tables and reports.
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
        let given = truncate(given, ECHO_CHARS_MAX).to_owned();
        Self { kind, field: field.into(), given, suggestion }
    }
}
