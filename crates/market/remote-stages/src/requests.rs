//! Requests to remote stages.

use buffa::Message as _;
use buffa_types::google::protobuf::{Any, BytesValue, Timestamp};
use bytes::Bytes;
use offers::{StoredOffer, time};
use watcher::{Subject, Time};
use wire::torg::offers::v1::Offer;
use wire::torg::stages::v1 as proto;

use crate::limits::REQUEST_BYTES_MAX;

/// An offer as every caller of the API sees it.
pub(crate) fn shown(stored: &StoredOffer, version: u64) -> Offer {
    Offer { version, ..stored.offer.clone() }
}

pub(crate) fn subject(subject: &Subject<StoredOffer>) -> proto::Subject {
    let offer = Some(shown(&subject.entity, subject.version)).into();
    proto::Subject { offer, state: state_of(&subject.state).into(), ..proto::Subject::default() }
}

/// The type under which states of built-in stages, which are not `Any`, are shown.
const BYTES_TYPE: &str = "type.googleapis.com/google.protobuf.BytesValue";

/// A private state as services see it; `None` if it is empty.
#[must_use]
pub fn state_of(bytes: &Bytes) -> Option<Any> {
    if bytes.is_empty() {
        return None;
    }
    let any = Any::decode_from_slice(bytes).ok().filter(|any| any.type_url.contains('/'));
    any.or_else(|| {
        let value = BytesValue { value: bytes.to_vec(), ..BytesValue::default() }.encode_to_vec();
        Some(Any { type_url: BYTES_TYPE.to_owned(), value: value.into(), ..Any::default() })
    })
}

#[must_use]
pub fn state_to(state: Option<&Any>) -> Bytes {
    state.map_or_else(Bytes::new, |state| state.encode_to_vec().into())
}

pub(crate) fn timestamp(now: Time) -> Timestamp {
    time::from_time(now)
}

/// Divides items into requests of at most `REQUEST_BYTES_MAX`.
pub(crate) fn portions<T>(items: &[T], bytes: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let (mut portions, mut first, mut filled) = (Vec::new(), 0, 0);
    for (at, item) in items.iter().enumerate() {
        let size = bytes(item);
        if at > first && filled + size > REQUEST_BYTES_MAX {
            portions.push(&items[first..at]);
            (first, filled) = (at, 0);
        }
        filled += size;
    }
    portions.push(&items[first..]);
    portions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_stay_below_what_a_stock_server_takes_and_one_large_offer_goes_alone() {
        let sizes = [1 << 20, 1 << 20, 1 << 20, 1, 5 << 20, 1];
        let sent = portions(&sizes, |size| *size);
        let counts: Vec<usize> = sent.iter().map(|portion| portion.len()).collect();
        assert_eq!(counts, [3, 1, 1, 1]);
        assert_eq!(sent.concat(), sizes);
    }
}
