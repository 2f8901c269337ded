//! Page tokens: the position of the next page of a list.
//!
//! A token is opaque: base64url of a version, a hash of the list, the position, and a checksum. It
//! detects mistakes (a token of another list, a damaged one), not forgery: a forged token only
//! leads to another position in a list that the caller may read anyway.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use feeds::FeedName;
use feeds::ProblemCursor;
use offers::OfferId;
use offers::cabinet::Cursor;
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use crate::errors::{FieldFault, Refusal};
use crate::limits::TOKEN_BYTES_MAX;

const VERSION: u8 = 1;
/// Domain separation of checksums.
const CHECKSUM_SEED: u64 = 0x746f_7267_7061_6765;
const ABOUT_BYTES: usize = 8;
const CHECKSUM_BYTES: usize = 4;

/// A hash of the method and everything that determines the entries of a list and their order.
#[derive(Clone)]
pub struct About(Xxh3);

impl About {
    #[must_use]
    pub fn method(name: &str) -> Self {
        Self(Xxh3::new()).and("method", name)
    }

    /// Adds a parameter of the list.
    #[must_use]
    pub fn and(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        for part in [name.as_bytes(), value.as_ref()] {
            // Length-prefixed, so that different lists never give the same bytes.
            self.0.update(&(part.len() as u64).to_be_bytes());
            self.0.update(part);
        }
        self
    }

    fn hash(&self) -> [u8; ABOUT_BYTES] {
        self.0.digest().to_be_bytes()
    }
}

/// A position in a list.
pub trait PagePosition: Sized {
    /// At most 512 bytes.
    fn to_bytes(&self) -> Vec<u8>;
    /// `None` if the bytes are invalid.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl PagePosition for u64 {
    fn to_bytes(&self) -> Vec<u8> {
        self.to_be_bytes().into()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self::from_be_bytes(bytes.try_into().ok()?))
    }
}

impl PagePosition for String {
    fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().into()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::from_utf8(bytes.into()).ok()
    }
}

/// The namespace comes first: it contains no slash.
impl PagePosition for FeedName {
    fn to_bytes(&self) -> Vec<u8> {
        format!("{}/{}", self.namespace, self.seller).into_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (namespace, seller) = std::str::from_utf8(bytes).ok()?.split_once('/')?;
        Some(Self { seller: seller.to_owned(), namespace: namespace.to_owned() })
    }
}

impl PagePosition for ProblemCursor {
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

impl PagePosition for Cursor {
    fn to_bytes(&self) -> Vec<u8> {
        [&self.created_ms.to_be_bytes()[..], self.id.to_string().as_bytes()].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (created_ms, id) = bytes.split_first_chunk()?;
        let id: OfferId = std::str::from_utf8(id).ok()?.parse().ok()?;
        Some(Self { created_ms: i64::from_be_bytes(*created_ms), id })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongToken {
    #[error("a token has at most {TOKEN_BYTES_MAX} bytes; begin with the first page")]
    TooLong,
    #[error("this token is damaged: send it exactly as it came, or begin with the first page")]
    Damaged,
    /// Issued by another version of Torg.
    #[error("this token is of another version: begin with the first page")]
    OtherVersion,
    /// Issued for another list.
    #[error(
        "this token belongs to another list: repeat the request that it came with, or begin with the first page"
    )]
    OtherList,
}

impl WrongToken {
    /// The refusal for a token in this field.
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

/// The token of a position; empty at the end of the list.
#[must_use]
pub fn encode(about: &About, next: Option<&impl PagePosition>) -> String {
    let Some(place) = next else { return String::new() };
    let mut bytes = vec![VERSION];
    bytes.extend(about.hash());
    bytes.extend(place.to_bytes());
    bytes.extend(checksum(&bytes));
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The position of a token; `None` for an empty token, the first page.
pub fn decode<P: PagePosition>(about: &About, token: &str) -> Result<Option<P>, WrongToken> {
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

/// The place that the page token of a request means; `None` for the first page.
pub(crate) fn page<P: PagePosition>(about: &About, token: &str) -> Result<Option<P>, Refusal> {
    decode(about, token).map_err(|wrong| wrong.refusal("page_token"))
}

/// Cuts a list to one page, and gives the token of the next one. The list was read with a limit
/// that is greater by one, so that one more entry means another page.
pub(crate) fn cut<T, P: PagePosition>(
    about: &About,
    entries: &mut Vec<T>,
    limit: usize,
    place: impl FnOnce(&T) -> P,
) -> String {
    let more = entries.len() > limit;
    entries.truncate(limit);
    encode(about, entries.last().filter(|_| more).map(place).as_ref())
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
