//! What holds in a category, its ancestors' rules included.

use crate::decimal::Decimal;
use crate::kind::Kind;
use crate::value::PriceKind;

/// The least and the most, both allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The least.
    pub least: u32,
    /// The most.
    pub most: u32,
}

/// The limits of a category on everything but attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Characters of a title, blanks at its ends not counted.
    pub title: Bounds,
    /// Characters of a description, likewise.
    pub description: Bounds,
    /// Photos.
    pub photos: Bounds,
    /// Whether a price has to be given.
    pub price_required: bool,
    /// The largest amount, in any currency.
    pub price_max: Decimal,
    /// Whether a condition has to be given.
    pub condition_required: bool,
    pub(crate) price_kinds: u8,
    /// Numbers of the conditions that are allowed.
    pub(crate) conditions: Box<[u8]>,
}

impl Limits {
    /// Whether a price may be of this kind.
    #[must_use]
    pub fn allows_price(&self, kind: PriceKind) -> bool {
        self.price_kinds & kind.bit() != 0
    }

    /// The kinds that a price may be of; none if there may be no price.
    pub fn price_kinds(&self) -> impl Iterator<Item = PriceKind> + '_ {
        PriceKind::ALL.into_iter().filter(|kind| self.allows_price(*kind))
    }
}

/// An attribute as a category uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) attribute: u32,
    pub(crate) required: bool,
    /// The attribute's kind, narrowed.
    pub(crate) kind: Kind,
    /// Numbers of the choices that are allowed, in ascending order; `None` is all of them.
    pub(crate) choices: Option<Box<[u16]>>,
}

/// Shared by all categories that say nothing of their own.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) limits: Limits,
    /// In the order of the attributes' ids.
    pub(crate) slots: Box<[Slot]>,
    /// Numbers of slots in the order in which people are shown them: ancestors' first.
    pub(crate) shown: Box<[u8]>,
}
