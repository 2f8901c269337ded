//! An offer of a file: typed, but not yet matched with the catalogue and places.

use crate::header::CategoryPath;
use crate::position::{At, Position};
use std::hash::{Hash, Hasher};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Money {
    /// In millionths of the currency: 12.50 is 12500000.
    pub micros: i64,
    /// Three letters of ISO 4217; empty if neither the offer nor the file names one.
    pub currency: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Price {
    Fixed(Money),
    Free,
    /// To be agreed upon, perhaps with an asking price.
    Negotiable(Option<Money>),
    /// Between two amounts, one of which may be missing.
    Range(Option<Money>, Option<Money>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Condition {
    New,
    LikeNew,
    Used,
    ForParts,
    Refurbished,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Availability {
    InStock,
    OutOfStock,
    PreOrder,
    BackOrder,
}

/// Where a category text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CategoryKind {
    Own,
    /// Google's taxonomy: a path or a number.
    Google,
    /// Avito's `Category`, `GoodsType` and similar fields, from the top down.
    Avito,
    Torg,
}

#[derive(Debug, Clone, PartialEq, Default, Hash)]
pub struct FeedCategory {
    /// The id of a category of the file.
    pub id: Option<At<String>>,
    /// The names from the top down, if the file has them before its offers.
    pub path: Option<CategoryPath>,
    pub texts: Vec<(CategoryKind, At<String>)>,
}

/// A parameter: `Weight`, `3.6`, `kg`.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    pub name: String,
    pub value: String,
    /// Empty if there is none, or if it is part of the value.
    pub unit: String,
    pub at: Position,
    /// The seller chose the name, not the format.
    pub is_own: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coordinates {
    pub latitude: f64,
    pub longitude: f64,
}

#[derive(Debug, Clone, PartialEq, Default, Hash)]
pub struct Contacts {
    pub name: Option<At<String>>,
    pub phones: Vec<At<String>>,
    pub email: Option<At<String>>,
}

/// An offer of a file. Texts are trimmed and not longer than [`limits`](crate::limits) allow; URLs
/// begin with `http`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FeedOffer {
    /// Unique in the file.
    pub external_id: String,
    pub at: Position,
    /// Never empty.
    pub title: At<String>,
    /// Without markup.
    pub description: Option<At<String>>,
    /// `None` if the file has none.
    pub price: Option<At<Price>>,
    /// Above the price.
    pub old_price: Option<At<Money>>,
    pub category: FeedCategory,
    /// All other fields, in file order.
    pub params: Vec<Param>,
    /// URLs, the main photo first.
    pub photos: Vec<At<String>>,
    pub video: Option<At<String>>,
    pub address: Option<At<String>>,
    pub coordinates: Option<At<Coordinates>>,
    pub contacts: Contacts,
    pub condition: Option<At<Condition>>,
    pub availability: Option<At<Availability>>,
    pub url: Option<At<String>>,
    pub vendor: Option<At<String>>,
    pub model: Option<At<String>>,
    /// The maker's number (MPN).
    pub vendor_code: Option<At<String>>,
    /// GTIN, EAN, ISBN.
    pub barcodes: Vec<At<String>>,
    /// Offers of a group are variants: size, colour and the like.
    pub group_id: Option<At<String>>,
    /// The format's own kind of offer: `vendor.model`, `book`.
    pub kind: Option<At<String>>,
    /// The site from which it was scraped (parsed profiles).
    pub source: Option<At<String>>,
}

/// Hashes the contents without positions: an offer that moved in its file has the same hash.
impl Hash for FeedOffer {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { external_id, at: _, title, description, price, old_price, category, params, .. } = self;
        (external_id, title, description, price, old_price, category, params).hash(state);
        let Self { photos, video, address, coordinates, contacts, condition, availability, url, .. } = self;
        (photos, video, address, coordinates, contacts, condition, availability, url).hash(state);
        let Self { vendor, model, vendor_code, barcodes, group_id, kind, source, .. } = self;
        (vendor, model, vendor_code, barcodes, group_id, kind, source).hash(state);
    }
}

impl Hash for Param {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { name, value, unit, at: _, is_own } = self;
        (name, value, unit, is_own).hash(state);
    }
}

impl Hash for Coordinates {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.latitude.to_bits(), self.longitude.to_bits()).hash(state);
    }
}

impl Default for At<String> {
    fn default() -> Self {
        Self::new(String::new(), Position::START)
    }
}

impl Money {
    /// The amount with a point, without needless zeros: `12.5`.
    #[must_use]
    pub fn amount(&self) -> String {
        const MICROS: i64 = 1_000_000;
        let (whole, rest) = (self.micros / MICROS, (self.micros % MICROS).abs());
        if rest == 0 {
            whole.to_string()
        } else {
            format!("{whole}.{rest:06}").trim_end_matches('0').to_owned()
        }
    }
}
