//! The fields of an offer by their names: which differ, which are taken over, which a seller sets.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use watcher::Fields;
use wire::torg::offers::v1::{Offer, Values};

use crate::history::json;

/// Fields that a seller sets, beside the attributes.
pub const SELLERS: &[&str] =
    &["category", "title", "description", "price", "photos", "video", "place", "contacts", "condition"];

/// The attributes together; one of them is `attributes.colour`.
const ATTRIBUTES: &str = "attributes";

/// All that a seller sets.
pub static BY_SELLERS: LazyLock<Fields> =
    LazyLock::new(|| Fields::of(SELLERS.iter().copied().chain([ATTRIBUTES])));

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
        $visit!(predicted_price);
        $visit!(photo_order);
        $visit!(expire_warning_time);
        $visit!(catalogue_version);
        $visit!(obstacles);
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

/// A field that differs, with both values as JSON; `None` where it is not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// `price`, `attributes.colour`.
    pub field: String,
    /// What it was.
    pub before: Option<String>,
    /// What it is.
    pub after: Option<String>,
}

/// All that differs between two offers.
#[must_use]
pub fn differences(before: &Offer, after: &Offer) -> Vec<Difference> {
    let mut found = Vec::new();
    for_each_change(before, after, |field, before, after| {
        found.push(Difference { field: field.to_owned(), before, after });
    });
    found
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
    // What Torg keeps of a move goes with it: to what a ban is lifted, and what was sold for how much.
    if fields.covers("status") {
        let from = from.keeping.as_option().cloned().unwrap_or_default();
        let keeping = offer.keeping.get_or_insert_default();
        (keeping.status_before_ban, keeping.sold_counted, keeping.paid) =
            (from.status_before_ban, from.sold_counted, from.paid);
    }
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

#[cfg(test)]
mod tests {
    use wire::torg::offers::v1::{Keeping, Status};

    use super::*;

    #[test]
    fn a_status_that_is_taken_over_brings_along_what_is_kept_of_its_move() {
        let keeping =
            Keeping { status_before_ban: Status::Sold.into(), sold_counted: true, ..Keeping::default() };
        let banned =
            Offer { status: Status::Banned.into(), keeping: Some(keeping).into(), ..Offer::default() };
        let mut offer = Offer { title: "bike".to_owned(), status: Status::Sold.into(), ..Offer::default() };
        take(&mut offer, &Fields::of(["title"]), &banned);
        assert!(!offer.keeping.is_set());
        take(&mut offer, &Fields::of(["status"]), &banned);
        assert_eq!((offer.status, &offer.keeping), (banned.status, &banned.keeping));
    }
}
