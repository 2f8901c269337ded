//! Formatting and parsing of money.

use wire::torg::offers::v1::__buffa::oneof::price::Kind;
use wire::torg::offers::v1::{Money, Price};

use crate::view::number;
use crate::visit::Visit;

const MICROS: u64 = 1_000_000;

/// `1 250.50 EUR`; a whole amount without its fraction.
pub(in crate::pages) fn money(money: &Money) -> String {
    let sign = if money.micros < 0 { "-" } else { "" };
    let size = money.micros.unsigned_abs();
    format!("{sign}{}{} {}", number(size / MICROS), fraction(size % MICROS), money.currency)
}

/// The amount without its currency, for a form: `1250.5`.
pub(super) fn plain(money: &Money) -> String {
    let size = money.micros.unsigned_abs();
    format!("{}{}", size / MICROS, fraction(size % MICROS))
}

/// The fraction with at least two digits; empty for whole amounts.
fn fraction(micros: u64) -> String {
    if micros == 0 {
        return String::new();
    }
    let digits = format!("{micros:06}");
    format!(".{}{}", &digits[..2], digits[2..].trim_end_matches('0'))
}

/// Parses an amount with a point or a comma into millionths. `None` if it is invalid or ambiguous:
/// `1,250` may be a thousand.
pub(super) fn micros_of(text: &str) -> Option<i64> {
    let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let (whole, rest) = text.split_once(['.', ',']).unwrap_or((&text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let may_be_thousands = text.contains(',') && rest.len() == 3;
    if whole.is_empty() || !digits(whole) || !digits(rest) || rest.len() > 6 || may_be_thousands {
        return None;
    }
    let whole: i64 = whole.parse().ok()?;
    let rest: i64 = format!("{rest:0<6}").parse().ok()?;
    whole.checked_mul(MICROS.cast_signed())?.checked_add(rest)
}

pub(in crate::pages) fn price(visit: &Visit, price: Option<&Price>) -> String {
    let Some(kind) = price.and_then(|price| price.kind.as_ref()) else {
        return visit.t("no price").to_owned();
    };
    match kind {
        Kind::Fixed(fixed) => money(fixed),
        Kind::Free(_) => visit.t("for free").to_owned(),
        Kind::Negotiable(talks) => match talks.from.as_option() {
            Some(from) => visit.f("negotiable, from {0}", &[&money(from)]),
            None => visit.t("negotiable").to_owned(),
        },
        Kind::Range(range) => match (range.from.as_option(), range.to.as_option()) {
            (Some(from), Some(to)) => format!("{} – {}", money(from), money(to)),
            (Some(from), None) => visit.f("from {0}", &[&money(from)]),
            (None, Some(to)) => visit.f("up to {0}", &[&money(to)]),
            (None, None) => visit.t("no price").to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(micros: i64) -> Money {
        Money { micros, currency: "EUR".into(), ..Default::default() }
    }

    #[test]
    fn money_is_written_as_people_write_it() {
        let written = |micros| money(&of(micros)).replace('\u{a0}', " ");
        assert_eq!(written(0), "0 EUR");
        assert_eq!(written(1_250_500_000), "1 250.50 EUR");
        assert_eq!(written(12_000_000), "12 EUR");
        assert_eq!(written(-1), "-0.000001 EUR");
        assert_eq!(plain(&of(1_250_500_000)), "1250.50");
    }

    #[test]
    fn an_amount_is_read_with_a_point_or_a_comma_and_nothing_else() {
        assert_eq!(micros_of("1 250,5"), Some(1_250_500_000));
        assert_eq!(micros_of("0.000001"), Some(1));
        assert_eq!(micros_of("12"), Some(12_000_000));
        for wrong in ["", ".5", "1,250", "-1", "1e3", "1.2.3", "0.0000001", "9223372036854775807", "x"] {
            assert_eq!(micros_of(wrong), None, "{wrong}");
        }
    }
}
