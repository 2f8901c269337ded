//! Parses amounts and currencies as people write them.

use crate::limits::AMOUNT_MAX;

const MICROS: i64 = 1_000_000;
const FRACTION_DIGITS: usize = 6;

/// ISO 4217, without precious metals and test codes.
const CURRENCIES: &str = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF \
CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD \
IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN \
NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL \
THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG";

/// The code of a currency, from its code, an old code, or its usual sign.
pub(crate) fn currency(text: &str) -> Option<&'static str> {
    let upper = text.trim().trim_end_matches('.').to_uppercase();
    let code = match upper.as_str() {
        "RUR" | "₽" | "РУБ" | "Р" | "РУБЛЕЙ" | "РУБЛЯ" => "RUB",
        "BYR" => "BYN",
        "$" => "USD",
        "€" => "EUR",
        "£" => "GBP",
        "₴" | "ГРН" => "UAH",
        "₸" | "ТГ" | "ТЕНГЕ" => "KZT",
        "ZŁ" | "ZL" => "PLN",
        other => other,
    };
    CURRENCIES.split(' ').find(|known| *known == code)
}

/// An amount in millionths, with its currency if there is one: `15.00 USD`, `1 200,50 ₽`, `EUR 5`,
/// `19000`.
pub(crate) fn price(text: &str) -> Option<(i64, Option<&'static str>)> {
    let text = text.trim();
    let first = text.find(|c: char| c.is_ascii_digit() || c == '-')?;
    let (before, rest) = text.split_at(first);
    let end = rest.char_indices().find(|(_, c)| !belongs_to_number(*c)).map_or(rest.len(), |(at, _)| at);
    let (number, after) = rest.split_at(end);
    let after = after.trim();
    let named = match (before.trim(), after) {
        ("", "") => None,
        ("", name) | (name, "") => Some(currency(name)?),
        _ => return None,
    };
    Some((amount(number)?, named))
}

/// A non-negative number in millionths, in the notation of programs: `12.50`, `+.5`, `1e3`.
pub(crate) fn decimal(text: &str) -> Option<i64> {
    let text = text.trim();
    if text.contains(['e', 'E']) {
        let number: f64 = text.parse().ok()?;
        let fits = (0.0..=AMOUNT_MAX as f64).contains(&number);
        return fits.then(|| (number * MICROS as f64).round() as i64);
    }
    let digits = text.strip_prefix('+').unwrap_or(text);
    let digits = digits
        .strip_prefix('-')
        .filter(|rest| !rest.contains(|c| ('1'..='9').contains(&c)))
        .unwrap_or(digits);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    exact(if whole.is_empty() { "0" } else { whole }, fraction)
}

fn exact(whole: &str, fraction: &str) -> Option<i64> {
    if whole.is_empty()
        || whole.len() > 13
        || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let whole: i64 = whole.parse().ok()?;
    let kept = &fraction[..fraction.len().min(FRACTION_DIGITS)];
    let fraction: i64 = format!("{kept:0<FRACTION_DIGITS$}").parse().ok()?;
    (whole <= AMOUNT_MAX).then_some(whole * MICROS + fraction)
}

fn belongs_to_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '\'') || is_space(c)
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\u{A0}' | '\u{202F}' | '\u{2009}')
}

/// A non-negative number in millionths, with a point or a comma, and with groups of three digits.
pub(crate) fn amount(text: &str) -> Option<i64> {
    let text = text.trim_matches(is_space).trim_end_matches(['.', ',', '-']);
    let digits: String = text.chars().filter(|c| !is_space(*c) && *c != '\'').collect();
    if let Some(space) = text.find(|c: char| is_space(c) || c == '\'')
        && !groups_of_three(&text[space..])
    {
        return None;
    }
    let (whole, fraction) = split_fraction(&digits)?;
    exact(&whole, fraction)
}

/// After the first space, all groups have three digits.
fn groups_of_three(text: &str) -> bool {
    let whole = text.split(['.', ',']).next().unwrap_or_default();
    whole.split(|c: char| is_space(c) || c == '\'').skip(1).all(|group| group.len() == 3)
}

/// The whole part and the fraction. A separator that is repeated, or followed by three digits and
/// another separator, groups thousands.
fn split_fraction(digits: &str) -> Option<(String, &str)> {
    let last = digits.rfind(['.', ',']);
    let Some(last) = last else { return Some((digits.to_owned(), "")) };
    let (whole, fraction) = (&digits[..last], &digits[last + 1..]);
    let sign = &digits[last..=last];
    if whole.contains(sign) {
        let groups: Vec<&str> = digits.split(sign).collect();
        return groups[1..].iter().all(|group| group.len() == 3).then(|| (groups.concat(), ""));
    }
    let other = if sign == "." { "," } else { "." };
    let mut groups = whole.split(other);
    let head = groups.next().unwrap_or_default().to_owned();
    let mut joined = head;
    for group in groups {
        if group.len() != 3 {
            return None;
        }
        joined.push_str(group);
    }
    Some((joined, fraction))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_as_people_write_them() {
        for (text, micros, currency) in [
            ("15.00 USD", 15_000_000, Some("USD")),
            ("1 200,50 ₽", 1_200_500_000, Some("RUB")),
            ("1\u{A0}200 руб.", 1_200_000_000, Some("RUB")),
            ("EUR 5", 5_000_000, Some("EUR")),
            ("$1,299.99", 1_299_990_000, Some("USD")),
            ("1.299,99 zł", 1_299_990_000, Some("PLN")),
            ("1.299.000", 1_299_000_000_000, None),
            ("19000", 19_000_000_000, None),
            ("0", 0, None),
            ("10.123456789", 10_123_456, None),
            ("12.", 12_000_000, None),
        ] {
            assert_eq!(price(text), Some((micros, currency)), "{text}");
        }
    }

    #[test]
    fn what_is_no_price_is_none() {
        for text in [
            "",
            "free",
            "500.00🥴",
            "-5",
            "1 2 3",
            "12 34",
            "15 XYZ",
            "1,2,3",
            "99999999999999999999",
            "1e5",
            "5 EUR 6",
        ] {
            assert_eq!(price(text), None, "{text}");
        }
    }

    #[test]
    fn old_and_local_names_of_currencies_are_known() {
        assert_eq!(currency("RUR"), Some("RUB"));
        assert_eq!(currency("usd"), Some("USD"));
        assert_eq!(currency("XXX"), None);
    }
}
