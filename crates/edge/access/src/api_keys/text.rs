//! The text of a key: `torg_<id>_<secret>`.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest;
use subtle::ConstantTimeEq as _;

use super::Entropy;
use crate::Result;

/// The prefix of every key, for people and secret scanners.
pub(crate) const PREFIX: &str = "torg_";
const ID_LETTERS: usize = 8;
/// Digits and lower-case letters that are not easily confused.
const ID_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const SECRET_BYTES: usize = 32;
/// A prefix of the hashed bytes, for domain separation.
const HASH_CONTEXT: &[u8] = b"torg api key 1\0";

/// A whole key. `Debug` hides it; [`KeyText::expose`] returns it for the person it is created for.
pub struct KeyText {
    id: String,
    secret: [u8; SECRET_BYTES],
}

impl KeyText {
    pub(super) fn random(entropy: &Entropy) -> Result<Self> {
        let (mut letters, mut secret) = ([0; ID_LETTERS], [0; SECRET_BYTES]);
        entropy.fill(&mut letters)?;
        entropy.fill(&mut secret)?;
        let letter = |byte: u8| char::from(ID_ALPHABET[usize::from(byte) % ID_ALPHABET.len()]);
        Ok(Self { id: letters.map(letter).iter().collect(), secret })
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
        let bytes = URL_SAFE_NO_PAD.decode(secret).ok()?;
        let secret = bytes.try_into().ok()?;
        is_id(id).then(|| Self { id: id.to_owned(), secret })
    }

    /// The public part.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The whole key.
    #[must_use]
    pub fn expose(&self) -> String {
        format!("{PREFIX}{}_{}", self.id, URL_SAFE_NO_PAD.encode(self.secret))
    }

    pub(super) fn hash(&self) -> Vec<u8> {
        let mut context = digest::Context::new(&digest::SHA256);
        context.update(HASH_CONTEXT);
        context.update(self.id.as_bytes());
        context.update(&self.secret);
        context.finish().as_ref().to_vec()
    }

    /// Compares in constant time.
    pub(super) fn matches(&self, hash: &[u8]) -> bool {
        self.hash().ct_eq(hash).into()
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyText({PREFIX}{}_***)", self.id)
    }
}

pub(super) fn is_id(text: &str) -> bool {
    text.len() == ID_LETTERS && text.bytes().all(|byte| ID_ALPHABET.contains(&byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_key_is_written_and_read_and_never_shown() {
        let text = KeyText::random(&Entropy::system()).unwrap();
        let whole = text.expose();
        assert_eq!(whole.len(), PREFIX.len() + ID_LETTERS + 1 + 43);
        let again = KeyText::parse(&whole).unwrap();
        assert_eq!((again.id(), again.secret), (text.id(), text.secret));
        assert!(again.matches(&text.hash()));
        let shown = format!("{text:?}");
        assert!(shown.ends_with("_***)") && !shown.contains(&whole[14..]), "{shown}");
    }

    #[test]
    fn a_hash_holds_for_its_own_id_and_secret_alone() {
        let text = KeyText { id: "00000000".to_owned(), secret: [7; SECRET_BYTES] };
        let mut other = KeyText { id: "00000000".to_owned(), secret: [7; SECRET_BYTES] };
        assert!(other.matches(&text.hash()));
        other.secret[31] ^= 1;
        assert!(!other.matches(&text.hash()));
        let namesake = KeyText { id: "00000001".to_owned(), secret: [7; SECRET_BYTES] };
        assert!(!namesake.matches(&text.hash()));
        assert!(!text.matches(&[]) && !text.matches(&text.hash()[..31]));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let whole = KeyText { id: "00000000".to_owned(), secret: [7; SECRET_BYTES] }.expose();
        assert!(KeyText::parse(&whole).is_some());
        let padded = format!("{whole}=");
        for wrong in ["", "torg_", "torg__", &whole[1..], &whole[..whole.len() - 1], &padded] {
            assert!(KeyText::parse(wrong).is_none(), "{wrong}");
        }
        assert!(KeyText::parse(&whole.replace("00000000", "0000000I")).is_none());
        assert!(KeyText::parse(&whole.replace("00000000", "0000000")).is_none());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".*", tail in "[a-zA-Z0-9_-]{0,60}") {
            let _ = KeyText::parse(&text);
            let _ = KeyText::parse(&format!("{PREFIX}{tail}"));
        }
    }
}
