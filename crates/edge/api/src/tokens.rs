//! Page tokens: where the next page of a list begins.
//!
//! A token is opaque to callers: base64url of a version, a hash of what the list is about, the place, and a checksum. It protects from mistakes (a token of
//! another list, a damaged one), not from forgery: whoever forges one reaches nothing but another place of a list that they may read anyway.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use feeds::ProblemCursor;
use offers::OfferId;
use feeds::FeedName;
use offers::cabinet::Cursor;
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use crate::errors::{FieldFault, Refusal};
use crate::limits::TOKEN_BYTES_MAX;

/// The version of the encoding.
const VERSION: u8 = 1;
/// Keeps checksums of tokens apart from other hashes of the same bytes.
const CHECKSUM_SEED: u64 = 0x746f_7267_7061_6765;
/// Bytes of the hash of what a list is about.
const ABOUT_BYTES: usize = 8;
const CHECKSUM_BYTES: usize = 4;

/// What a list is about: the method, and all that decides which entries it has and in which order. Pages of one list have equal ones.
#[derive(Clone)]
pub struct About(Xxh3);

impl About {
    /// A list of this method.
    #[must_use]
    pub fn method(name: &str) -> Self {
        Self(Xxh3::new()).and("method", name)
    }

    /// Something else that the list depends on.
    #[must_use]
    pub fn and(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        for part in [name.as_bytes(), value.as_ref()] {
            // The length first, so that no two lists run together to the same bytes.
            self.0.update(&(part.len() as u64).to_be_bytes());
            self.0.update(part);
        }
        self
    }

    fn hash(&self) -> [u8; ABOUT_BYTES] {
        self.0.digest().to_be_bytes()
    }
}

/// A place in a list, as tokens carry it.
pub trait PagePlace: Sized {
    /// As bytes, at most 512.
    fn to_bytes(&self) -> Vec<u8>;
    /// From bytes; `None` if they are no place.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl PagePlace for u64 {
    fn to_bytes(&self) -> Vec<u8> {
        self.to_be_bytes().into()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self::from_be_bytes(bytes.try_into().ok()?))
    }
}

impl PagePlace for String {
    fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().into()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::from_utf8(bytes.into()).ok()
    }
}

/// The namespace first: it has no slash.
impl PagePlace for FeedName {
    fn to_bytes(&self) -> Vec<u8> {
        format!("{}/{}", self.namespace, self.seller).into_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (namespace, seller) = std::str::from_utf8(bytes).ok()?.split_once('/')?;
        Some(Self { seller: seller.to_owned(), namespace: namespace.to_owned() })
    }
}

impl PagePlace for ProblemCursor {
    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::InFile(batch, place) => [&[0], &batch.to_be_bytes()[..], &place.to_be_bytes()].concat(),
            Self::Later(offer) => [&[1], offer.as_bytes()].concat(),
        }
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match bytes.split_first()? {
            (0, rest) => {
                let (batch, place) = rest.split_first_chunk()?;
                Some(Self::InFile(u32::from_be_bytes(*batch), u32::from_be_bytes(place.try_into().ok()?)))
            }
            (1, offer) => Some(Self::Later(String::from_utf8(offer.to_vec()).ok()?)),
            _ => None,
        }
    }
}

impl PagePlace for Cursor {
    fn to_bytes(&self) -> Vec<u8> {
        [&self.created_ms.to_be_bytes()[..], self.id.to_string().as_bytes()].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (created_ms, id) = bytes.split_first_chunk()?;
        let id: OfferId = std::str::from_utf8(id).ok()?.parse().ok()?;
        Some(Self { created_ms: i64::from_be_bytes(*created_ms), id })
    }
}

/// A token that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongToken {
    /// Longer than any token.
    #[error("a token has at most {TOKEN_BYTES_MAX} bytes; begin with the first page")]
    TooLong,
    /// Not what was given out.
    #[error("this token is damaged: send it exactly as it came, or begin with the first page")]
    Damaged,
    /// Given out by another version of Torg.
    #[error("this token is of another version: begin with the first page")]
    OtherVersion,
    /// Given out for another list.
    #[error(
        "this token belongs to another list: repeat the request that it came with, or begin with the first page"
    )]
    OtherList,
}

impl WrongToken {
    /// The refusal of a request that has the token in this field.
    #[must_use]
    pub fn refusal(self, field: &str) -> Refusal {
        let reason = match self {
            Self::TooLong => "TOO_LONG",
            Self::Damaged => "DAMAGED",
            Self::OtherVersion => "OTHER_VERSION",
            Self::OtherList => "OTHER_LIST",
        };
        Refusal::wrong("WRONG_TOKEN", vec![FieldFault::new(field, reason, self.to_string())])
    }
}

