//! The paths of an offer.

use wire::torg::offers::v1::Offer;

use super::parts::{Field, Parts};

/// The path that a wrong one was probably meant to be.
pub(super) fn nearest(wrong: &str) -> Option<String> {
    let mut known = Vec::new();
    add_paths(Offer::FIELDS, "", &mut known);
    text::nearest(wrong, known)
}

fn add_paths(fields: &[Field], before: &str, found: &mut Vec<String>) {
    for Field { name, fields } in fields {
        let path = format!("{before}{name}");
        add_paths(fields, &format!("{path}."), found);
        found.push(path);
    }
}

#[cfg(test)]
mod tests {
    use buffa_descriptor::{DescriptorPool, FieldKind, SingularKind};

    use super::*;

    fn of_contract(pool: &DescriptorPool, message: &str, before: &str, found: &mut Vec<String>) {
        let descriptor = pool.message_by_name(message).unwrap();
        for field in descriptor.fields() {
            let path = format!("{before}{}", field.name());
            if let FieldKind::Singular(SingularKind::Message(index)) = field.kind() {
                let name = pool.message(index).full_name();
                if name != "google.protobuf.Timestamp" {
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
        add_paths(Offer::FIELDS, "", &mut ours);
        contract.sort();
        ours.sort();
        assert_eq!(ours, contract);
    }

    #[test]
    fn a_misspelt_path_gets_a_suggestion_and_another_word_none() {
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
