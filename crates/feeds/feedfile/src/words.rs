//! Interprets words of people and formats in English and Russian, and removes markup.

use crate::model::{Availability, Condition, Price};
use std::borrow::Cow;

const TAG_BYTES_MAX: usize = 2_000;

fn fold(text: &str) -> String {
    text.trim().to_lowercase().replace(['_', '-'], " ")
}

pub(crate) fn condition(text: &str) -> Option<Condition> {
    Some(match fold(text).as_str() {
        "new" | "новый" | "новое" | "новая" | "новые" | "brand new" | "новое с биркой" | "новый с биркой" => {
            Condition::New
        }
        "like new" | "likenew" | "used like new" | "showcasesample" | "как новый" | "как новое"
        | "отличное" => Condition::LikeNew,
        "used"
        | "preowned"
        | "reduction"
        | "used good"
        | "used fair"
        | "good"
        | "very good"
        | "excellent"
        | "fair"
        | "б/у"
        | "бу"
        | "хорошее"
        | "удовлетворительное"
        | "с пробегом"
        | "подержанный" => Condition::Used,
        "for parts" | "на запчасти" | "битый" | "битая" | "требует ремонта" => {
            Condition::ForParts
        }
        "refurbished" | "cpo" | "после ремонта" | "восстановленный" | "восстановленное" => {
            Condition::Refurbished
        }
        _ => return None,
    })
}

pub(crate) fn availability(text: &str) -> Option<Availability> {
    Some(match fold(text).as_str() {
        "in stock"
        | "instock"
        | "available"
        | "true"
        | "yes"
        | "1"
        | "available for order"
        | "в наличии"
        | "да"
        | "limited" => Availability::InStock,
        "out of stock"
        | "outofstock"
        | "false"
        | "no"
        | "0"
        | "discontinued"
        | "нет в наличии"
        | "нет"
        | "sold" => Availability::OutOfStock,
        "preorder" | "pre order" | "предзаказ" => Availability::PreOrder,
        "backorder" | "back order" | "под заказ" => Availability::BackOrder,
        _ => return None,
    })
}

/// A price in words, such as `free`.
pub(crate) fn price_in_words(text: &str) -> Option<Price> {
    Some(match fold(text).as_str() {
        "free" | "бесплатно" | "даром" | "отдам даром" => Price::Free,
        "negotiable"
        | "договорная"
        | "договорная цена"
        | "по договоренности"
        | "по договорённости"
        | "по запросу"
        | "цена по запросу"
        | "уточняйте"
        | "уточняйте цену"
        | "on request"
        | "price on request" => Price::Negotiable(None),
        _ => return None,
    })
}

/// Whether a text can follow `http://`: a host with a dot, `localhost` or an address.
pub(crate) fn is_host(text: &str) -> bool {
    let host = text.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let shape = host.contains('.') && !host.starts_with('.') && !host.contains("..");
    let end = host.rsplit('.').next().unwrap_or_default();
    shape
        && end.chars().count() >= 1
        && host.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

pub(crate) fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else { return false };
    !name.is_empty() && !text.contains(char::is_whitespace) && is_host(host) && text.len() <= 254
}

pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    let mut last_space = false;
    let sound = text.chars().all(|c| {
        let good = !(c.is_control() || (c == ' ' && last_space) || c == '\u{A0}');
        last_space = c == ' ';
        good
    });
    if sound {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// The text of HTML without tags; each paragraph and list item is a line.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if memchr::memchr2(b'<', b'&', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'<', b'&', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = if rest.starts_with('<') { tag(&mut out, rest) } else { reference(&mut out, rest) };
    }
    out.push_str(rest);
    Cow::Owned(without_empty_lines(&out))
}

/// Reads a tag, a comment or a CDATA section; any other `<` is text.
fn tag<'t>(out: &mut String, text: &'t str) -> &'t str {
    const LINES: [&str; 14] =
        ["br", "p", "div", "li", "ul", "ol", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "table"];
    if let Some(comment) = text.strip_prefix("<!--") {
        return comment.split_once("-->").map_or("", |(_, rest)| rest);
    }
    if let Some(section) = text.strip_prefix("<![CDATA[") {
        let (inside, rest) = section.split_once("]]>").unwrap_or((section, ""));
        out.push_str(inside);
        return rest;
    }
    let name = text[1..].trim_start_matches('/');
    let end = memchr::memchr(b'>', &text.as_bytes()[..text.len().min(TAG_BYTES_MAX)]);
    let (Some(end), true) = (end, name.starts_with(|c: char| c.is_ascii_alphabetic())) else {
        out.push('<');
        return &text[1..];
    };
    let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let ends_line = LINES.iter().any(|known| known.eq_ignore_ascii_case(name));
    out.push(if ends_line { '\n' } else { ' ' });
    if !ends_line && (out.ends_with("  ") || out.ends_with("\n ")) {
        out.pop();
    }
    &text[end + 1..]
}

fn reference<'t>(out: &mut String, text: &'t str) -> &'t str {
    match crate::entities::reference(text) {
        Some(('\u{A0}', length)) => {
            out.push(' ');
            &text[length..]
        }
        Some((character, length)) => {
            out.push(character);
            &text[length..]
        }
        None => {
            out.push('&');
            &text[1..]
        }
    }
}

/// A phone number with its country code: Russian ones often begin with 8, or with 7 without +.
pub(crate) fn phone(text: &str) -> String {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    match digits.strip_prefix(['7', '8']).filter(|rest| rest.len() == 10 && !text.trim().starts_with('+')) {
        Some(rest) => format!("+7{rest}"),
        None => text.to_owned(),
    }
}

fn without_empty_lines(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_becomes_lines_of_text() {
        assert_eq!(
            plain("<ul>\n<li>One: <b>1</b></li><li>Two&nbsp;&amp; 3</li></ul>a<br/>b"),
            "One: 1\nTwo & 3\na\nb"
        );
        assert_eq!(plain("1 < 2 & 3"), "1 < 2 & 3");
        assert_eq!(plain(" as it is "), "as it is");
    }

    #[test]
    fn hosts_and_addresses_are_told_from_words() {
        assert!(is_host("www.example.com/a.jpg") && is_host("карсаман.рф/#!/x") && is_host("10.0.0.1:80"));
        assert!(!is_host("none") && !is_host("a b.c") && !is_host("") && !is_host("..."));
        assert!(is_email("a@example.com") && !is_email("+7 900 000-00-00") && !is_email("a@b"));
    }

    #[test]
    fn russian_phones_get_the_number_of_their_country() {
        assert_eq!(phone("8 (916) 123-45-67"), "+79161234567");
        assert_eq!(phone("79161234567"), "+79161234567");
        for as_it_is in ["+8 916 123 45 67", "+49 30 123456", "123-45-67", "8800"] {
            assert_eq!(phone(as_it_is), as_it_is);
        }
    }

    #[test]
    fn conditions_are_understood_in_both_languages() {
        assert_eq!(condition("Новое"), Some(Condition::New));
        assert_eq!(condition("после ремонта"), Some(Condition::Refurbished));
        assert_eq!(condition("used_like_new"), Some(Condition::LikeNew));
        assert_eq!(condition("?"), None);
    }
}
