//! Ids of offers: fifteen random digits and a check digit.
//!
//! Ids cannot be enumerated. The check digit (Damm's algorithm) detects every wrong digit and every
//! swap of two neighbours, and nine of ten other mistakes.

use std::fmt;
use std::str::FromStr;

use rand::{Rng, RngExt};

/// Digits before the check digit.
const DIGITS: u32 = 15;
/// The smallest number: the first digit is never 0, so that all ids have the same length.
const FIRST: u64 = 10_u64.pow(DIGITS - 1);

/// Damm's quasigroup of order ten.
const DAMM: [[u8; 10]; 10] = [
    [0, 3, 1, 7, 5, 9, 8, 6, 4, 2],
    [7, 0, 9, 2, 1, 5, 4, 8, 6, 3],
    [4, 2, 0, 6, 8, 7, 1, 3, 5, 9],
    [1, 7, 5, 0, 9, 8, 3, 4, 2, 6],
    [6, 1, 2, 3, 0, 4, 5, 9, 7, 8],
    [3, 6, 7, 4, 2, 0, 9, 5, 8, 1],
    [5, 8, 6, 9, 7, 2, 0, 1, 3, 4],
    [8, 9, 4, 5, 3, 6, 2, 0, 1, 7],
    [9, 4, 3, 8, 6, 1, 7, 2, 0, 5],
    [2, 5, 8, 1, 4, 3, 6, 7, 9, 0],
];

/// The id of an offer or of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OfferId(u64);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongId {
    #[error("an id has sixteen digits, as in 4829-1750-3316-8090")]
    Form,
    #[error("this is no id: a digit is wrong, or two are swapped")]
    Check,
}

impl OfferId {
    /// A random id. It may be in use.
    pub fn random(random: &mut impl Rng) -> Self {
        Self::of(random.random_range(FIRST..10 * FIRST))
    }

    /// Maps all numbers to ids.
    pub(crate) fn numbered(number: u64) -> Self {
        Self::of(FIRST + number % (9 * FIRST))
    }

    fn of(digits: u64) -> Self {
        Self(digits * 10 + u64::from(check_digit(digits)))
    }

    /// For people: `4829-1750-3316-8090`.
    #[must_use]
    pub fn grouped(&self) -> String {
        let text = self.to_string();
        [&text[..4], &text[4..8], &text[8..12], &text[12..]].join("-")
    }

    /// A number below `parts` that depends on the id only.
    #[must_use]
    pub fn part_of(&self, parts: u32) -> u32 {
        let without_check_digit = self.0 / 10;
        (without_check_digit % u64::from(parts.max(1))) as u32
    }
}

impl fmt::Display for OfferId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl FromStr for OfferId {
    type Err = WrongId;

    /// Accepts spaces and dashes between digits.
    fn from_str(text: &str) -> Result<Self, WrongId> {
        let (mut number, mut digits) = (0_u64, 0);
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' if digits <= DIGITS => {
                    number = number * 10 + u64::from(byte - b'0');
                    digits += 1;
                }
                b' ' | b'-' if digits > 0 && digits <= DIGITS => {}
                _ => return Err(WrongId::Form),
            }
        }
        if digits != DIGITS + 1 || number < 10 * FIRST {
            return Err(WrongId::Form);
        }
        if u64::from(check_digit(number / 10)) != number % 10 {
            return Err(WrongId::Check);
        }
        Ok(Self(number))
    }
}

fn check_digit(number: u64) -> u8 {
    let mut interim = 0;
    for place in (0..DIGITS).rev() {
        let digit = (number / 10_u64.pow(place) % 10) as usize;
        interim = DAMM[usize::from(interim)][digit];
    }
    interim
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;

    #[test]
    fn an_id_round_trips_also_in_groups() {
        let mut random = StdRng::seed_from_u64(1);
        for _ in 0..1000 {
            let id = OfferId::random(&mut random);
            assert_eq!(id.to_string().len(), 16);
            assert_eq!((id.to_string().parse(), id.grouped().parse()), (Ok(id), Ok(id)));
            assert_eq!(id.grouped().replace('-', " ").parse(), Ok(id));
        }
    }

    #[test]
    fn the_example_in_the_error_is_an_id() {
        let text = WrongId::Form.to_string();
        let example = text.rsplit(' ').next().unwrap();
        assert_eq!(example.parse::<OfferId>().unwrap().grouped(), example);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in
            ["", "1", "-", "482917503316809", "48291750331680921", "4829x17503316809", "0000000000000000"]
        {
            assert_eq!(text.parse::<OfferId>(), Err(WrongId::Form), "{text}");
        }
        for text in ["-4829175033168092", "4829175033168092-", "４829175033168092", "9".repeat(1000).as_str()]
        {
            assert_eq!(text.parse::<OfferId>(), Err(WrongId::Form), "{text}");
        }
    }

    #[test]
    fn ids_do_not_repeat_and_are_spread_over_parts() {
        let mut random = StdRng::seed_from_u64(2);
        let ids: BTreeSet<OfferId> = (0..10_000).map(|_| OfferId::random(&mut random)).collect();
        assert_eq!(ids.len(), 10_000);
        let parts: BTreeSet<u32> = ids.iter().map(|id| id.part_of(10)).collect();
        assert_eq!(parts, (0..10).collect());
    }

    proptest! {
        #[test]
        fn a_wrong_digit_and_two_swapped_digits_are_detected(seed: u64, place in 0..16_usize, other in 0..10_u8) {
            let id = OfferId::random(&mut StdRng::seed_from_u64(seed)).to_string();
            let mut wrong = id.clone().into_bytes();
            wrong[place] = b'0' + other;
            let wrong = String::from_utf8(wrong).unwrap();
            prop_assert_eq!(wrong.parse::<OfferId>().is_ok(), wrong == id);
            let mut swapped = id.clone().into_bytes();
            swapped.swap(place, (place + 1).min(15));
            let swapped = String::from_utf8(swapped).unwrap();
            prop_assert_eq!(swapped.parse::<OfferId>().is_ok(), swapped == id);
        }

        #[test]
        fn any_text_is_parsed_without_a_panic(text in ".*") {
            let _ = text.parse::<OfferId>();
        }
    }
}
