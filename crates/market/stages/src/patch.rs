//! Common parts of the stages' answers.

use offers::{StoredOffer, time};
use watcher::{Answer, Fields, Time};

/// A patch of these fields with the values in `offer`, changed now.
pub(crate) fn patch<const N: usize>(
    fields: [&str; N],
    mut offer: StoredOffer,
    now: Time,
) -> Answer<StoredOffer> {
    offer.offer.update_time = Some(time::from_time(now)).into();
    Answer::patch(Fields::of(fields), offer)
}

/// A deterministic number of an offer from 0 to 1, to spread visits in time.
pub(crate) fn share_of(id: &str) -> f64 {
    f64::from(xxhash_rust::xxh3::xxh3_64(id.as_bytes()) as u32) / f64::from(u32::MAX)
}
