//! Every path that an offer has.

/// What a path can lead to.
pub(super) enum Shape {
    /// A value, a list, a time, the attributes: read and set as a whole.
    Leaf,
    /// A message with fields of its own.
    Message(Fields),
}

pub(super) type Fields = &'static [(&'static str, Shape)];

use Shape::{Leaf, Message};

/// The fields of an offer, but what Torg keeps for itself.
pub(super) const OFFER: Fields = &[
    ("id", Leaf),
    ("seller", Leaf),
    ("category", Leaf),
    ("title", Leaf),
    ("description", Leaf),
    ("price", Message(PRICE)),
    ("attributes", Leaf),
    ("photos", Leaf),
    ("video", Message(&[("url", Leaf), ("availability", Message(AVAILABILITY))])),
    ("place", Message(PLACE)),
    ("contacts", Message(&[("name", Leaf), ("phones", Leaf), ("email", Leaf), ("chat", Leaf)])),
    ("condition", Leaf),
    ("source", Message(SOURCE)),
    ("status", Leaf),
    ("status_reason", Message(&[("code", Leaf), ("text", Leaf), ("author", Message(AUTHOR))])),
    ("status_time", Leaf),
    ("create_time", Leaf),
    ("update_time", Leaf),
    ("expire_time", Leaf),
    ("version", Leaf),
    ("predicted_price", Message(PREDICTED_PRICE)),
    ("photo_order", Leaf),
    ("expire_warning_time", Leaf),
    ("catalogue_version", Leaf),
    ("obstacles", Leaf),
];

const MONEY: Fields = &[("micros", Leaf), ("currency", Leaf)];
const PRICE: Fields = &[
    ("fixed", Message(MONEY)),
    ("free", Leaf),
    ("negotiable", Message(&[("from", Message(MONEY))])),
    ("range", Message(&[("from", Message(MONEY)), ("to", Message(MONEY))])),
];
const AVAILABILITY: Fields =
    &[("state", Leaf), ("title", Leaf), ("check_time", Leaf), ("problem", Message(PROBLEM))];
const PROBLEM: Fields = &[("code", Leaf), ("text", Leaf), ("time", Leaf), ("passing", Leaf)];
const PREDICTED_PRICE: Fields = &[
    ("median", Message(MONEY)),
    ("low", Message(MONEY)),
    ("high", Message(MONEY)),
    ("count", Leaf),
    ("confidence", Leaf),
    ("basis", Leaf),
];
const PLACE: Fields = &[
    ("address", Leaf),
    ("place_id", Leaf),
    ("coordinates", Message(&[("latitude", Leaf), ("longitude", Leaf)])),
];
const SOURCE: Fields = &[("manual", Leaf), ("feed", Message(&[("namespace", Leaf), ("external_id", Leaf)]))];
const AUTHOR: Fields = &[("kind", Leaf), ("name", Leaf)];

/// The known path that a wrong one was probably meant to be.
pub(super) fn nearest(wrong: &str) -> Option<String> {
    let mut known = Vec::new();
    paths(OFFER, "", &mut known);
    text::nearest(wrong, known)
}

/// All paths, those within messages too.
pub(super) fn paths(fields: Fields, before: &str, found: &mut Vec<String>) {
    for (name, shape) in fields {
        let path = format!("{before}{name}");
        if let Message(fields) = shape {
            paths(fields, &format!("{path}."), found);
        }
        found.push(path);
    }
}

#[cfg(test)]
mod tests {
    use buffa_descriptor::{DescriptorPool, FieldKind, SingularKind};

    use super::*;

    /// Messages into which no path leads.
    const CLOSED: &[&str] = &["google.protobuf.Timestamp", "torg.offers.v1.Keeping"];

    fn of_contract(pool: &DescriptorPool, message: &str, before: &str, found: &mut Vec<String>) {
        let descriptor = pool.message_by_name(message).unwrap();
        for field in descriptor.fields() {
            let path = format!("{before}{}", field.name());
            if let FieldKind::Singular(SingularKind::Message(index)) = field.kind() {
                let name = pool.message(index).full_name();
                if !CLOSED.contains(&name) {
                    of_contract(pool, name, &format!("{path}."), found);
                }
            }
            found.push(path);
        }
    }

    #[test]
    fn every_field_of_the_contract_has_its_path() {
        let pool = DescriptorPool::decode(wire::DESCRIPTORS).unwrap();
        let (mut contract, mut ours) = (Vec::new(), Vec::new());
        of_contract(&pool, "torg.offers.v1.Offer", "", &mut contract);
        contract.retain(|path| path != "keeping");
        paths(OFFER, "", &mut ours);
        contract.sort();
        ours.sort();
        assert_eq!(ours, contract);
    }

    #[test]
    fn a_slip_finds_its_path_and_a_strange_word_finds_none() {
        for (wrong, meant) in [
            ("titel", Some("title")),
            ("statusReason.code", Some("status_reason.code")),
            ("place.adress", Some("place.address")),
            ("price.fixed.micro", Some("price.fixed.micros")),
            ("keeping", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(wrong).as_deref(), meant, "{wrong}");
        }
    }
}
