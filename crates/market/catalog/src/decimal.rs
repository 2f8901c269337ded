//! Exact decimal numbers for prices and measures.

use std::cmp::Ordering;
use std::fmt;

use crate::limits::DECIMAL_SCALE_MAX;

/// An exact number with at most [`DECIMAL_SCALE_MAX`] digits after the point. Normalised: `1.50`
/// equals `1.5`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Decimal {
    unscaled: i64,
    scale: u8,
}

impl Decimal {
    /// `unscaled / 10^scale`: `new(150, 2)` is 1.5. `None` if the result has more digits after the
    /// point than [`DECIMAL_SCALE_MAX`].
    #[must_use]
    pub fn new(mut unscaled: i64, mut scale: u8) -> Option<Self> {
        while scale > 0 && unscaled % 10 == 0 {
            unscaled /= 10;
            scale -= 1;
        }
        (scale <= DECIMAL_SCALE_MAX).then_some(Self { unscaled, scale })
    }

    /// Parses `12`, `-0.5` or `+3.25`: digits with at most one point.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) || digits.ends_with('.') {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > usize::from(DECIMAL_SCALE_MAX) {
            return None;
        }
        let mut unscaled: i64 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            unscaled = unscaled.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
        }
        Self::new(if negative { -unscaled } else { unscaled }, fraction.len() as u8)
    }

    /// The number of digits after the point.
    #[must_use]
    pub fn scale(self) -> u8 {
        self.scale
    }

    /// The value times `10^scale`.
    #[must_use]
    pub fn unscaled(self) -> i64 {
        self.unscaled
    }

    #[must_use]
    pub fn is_negative(self) -> bool {
        self.unscaled < 0
    }

    #[must_use]
    pub fn is_zero(self) -> bool {
        self.unscaled == 0
    }

    /// The value if it is an integer.
    #[must_use]
    pub fn as_whole(self) -> Option<i64> {
        (self.scale == 0).then_some(self.unscaled)
    }

    /// `self * factor / divisor`, rounded half away from zero to `scale` digits. `None` if the
    /// divisor is zero or the result does not fit.
    #[must_use]
    pub fn convert(self, factor: Self, divisor: Self, scale: u8) -> Option<Self> {
        if divisor.is_zero() || scale > DECIMAL_SCALE_MAX {
            return None;
        }
        let mut above = i128::from(self.unscaled).checked_mul(i128::from(factor.unscaled))?;
        let mut below = i128::from(divisor.unscaled);
        let shift =
            i32::from(scale) + i32::from(divisor.scale) - i32::from(self.scale) - i32::from(factor.scale);
        let power = 10i128.checked_pow(shift.unsigned_abs())?;
        if shift >= 0 {
            above = above.checked_mul(power)?;
        } else {
            below = below.checked_mul(power)?;
        }
        if below < 0 {
            (above, below) = (-above, -below);
        }
        let half = below / 2;
        let rounded = if above >= 0 { (above + half) / below } else { (above - half) / below };
        Self::new(i64::try_from(rounded).ok()?, scale)
    }

    fn at_scale(self, scale: u8) -> i128 {
        i128::from(self.unscaled) * 10i128.pow(u32::from(scale - self.scale))
    }
}

impl From<i64> for Decimal {
    fn from(whole: i64) -> Self {
        Self { unscaled: whole, scale: 0 }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        self.at_scale(scale).cmp(&other.at_scale(scale))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scale == 0 {
            return write!(f, "{}", self.unscaled);
        }
        let power = 10u64.pow(u32::from(self.scale));
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let digits = self.unscaled.unsigned_abs();
        write!(f, "{sign}{}.{:0width$}", digits / power, digits % power, width = usize::from(self.scale))
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn equal_numbers_are_equal_however_they_are_written() {
        assert_eq!(number("1.50"), number("1.5"));
        assert_eq!(number("10"), Decimal::from(10));
        assert!(number("-0.5") < number("0"));
        assert!(number("1.25") < number("1.3"));
        assert_eq!(number("-0.05").to_string(), "-0.05");
        assert_eq!(number("1200").to_string(), "1200");
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        for text in ["", ".", "1.", ".5", "1,5", "1e3", "0x10", "--1", "1.0000000001", "99999999999999999999"]
        {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn conversion_is_exact_and_rounds_half_away_from_zero() {
        let mile = number("1.609344");
        assert_eq!(Decimal::from(100).convert(mile, Decimal::from(1), 0), Some(Decimal::from(161)));
        assert_eq!(Decimal::from(161).convert(Decimal::from(1), mile, 2), Some(number("100.04")));
        assert_eq!(number("0.5").convert(Decimal::from(1), Decimal::from(1), 0), Some(Decimal::from(1)));
        assert_eq!(number("-0.5").convert(Decimal::from(1), Decimal::from(1), 0), Some(Decimal::from(-1)));
        assert_eq!(Decimal::from(i64::MAX).convert(Decimal::from(i64::MAX), Decimal::from(1), 9), None);
        assert_eq!(Decimal::from(1).convert(mile, Decimal::from(0), 0), None);
    }
}
