//! The fields of an offer by their names: which differ, which are taken over, which a seller sets.

use std::collections::BTreeSet;

use contract::torg::offers::v1::{Offer, Values};
use watcher::Fields;

use crate::history::json;

/// Fields that a seller sets, beside the attributes.
pub const SELLERS: &[&str] =
    &["category", "title", "description", "price", "photos", "video", "place", "contacts", "condition"];

/// The attributes together; one of them is `attributes.colour`.
const ATTRIBUTES: &str = "attributes";

/// Every field but the attributes, each with what compares it and what takes it over.
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
    };
}

/// The fields in which two offers differ. Times of changes, the version and what Torg keeps for itself do not count: they follow from others.
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

/// Tells every field that differs, with both values as JSON; `None` where it is not set.
pub(crate) fn for_each_change(
    before: &Offer,
    after: &Offer,
    mut tell: impl FnMut(&str, Option<String>, Option<String>),
) {
    macro_rules! compare {
        ($field:ident) => {
            if before.$field != after.$field {
                tell(stringify!($field), json(&before.$field), json(&after.$field));
            }
        };
    }
    for_each_field!(compare);
    let names: BTreeSet<&String> = before.attributes.keys().chain(after.attributes.keys()).collect();
    for name in names {
        let (old, new) = (before.attributes.get(name), after.attributes.get(name));
        if old != new {
            let json = |values: Option<&Values>| values.and_then(|values| json(&values.values));
            tell(&format!("{ATTRIBUTES}.{name}"), json(old), json(new));
        }
    }
}

/// Takes over some fields.
pub fn take(offer: &mut Offer, fields: &Fields, from: &Offer) {
    macro_rules! take_over {
        ($field:ident) => {
            if fields.covers(stringify!($field)) {
                offer.$field = from.$field.clone();
            }
        };
    }
    for_each_field!(take_over);
    // Whatever is taken over, the offer is as new as the newer of the two.
    let newest = |offer: &Offer| offer.update_time.as_option().map(|time| (time.seconds, time.nanos));
    if newest(from) > newest(offer) {
        offer.update_time = from.update_time.clone();
    }
    let covers = |name: &str| fields.covers(&format!("{ATTRIBUTES}.{name}"));
    offer.attributes.retain(|name, _| !covers(name) || from.attributes.contains_key(name));
    for (name, values) in &from.attributes {
        if covers(name) {
            offer.attributes.insert(name.clone(), values.clone());
        }
    }
}

/// Whether a path names something that a seller sets.
#[must_use]
pub fn is_sellers(path: &str) -> bool {
    let first = path.split('.').next().unwrap_or_default();
    first == ATTRIBUTES || SELLERS.contains(&path)
}
