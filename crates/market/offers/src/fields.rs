//! The fields of an offer by name: their comparison and their transfer.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Serialize;
use watcher::Fields;
use wire::torg::offers::v1::{Offer, Values};

/// The fields that a seller sets, except the attributes.
pub const SELLERS: &[&str] =
    &["category", "title", "description", "price", "photos", "video", "place", "contacts", "condition"];

/// All attributes; one of them is `attributes.colour`.
pub(crate) const ATTRIBUTES: &str = "attributes";

/// All fields that a seller sets.
pub static BY_SELLERS: LazyLock<Fields> =
    LazyLock::new(|| Fields::of(SELLERS.iter().copied().chain([ATTRIBUTES])));

/// Visits every field of an offer whose changes count, except the attributes. The times of changes
/// and the version follow from other fields.
macro_rules! for_each_field {
    ($visit:ident) => {
        $visit!(seller);
        $visit!(category);
        $visit!(title);
        $visit!(description);
        $visit!(price);
        $visit!(photos);
        $visit!(video);
        $visit!(place);
        $visit!(contacts);
        $visit!(condition);
        $visit!(source);
        $visit!(status);
        $visit!(status_reason);
        $visit!(status_time);
        $visit!(expire_time);
        $visit!(predicted_price);
        $visit!(photo_order);
        $visit!(expire_warning_time);
        $visit!(catalogue_version);
        $visit!(obstacles);
    };
}

/// The fields in which two offers differ.
#[must_use]
pub fn changed(before: &Offer, after: &Offer) -> Fields {
    let mut fields = Fields::none();
    macro_rules! compare {
        ($field:ident) => {
            if before.$field != after.$field {
                fields.extend([stringify!($field)]);
            }
        };
    }
    for_each_field!(compare);
    for name in before.attributes.keys().chain(after.attributes.keys()) {
        if before.attributes.get(name) != after.attributes.get(name) {
            fields.extend([&*format!("{ATTRIBUTES}.{name}")]);
        }
    }
    fields
}

/// A field that differs, with both values as JSON; `None` where it is not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// `price`, `attributes.colour`.
    pub field: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// The differences between two offers in these fields.
#[must_use]
pub fn differences(before: &Offer, after: &Offer, among: &Fields) -> Vec<Difference> {
    let mut found = Vec::new();
    macro_rules! compare {
        ($field:ident) => {
            if among.covers(stringify!($field)) && before.$field != after.$field {
                let field = stringify!($field).to_owned();
                found.push(Difference { field, before: json(&before.$field), after: json(&after.$field) });
            }
        };
    }
    for_each_field!(compare);
    let names: BTreeSet<&String> = before.attributes.keys().chain(after.attributes.keys()).collect();
    for name in names {
        let old = before.attributes.get(name);
        let new = after.attributes.get(name);
        if old != new {
            let json = |values: Option<&Values>| values.and_then(|values| json(&values.values));
            let field = format!("{ATTRIBUTES}.{name}");
            if among.covers(&field) {
                found.push(Difference { field, before: json(old), after: json(new) });
            }
        }
    }
    found
}

/// A value as JSON; `None` if it is not set.
fn json(value: &impl Serialize) -> Option<String> {
    let text = serde_json::to_string(value).ok()?;
    let is_none = matches!(&*text, "null" | "\"\"" | "[]" | "{}" | "0") || text.ends_with("_UNSPECIFIED\"");
    (!is_none).then_some(text)
}

/// Takes over the values of some fields. The time of the last change becomes the later of the two.
pub fn take(offer: &mut Offer, fields: &Fields, from: &Offer) {
    macro_rules! take_over {
        ($field:ident) => {
            if fields.covers(stringify!($field)) {
                offer.$field = from.$field.clone();
            }
        };
    }
    for_each_field!(take_over);
    let time_of = |offer: &Offer| offer.update_time.as_option().map(|time| (time.seconds, time.nanos));
    if time_of(from) > time_of(offer) {
        offer.update_time = from.update_time.clone();
    }
    let covers = |name: &str| fields.covers(&format!("{ATTRIBUTES}.{name}"));
    offer.attributes.retain(|name, _| !covers(name) || from.attributes.contains_key(name));
    for (name, values) in from.attributes.iter().filter(|(name, _)| covers(name)) {
        offer.attributes.insert(name.clone(), values.clone());
    }
}
