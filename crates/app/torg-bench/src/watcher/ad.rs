//! The entity under measurement: an ad of 2 KB that cannot be compressed.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use watcher::{Entity, Fields};

use crate::data::{Numbers, mix};

/// Bytes of the body of an ordinary ad.
pub(super) const BODY_BYTES: usize = 2000;
/// Bytes of the body of a small ad, for deep queues.
pub(super) const SMALL_BODY_BYTES: usize = 40;
const HEADER_BYTES: usize = 24;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ad {
    pub(super) id: u64,
    /// Counts the ads of a measurement.
    pub(super) number: u64,
    pub(super) price: u64,
    pub(super) body: Bytes,
}

impl Ad {
    /// Ad number `n`, the same in every run.
    pub(super) fn new(n: u64, body_bytes: usize) -> Self {
        let mut numbers = Numbers::new(n);
        let mut body = BytesMut::with_capacity(body_bytes + 8);
        while body.len() < body_bytes {
            body.put_u64(numbers.next());
        }
        body.truncate(body_bytes);
        // Ids look random, like those of real ads; no two numbers have the same id.
        Self { id: mix(n), number: n, price: mix(n) % 100_000, body: body.freeze() }
    }
}

impl Entity for Ad {
    type Id = u64;
    const KIND: &'static str = "ad";

    fn id(&self) -> u64 {
        self.id
    }

    fn encode(&self) -> Bytes {
        let mut bytes = BytesMut::with_capacity(HEADER_BYTES + self.body.len());
        bytes.put_u64(self.id);
        bytes.put_u64(self.number);
        bytes.put_u64(self.price);
        bytes.put_slice(&self.body);
        bytes.freeze()
    }

    fn decode(bytes: &Bytes) -> Result<Self, String> {
        if bytes.len() < HEADER_BYTES {
            return Err(format!("an ad has {HEADER_BYTES} bytes at least, not {}", bytes.len()));
        }
        let mut rest = bytes.clone();
        let (id, number, price) = (rest.get_u64(), rest.get_u64(), rest.get_u64());
        Ok(Self { id, number, price, body: rest })
    }

    fn changed_fields(before: &Self, after: &Self) -> Fields {
        let fields = [
            ("number", before.number != after.number),
            ("price", before.price != after.price),
            ("body", before.body != after.body),
        ];
        Fields::of(fields.into_iter().filter(|(_, changed)| *changed).map(|(name, _)| name))
    }

    fn take_fields(&mut self, fields: &Fields, from: &Self) {
        if fields.covers("number") {
            self.number = from.number;
        }
        if fields.covers("price") {
            self.price = from.price;
        }
        if fields.covers("body") {
            self.body = from.body.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ad_is_read_back_as_it_was_written() {
        let ad = Ad::new(7, BODY_BYTES);
        assert_eq!(ad.encode().len(), BODY_BYTES + HEADER_BYTES);
        assert_eq!(Ad::decode(&ad.encode()), Ok(ad));
    }

    #[test]
    fn changed_fields_are_named_and_can_be_taken_over() {
        let (mut ad, other) = (Ad::new(7, 10), Ad { price: 1, ..Ad::new(7, 10) });
        assert_eq!(Ad::changed_fields(&ad, &other), Fields::of(["price"]));
        ad.take_fields(&Fields::of(["price"]), &other);
        assert_eq!(ad, other);
    }
}
