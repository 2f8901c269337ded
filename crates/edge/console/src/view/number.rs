//! Numbers for people.

/// A whole number with grouped digits: `12 345`.
pub(crate) fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{a0}');
        }
        text.push(digit);
    }
    text
}

/// A number with up to two decimals: `0.04`, `3.2`, `1 540`; a dash if it is not finite.
pub(crate) fn amount(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    if size >= 100.0 || value.fract() == 0.0 {
        let sign = if value < 0.0 && value.round() != 0.0 { "-" } else { "" };
        return format!("{sign}{}", number(size.round() as u64));
    }
    if size >= 1.0 { format!("{value:.1}") } else { format!("{value:.2}") }
}

pub(crate) fn rate(value: f64) -> String {
    amount(value)
}

/// A duration: `12 ms`, `1.5 s`, `3 min`, `2 h`, `4 d`.
pub(crate) fn seconds(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    match value {
        0.0 => "0 s".to_owned(),
        value if value < 0.9995 => format!("{} ms", amount((value * 1000.0 * 10.0).round() / 10.0)),
        value if value < 10.0 => format!("{} s", amount((value * 10.0).round() / 10.0)),
        value if value < 120.0 => format!("{value:.0} s"),
        value if value < 7200.0 => format!("{:.0} min", value / 60.0),
        value if value < 172_800.0 => format!("{:.0} h", value / 3600.0),
        value => format!("{:.0} d", value / 86_400.0),
    }
}

pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut size, mut unit) = (count as f64, 0);
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{} {}", amount((size * 10.0).round() / 10.0), UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_at_a_glance() {
        let plain = |text: String| text.replace('\u{a0}', " ");
        assert_eq!(plain(number(0)), "0");
        assert_eq!(plain(number(1_234_567)), "1 234 567");
        assert_eq!(amount(0.041), "0.04");
        assert_eq!(amount(3.24), "3.2");
        assert_eq!(amount(7.0), "7");
        assert_eq!(plain(amount(1540.4)), "1 540");
        assert_eq!(amount(f64::NAN), "–");
        assert_eq!(seconds(0.26), "260 ms");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(1.26), "1.3 s");
        assert_eq!(seconds(0.0), "0 s");
        assert_eq!(seconds(75.0), "75 s");
        assert_eq!(seconds(600.0), "10 min");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(12), "12 B");
    }
}