/// The token of a place in a list; the empty one at its end.
#[must_use]
pub fn encode(about: &About, next: Option<&impl PagePlace>) -> String {
    let Some(place) = next else { return String::new() };
    let mut bytes = vec![VERSION];
    bytes.extend(about.hash());
    bytes.extend(place.to_bytes());
    bytes.extend(checksum(&bytes));
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The place that a token of this list means; `None`, the beginning, for the empty one.
pub fn decode<P: PagePlace>(about: &About, token: &str) -> Result<Option<P>, WrongToken> {
    if token.is_empty() {
        return Ok(None);
    }
    if token.len() > TOKEN_BYTES_MAX {
        return Err(WrongToken::TooLong);
    }
    let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| WrongToken::Damaged)?;
    let (content, found) = bytes.split_last_chunk::<CHECKSUM_BYTES>().ok_or(WrongToken::Damaged)?;
    if checksum(content) != *found {
        return Err(WrongToken::Damaged);
    }
    let (version, content) = content.split_first().ok_or(WrongToken::Damaged)?;
    if *version != VERSION {
        return Err(WrongToken::OtherVersion);
    }
    let (hash, place) = content.split_first_chunk::<ABOUT_BYTES>().ok_or(WrongToken::Damaged)?;
    if *hash != about.hash() {
        return Err(WrongToken::OtherList);
    }
    P::from_bytes(place).map(Some).ok_or(WrongToken::Damaged)
}

fn checksum(content: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let [a, b, c, d, ..] = xxh3_64_with_seed(content, CHECKSUM_SEED).to_be_bytes();
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list() -> About {
        About::method("ListOffers").and("seller", "s1").and("preset", "active")
    }

    fn place(created_ms: i64) -> Cursor {
        Cursor { created_ms, id: "4829175033168090".parse().unwrap() }
    }

    /// A token with any content and a right checksum.
    fn forged(content: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode([content, &checksum(content)].concat())
    }

    #[test]
    fn a_token_means_its_place_in_its_list() {
        for created_ms in [0, -1, i64::MIN, i64::MAX, 1_700_000_000_000] {
            let token = encode(&list(), Some(&place(created_ms)));
            assert_eq!(decode(&list(), &token), Ok(Some(place(created_ms))));
        }
        assert_eq!(encode(&list(), None::<&Cursor>), "");
        assert_eq!(decode::<Cursor>(&list(), ""), Ok(None));
        assert_eq!(decode(&list(), &encode(&list(), Some(&7_u64))), Ok(Some(7_u64)));
        for place in [ProblemCursor::InFile(7, 9), ProblemCursor::Later("sofa-1".to_owned())] {
            assert_eq!(decode(&list(), &encode(&list(), Some(&place))), Ok(Some(place)));
        }
        let long = "ж".repeat(256);
        assert_eq!(decode(&list(), &encode(&list(), Some(&long))), Ok(Some(long)));
    }

    #[test]
    fn a_token_of_another_list_is_refused() {
        let token = encode(&list(), Some(&place(5)));
        let others = [
            About::method("GetHistory").and("seller", "s1").and("preset", "active"),
            About::method("ListOffers").and("seller", "s2").and("preset", "active"),
            About::method("ListOffers").and("seller", "s1").and("preset", "sold"),
            list().and("filter", "x"),
            About::method("ListOffers").and("seller", "s1preset").and("", "active"),
        ];
        for other in others {
            assert_eq!(decode::<Cursor>(&other, &token), Err(WrongToken::OtherList));
        }
        let refusal = WrongToken::OtherList.refusal("page_token");
        assert_eq!((refusal.reason(), &*refusal.fields()[0].field), ("WRONG_TOKEN", "page_token"));
    }

    #[test]
    fn damaged_long_and_strange_tokens_are_refused() {
        let about = list().hash();
        let content = |version: u8, place: &[u8]| [&[version][..], &about, place].concat();
        let good = place(5).to_bytes();
        let cases = [
            ("A".repeat(TOKEN_BYTES_MAX + 1), WrongToken::TooLong),
            ("A".repeat(TOKEN_BYTES_MAX), WrongToken::Damaged),
            ("not base64!".to_owned(), WrongToken::Damaged),
            ("A".to_owned(), WrongToken::Damaged),
            (forged(&[]), WrongToken::Damaged),
            (forged(&[VERSION]), WrongToken::Damaged),
            (forged(&content(2, &good)), WrongToken::OtherVersion),
            (forged(&content(VERSION, &[])), WrongToken::Damaged),
            (forged(&content(VERSION, &good[..12])), WrongToken::Damaged),
            (forged(&content(VERSION, &[&good[..], b"0"].concat())), WrongToken::Damaged),
            (forged(&content(VERSION, &[0xff; 24])), WrongToken::Damaged),
        ];
        for (token, wrong) in cases {
            assert_eq!(decode::<Cursor>(&list(), &token), Err(wrong), "{token}");
        }
        assert!(decode::<Cursor>(&list(), &forged(&content(VERSION, &good))).is_ok());
    }

    proptest! {
        #[test]
        fn one_changed_character_is_noticed(created_ms: i64, at in 0..40_usize, other in "[A-Za-z0-9_-]") {
            let token = encode(&list(), Some(&place(created_ms)));
            let at = at % token.len();
            let changed = format!("{}{other}{}", &token[..at], &token[at + 1..]);
            prop_assert_eq!(decode::<Cursor>(&list(), &changed).is_ok(), changed == token);
        }

        #[test]
        fn no_token_is_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..64), text in "\\PC{0,600}") {
            prop_assert!(decode::<Cursor>(&list(), &text).is_err() || text.is_empty());
            let _ = decode::<Cursor>(&list(), &URL_SAFE_NO_PAD.encode(&bytes));
            let _ = decode::<Cursor>(&list(), &forged(&bytes));
            let _ = decode::<u64>(&list(), &forged(&[&[VERSION], &list().hash()[..], &bytes].concat()));
        }
    }
}
