//! Validation of requests about feeds.

use buffa::Message as _;
use feeds::limits::{CREDENTIAL_BYTES_MAX, NAMESPACE_BYTES_MAX, TITLE_CHARS_MAX, URL_BYTES_MAX};
use wire::torg::feeds::v1::{Defaults, Feed};

use crate::errors::Refusal;
use crate::limits::{FEED_DEFAULTS_BYTES_MAX, name, text};

/// The default namespace.
const NAMESPACE: &str = "default";
/// Stands for a hidden password.
pub(super) const HIDDEN: &str = "***";

/// Parses a namespace.
pub(super) fn namespace<'a>(field: &str, given: &'a str) -> Result<&'a str, Refusal> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match given {
        "" => Ok(NAMESPACE),
        given if given.len() <= NAMESPACE_BYTES_MAX && given.bytes().all(fits) => Ok(given),
        _ => {
            let text = format!("1 to {NAMESPACE_BYTES_MAX} letters, digits, - and _");
            Err(Refusal::wrong_field(field, "WRONG_NAMESPACE", text))
        }
    }
}

/// Validates the fields of a feed; the crate `feeds` validates the rest.
pub(super) fn feed(feed: &Feed) -> Result<(), Refusal> {
    text("feed.title", &feed.title, TITLE_CHARS_MAX)?;
    if let Some(link) = feed.link.as_option() {
        for (field, value, most) in [
            ("feed.link.url", &link.url, URL_BYTES_MAX),
            ("feed.link.user", &link.user, CREDENTIAL_BYTES_MAX),
            ("feed.link.password", &link.password, CREDENTIAL_BYTES_MAX),
        ] {
            if !value.is_empty() {
                name(field, value, most)?;
            }
        }
    }
    if feed.missing.as_known().is_none() {
        return Err(Refusal::wrong_field("feed.missing", "UNKNOWN_VALUE", "there is no such value"));
    }
    feed.defaults.as_option().map_or(Ok(()), defaults)
}

fn defaults(defaults: &Defaults) -> Result<(), Refusal> {
    let is_code = |code: &str, letters: usize| {
        code.is_empty() || code.len() == letters && code.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    if !is_code(&defaults.currency, 3) {
        let text = "three capital letters of ISO 4217, such as EUR";
        return Err(Refusal::wrong_field("feed.defaults.currency", "UNKNOWN_CURRENCY", text));
    }
    if !is_code(&defaults.country, 2) {
        let text = "two capital letters of ISO 3166, such as DE";
        return Err(Refusal::wrong_field("feed.defaults.country", "UNKNOWN_COUNTRY", text));
    }
    if defaults.encoded_len() as usize > FEED_DEFAULTS_BYTES_MAX {
        let text = format!("at most {FEED_DEFAULTS_BYTES_MAX} bytes together");
        return Err(Refusal::wrong_field("feed.defaults", "TOO_LONG", text));
    }
    Ok(())
}

/// A new feed has no stored password.
pub(super) fn new_password(feed: &Feed) -> Result<(), Refusal> {
    if feed.link.as_option().is_some_and(|link| link.password == HIDDEN) {
        let text = "this is a masked password: give the password itself";
        return Err(Refusal::wrong_field("feed.link.password", "HIDDEN_PASSWORD", text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use wire::torg::feeds::v1::Link;

    use super::*;

    fn reason(refused: Result<(), Refusal>) -> Option<(String, &'static str)> {
        refused.err().map(|refusal| (refusal.fields()[0].field.clone(), refusal.reason()))
    }

    #[test]
    fn a_namespace_is_short_and_plain_and_may_be_left_out() {
        assert_eq!(namespace("n", ""), Ok("default"));
        assert_eq!(namespace("n", "Spring-2_a"), Ok("Spring-2_a"));
        for wrong in ["a b", "a/b", "..", "ключ", "a\0", &"n".repeat(NAMESPACE_BYTES_MAX + 1)] {
            assert_eq!(namespace("n", wrong).unwrap_err().reason(), "WRONG_NAMESPACE", "{wrong}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_by_its_field() {
        let of = |defaults: Defaults| Feed { defaults: Some(defaults).into(), ..Feed::default() };
        let euro = Defaults { currency: "euro".into(), ..Defaults::default() };
        assert_eq!(reason(feed(&of(euro))), Some(("feed.defaults.currency".into(), "UNKNOWN_CURRENCY")));
        let land = Defaults { country: "de".into(), ..Defaults::default() };
        assert_eq!(reason(feed(&of(land))), Some(("feed.defaults.country".into(), "UNKNOWN_COUNTRY")));
        let link = Link { url: "http://a\u{1}".into(), ..Link::default() };
        let linked = Feed { link: Some(link).into(), ..Feed::default() };
        assert_eq!(reason(feed(&linked)), Some(("feed.link.url".into(), "BAD_CHARACTER")));
        let unknown = Feed { missing: 77.into(), ..Feed::default() };
        assert_eq!(reason(feed(&unknown)), Some(("feed.missing".into(), "UNKNOWN_VALUE")));
        assert_eq!(reason(feed(&Feed::default())), None);
    }
}
