//! An offer as a file has it: typed, not yet matched with the catalogue or the map.

use crate::header::CategoryPath;
use crate::position::{At, Position};
use std::hash::{Hash, Hasher};

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Money {
    /// In millionths of the currency: 12.50 is 12500000.
    pub micros: i64,
    /// Three letters of ISO 4217; empty if neither the offer nor the file names one.
    pub currency: String,
}

/// What an offer costs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Price {
    /// So much.
    Fixed(Money),
    /// Nothing.
    Free,
    /// To be agreed upon; where talks begin, if that is said.
    Negotiable(Option<Money>),
    /// Between two amounts, one of which may be open.
    Range(Option<Money>, Option<Money>),
}

/// What state a thing is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Never used.
    New,
    /// Used and without a trace of it.
    LikeNew,
    /// Used.
    Used,
    /// Broken, for its parts.
    ForParts,
    /// Repaired by a trade.
    Refurbished,
}

/// Whether a thing can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Availability {
    /// Now.
    InStock,
    /// Not at present.
    OutOfStock,
    /// Before it appears.
    PreOrder,
    /// Later than usual.
    BackOrder,
}

/// Where a category text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CategoryKind {
    /// The seller's own words.
    Own,
    /// Google's taxonomy: a path or a number.
    Google,
    /// Avito's `Category`, `GoodsType` and their kin, from the top down.
    Avito,
    /// An id of Torg's catalogue.
    Torg,
}

/// What the file says about the category.
#[derive(Debug, Clone, PartialEq, Default, Hash)]
pub struct FeedCategory {
    /// The id of a category of the file's own tree.
    pub id: Option<At<String>>,
    /// Its names from the top down, if the file has them before its offers.
    pub path: Option<CategoryPath>,
    /// Words about it.
    pub texts: Vec<(CategoryKind, At<String>)>,
}

/// A parameter: `Weight`, `3.6`, `kg`.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Its unit; empty if there is none, or if it is part of the value.
    pub unit: String,
    /// Where the value stands.
    pub at: Position,
    /// The seller has given the name, not the format.
    pub is_own: bool,
}

/// A place on the earth, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coordinates {
    /// North of the equator.
    pub latitude: f64,
    /// East of Greenwich.
    pub longitude: f64,
}

/// Whom to ask.
#[derive(Debug, Clone, PartialEq, Default, Hash)]
pub struct Contacts {
    /// A person.
    pub name: Option<At<String>>,
    /// Phones, as they are written.
    pub phones: Vec<At<String>>,
    /// An e-mail address.
    pub email: Option<At<String>>,
}

/// An offer of a file. Texts are trimmed and not longer than [`limits`](crate::limits) allow; URLs begin with `http`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FeedOffer {
    /// Unique in the file.
    pub external_id: String,
    /// Where the offer begins.
    pub at: Position,
    /// Never empty.
    pub title: At<String>,
    /// Without markup.
    pub description: Option<At<String>>,
    /// None if the file says nothing.
    pub price: Option<At<Price>>,
    /// What it cost before; above the price.
    pub old_price: Option<At<Money>>,
    /// What kind of thing it is.
    pub category: FeedCategory,
    /// Everything else that the file says of it, in its order.
    pub params: Vec<Param>,
    /// Addresses of photos, the first one first.
    pub photos: Vec<At<String>>,
    /// The address of a video.
    pub video: Option<At<String>>,
    /// Where it is, in words.
    pub address: Option<At<String>>,
    /// Where it is, on the map.
    pub coordinates: Option<At<Coordinates>>,
    /// Whom to ask.
    pub contacts: Contacts,
    /// New or used.
    pub condition: Option<At<Condition>>,
    /// Whether it can be had.
    pub availability: Option<At<Availability>>,
    /// Its page.
    pub url: Option<At<String>>,
    /// The maker or brand.
    pub vendor: Option<At<String>>,
    /// The model.
    pub model: Option<At<String>>,
    /// The maker's number (MPN).
    pub vendor_code: Option<At<String>>,
    /// GTIN, EAN, ISBN.
    pub barcodes: Vec<At<String>>,
    /// Offers with the same group differ in size, colour and the like.
    pub group_id: Option<At<String>>,
    /// The format's own kind of offer: `vendor.model`, `book`.
    pub kind: Option<At<String>>,
    /// The site on which it was found (parsed profiles).
    pub source: Option<At<String>>,
}

/// What it says counts, not where it says it: an offer that has moved in its file has the same hash.
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
