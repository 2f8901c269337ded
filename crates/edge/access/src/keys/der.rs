//! A minimal DER reader for public keys: definite lengths only.

/// The tags that occur in a public key.
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OBJECT_ID: u8 = 0x06;
pub(super) const SEQUENCE: u8 = 0x30;

pub(super) struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The content of the next element with this tag.
    pub(super) fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (&found, rest) = self.0.split_first()?;
        if found != tag {
            return None;
        }
        let (length, rest) = length(rest)?;
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(content)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        return Some((first.into(), rest));
    }
    let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7F))?;
    let fits = matches!(digits.len(), 1..=3);
    let length = digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit));
    fits.then_some((length, rest))
}

/// The content of a BIT STRING of whole bytes.
pub(super) fn whole_bytes(bits: &[u8]) -> Option<&[u8]> {
    match bits.split_first() {
        Some((0, bytes)) => Some(bytes),
        _ => None,
    }
}

/// The magnitude of a positive INTEGER, without leading zeros.
pub(super) fn magnitude(integer: &[u8]) -> Option<&[u8]> {
    match integer {
        [] => None,
        [first, ..] if *first >= 0x80 => None,
        [0, rest @ ..] if !rest.is_empty() => Some(rest),
        all => Some(all),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn elements_are_read_one_after_another() {
        let mut der = Der::new(&[0x02, 1, 7, 0x30, 0x81, 2, 5, 6]);
        assert_eq!(der.take(SEQUENCE), None, "another tag is not taken");
        assert_eq!(der.take(INTEGER), Some(&[7][..]));
        assert_eq!(der.take(SEQUENCE), Some(&[5, 6][..]));
        assert!(der.is_empty());
        assert_eq!(der.take(SEQUENCE), None);
    }

    #[test]
    fn lengths_that_lie_are_refused() {
        for bytes in [&[0x02, 2, 7][..], &[0x02, 0x80, 0, 0], &[0x02, 0x84, 0, 0, 0, 1, 7], &[0x02, 0x82, 1]]
        {
            assert_eq!(Der::new(bytes).take(INTEGER), None, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            for tag in [INTEGER, BIT_STRING, OBJECT_ID, SEQUENCE] {
                let mut der = Der::new(&bytes);
                while let Some(content) = der.take(tag) {
                    let _ = (whole_bytes(content), magnitude(content));
                }
            }
        }
    }
}
