//! Checks of URLs, phones and e-mail addresses.

use super::texts::bytes;
use super::{
    EMAIL_BYTES_MAX, EMAIL_LOCAL_BYTES_MAX, PHONE_CHARS_MAX, PHONE_DIGITS_MAX, PHONE_DIGITS_MIN,
    URL_BYTES_MAX, Violations, codes,
};

/// `http://` or `https://`, with a host and without a password.
pub(super) fn url(text: &str, field: &str, found: &mut Violations) {
    if text.is_empty() {
        found.add(field, codes::REQUIRED, "has to be given");
    } else if bytes(text, field, URL_BYTES_MAX, found) && !is_url(text) {
        found.add(field, codes::WRONG_URL, "has to be a URL such as https://example.com/photo.jpg");
    }
}

fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '\\' | '`');
    is_web && !host.is_empty() && !authority.contains('@') && !text.contains(is_odd)
}

/// `+` and digits with blanks, dashes, points and brackets between them.
pub(super) fn phone(text: &str, field: &str, found: &mut Violations) {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let parts = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '-' | '.' | '(' | ')');
    let form = text
        .strip_prefix('+')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.chars().all(parts));
    if !form || text.len() > PHONE_CHARS_MAX || !(PHONE_DIGITS_MIN..=PHONE_DIGITS_MAX).contains(&digits) {
        let text = format!(
            "has to begin with + and the country code and to have {PHONE_DIGITS_MIN} to {PHONE_DIGITS_MAX} digits, as in +49 30 123456"
        );
        found.add(field, codes::WRONG_PHONE, text);
    }
}

/// A local part, one `@`, and a domain with a point.
pub(super) fn email(text: &str, field: &str, found: &mut Violations) {
    if bytes(text, field, EMAIL_BYTES_MAX, found) && !is_email(text) {
        found.add(field, codes::WRONG_EMAIL, "has to be an e-mail address such as name@example.com");
    }
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let is_odd = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '@' | '<' | '>' | '"' | ',' | ';' | '\\')
    };
    let label = |label: &str| {
        let letters = label.chars().all(|c| c.is_alphanumeric() || c == '-');
        !label.is_empty() && letters && !label.starts_with('-') && !label.ends_with('-')
    };
    let local_fits = !local.is_empty() && local.len() <= EMAIL_LOCAL_BYTES_MAX && !local.contains(is_odd);
    local_fits && domain.contains('.') && domain.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_a_host_and_no_password() {
        for good in [
            "https://example.com/a.jpg",
            "HTTP://example.com",
            "https://пример.рф/ф?x=1#y",
            "http://[::1]:80/x",
        ] {
            assert!(is_url(good), "{good}");
        }
        for bad in [
            "",
            "example.com",
            "ftp://example.com",
            "https://",
            "https:///x",
            "https://:80/",
            "https://u:p@example.com/",
            "https://a b/",
            "javascript:alert(1)",
            "https://a/\u{0}",
        ] {
            assert!(!is_url(bad), "{bad}");
        }
    }

    #[test]
    fn phones_begin_with_the_country_code() {
        for (text, good) in [
            ("+49 30 123456", true),
            ("+7 (916) 123-45-67", true),
            ("8 916 123 45 67", false),
            ("+", false),
            ("+49", false),
            ("+ 49 30 123456", false),
            ("+1234567890123456", false),
            ("+49 30 call me", false),
            ("+4930123456\n", false),
        ] {
            let mut found = Violations::default();
            phone(text, "phone", &mut found);
            assert_eq!(found.0.is_empty(), good, "{text}");
        }
    }

    #[test]
    fn e_mail_addresses_have_one_at_and_a_domain() {
        for good in ["a@example.com", "first.last+tag@sub.example.com", "почта@пример.рф"] {
            assert!(is_email(good), "{good}");
        }
        for bad in
            ["", "a", "a@", "@b.c", "a@b", "a@@b.c", "a b@c.d", "a@b..c", "a@-b.c", "a@b.c\n", "a@b.c,d@e.f"]
        {
            assert!(!is_email(bad), "{bad}");
        }
    }
}
