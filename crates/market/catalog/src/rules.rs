//! The rules of a category, those of its ancestors included.

use crate::decimal::Decimal;
use crate::kind::Kind;
use crate::value::PriceKind;

/// Inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub least: u32,
    pub most: u32,
}

/// The limits of a category, except for attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Characters of a title without surrounding blanks.
    pub title: Bounds,
    /// Characters of a description without surrounding blanks.
    pub description: Bounds,
    pub photos: Bounds,
    pub price_required: bool,
    /// In any currency.
    pub price_max: Decimal,
    pub condition_required: bool,
    pub(crate) price_kinds: u8,
    /// Indexes of the allowed conditions.
    pub(crate) conditions: Box<[u8]>,
}

impl Limits {
    #[must_use]
    pub fn allows_price(&self, kind: PriceKind) -> bool {
        self.price_kinds & kind.bit() != 0
    }

    /// The allowed kinds of prices; none if there must be no price.
    pub fn price_kinds(&self) -> impl Iterator<Item = PriceKind> + '_ {
        PriceKind::ALL.into_iter().filter(|kind| self.allows_price(*kind))
    }
}

/// An attribute as a category uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) attribute: u32,
    pub(crate) required: bool,
    /// Narrowed by the category.
    pub(crate) kind: Kind,
    /// Sorted indexes of the allowed choices; `None` if all are allowed.
    pub(crate) choices: Option<Box<[u16]>>,
}

/// Shared by all categories without own rules.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) limits: Limits,
    /// Sorted by the ids of their attributes.
    pub(crate) slots: Box<[Slot]>,
    /// Indexes of slots in display order: those of ancestors first.
    pub(crate) shown: Box<[u8]>,
}
