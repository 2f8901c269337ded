//! What holds for all masks.

use offers::masks::{ReadMask, UpdateMask};
use proptest::prelude::*;

use crate::masks::fixtures::{full, mask, read};

const TOP: &[&str] = &[
    "id",
    "seller",
    "category",
    "title",
    "description",
    "price",
    "attributes",
    "photos",
    "video",
    "place",
    "contacts",
    "condition",
    "source",
    "status",
    "status_reason",
    "status_time",
    "create_time",
    "update_time",
    "expire_time",
    "version",
];
const NESTED: &[&str] = &[
    "price.fixed",
    "price.fixed.micros",
    "price.fixed.currency",
    "price.free",
    "price.negotiable",
    "price.negotiable.from.micros",
    "price.range.from",
    "price.range.to.currency",
    "video.url",
    "place.address",
    "place.place_id",
    "place.coordinates",
    "place.coordinates.latitude",
    "contacts.name",
    "contacts.phones",
    "contacts.email",
    "contacts.chat",
    "source.manual",
    "source.feed.namespace",
    "source.feed.external_id",
    "status_reason.code",
    "status_reason.text",
    "status_reason.author.name",
    "attributes.color",
    "attributes.engine-volume",
    "attributes.engine_volume",
    "attributes.farbe",
    "attributes.`Farbe`",
];

proptest! {
    #[test]
    fn reading_twice_is_reading_once(
        seed: u8,
        paths in prop::collection::vec(prop::sample::select([TOP, NESTED].concat()), 1..6),
    ) {
        let once = read(&paths, &full(seed));
        prop_assert_eq!(read(&paths, &once), once);
    }

    #[test]
    fn every_field_together_is_the_whole_offer(seed: u8) {
        let offer = full(seed);
        prop_assert_eq!(read(TOP, &offer), offer);
    }

    #[test]
    fn what_was_changed_reads_as_it_was_wanted(
        old: u8,
        new: u8,
        path in prop::sample::select([TOP, NESTED].concat()),
    ) {
        let (old, new) = (full(old), full(new));
        let Ok(update) = UpdateMask::parse(&mask(&[path])) else { return Ok(()) };
        let mut changed = old.clone();
        update.apply(&mut changed, &new).unwrap();
        // Of a photo, Torg's part is not wanted; a part of a kind of price that is not wanted is
        // emptied, and its kind stays.
        let is_other_kind = path.starts_with("price.") && read(&[path], &new).price.kind.is_none();
        if path != "photos" && !is_other_kind {
            prop_assert_eq!(read(&[path], &changed), read(&[path], &new));
        }
        let again = { let mut again = changed.clone(); update.apply(&mut again, &new).unwrap(); again };
        prop_assert_eq!(again, changed);
    }

    #[test]
    fn no_path_is_too_strange(path in "\\PC{0,40}|attributes\\.\\PC{0,20}", seed: u8) {
        let mask = mask(&[&path]);
        if let Ok(read) = ReadMask::parse(&mask) {
            let _ = read.reduce(full(seed));
        }
        if let Ok(update) = UpdateMask::parse(&mask) {
            let _ = update.apply(&mut full(seed), &full(seed.wrapping_add(1)));
        }
    }
}
