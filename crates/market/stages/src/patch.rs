//! What the answers of these stages have in common.

use offers::{StoredOffer, time};
use watcher::{Answer, Fields, Time};

/// These fields take the values that they have in `offer`, which changes now.
pub(crate) fn patch<const N: usize>(
    fields: [&str; N],
    mut offer: StoredOffer,
    now: Time,
) -> Answer<StoredOffer> {
    offer.offer.update_time = Some(time::from_time(now)).into();
    Answer::patch(Fields::of(fields), offer)
}

/// A number by which offers can be spread in time: the same for the same offer, below 1.
pub(crate) fn share_of(id: &str) -> f64 {
    f64::from(xxhash_rust::xxh3::xxh3_64(id.as_bytes()) as u32) / f64::from(u32::MAX)
}
