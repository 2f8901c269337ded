//! What pages have in common: states, times, numbers, plots, tables, forms.

mod number;
mod plot;
mod problem;
mod time;

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

pub(crate) use number::{amount, bytes, number, rate};
pub(crate) use plot::{plot, tall_plot};
pub(crate) use problem::problem;
pub(crate) use time::{ago, ago_of_offers, duration, length, moment, time_of};

use crate::form::TOKEN_FIELD;
use crate::limits::{CELL_CHARS_MAX, LONG_CHARS_MAX};
use crate::services::{Failure, Kind};
use crate::visit::Visit;

/// How something stands, by colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Tone {
    Good,
    Warn,
    Bad,
    Plain,
}

impl Tone {
    /// The class in the style.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Plain => "plain",
        }
    }
}

/// A word that says how something stands.
pub(crate) fn state(tone: Tone, text: &str) -> Markup {
    html! { span.state.(tone.class()) { (text) } }
}

/// What is shown where there is nothing: why there is nothing.
pub(crate) fn empty(text: &str) -> Markup {
    html! { p.empty { (text) } }
}

/// What kind of failure it is, in words.
fn kind(visit: &Visit, failure: &Failure) -> &'static str {
    match failure.kind {
        Kind::Unavailable => visit.t("This cannot be shown now"),
        Kind::GoesOn => visit.t("This is not over yet"),
        Kind::NotFound => visit.t("There is no such thing"),
        Kind::Forbidden => visit.t("Your roles do not suffice for this"),
        Kind::Refused => visit.t("This cannot be done"),
        Kind::Broken => visit.t("Something is wrong inside of Torg"),
    }
}

/// Why something cannot be shown.
pub(crate) fn failure(visit: &Visit, failure: &Failure) -> Markup {
    html! {
        div.notice.bad role="alert" data-live #failure {
            strong { (kind(visit, failure)) }
            @if !failure.text.is_empty() { br; (failure.text) }
            @if failure.kind == Kind::Unavailable { br; (visit.t("It is asked for again by itself.")) }
        }
    }
}

/// A part of a page, or why it is missing: the rest of the page stands.
pub(crate) fn part<T>(visit: &Visit, got: &Result<T, Failure>, show: impl FnOnce(&T) -> Markup) -> Markup {
    match got {
        Ok(got) => show(got),
        Err(why) => html! {
            p.notice.bad role="alert" { (kind(visit, why)) ": " (why.text) }
        },
    }
}

/// A text that may be long, cut.
pub(crate) fn cut(text: &str) -> String {
    text::shortened(text, CELL_CHARS_MAX)
}

/// A text that may be long: as it is, or folded behind its beginning. By its `id`, which nothing else on the page has, it stays as somebody has unfolded it.
pub(crate) fn long(id: &str, text: &str) -> Markup {
    if text.chars().nth(CELL_CHARS_MAX).is_none() {
        return html! { (text) };
    }
    html! {
        details id=(id) {
            summary { (cut(text)) }
            // Its own bars: who has keys only has to reach them.
            pre tabindex="0" { (text::shortened(text, LONG_CHARS_MAX)) }
        }
    }
}

/// A piece of a path. Of all names only `.` and `..` lead elsewhere: browsers take them for a folder, however they are written.
pub(crate) fn piece(text: &str) -> String {
    let mut path = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            path.push(char::from(byte));
        } else {
            path.push('%');
            for digit in [byte >> 4, byte & 15] {
                path.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
            }
        }
    }
    path
}

/// The path of a page with these pieces, each of which may be anything: `/console/feeds/shop%201/default`.
pub(crate) fn path(pieces: &[&str]) -> String {
    pieces.iter().fold("/console".to_owned(), |path, text| format!("{path}/{}", piece(text)))
}

/// A query from names and values; empty ones are left out.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let given: Vec<String> = pairs
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}={}", piece(value)))
        .collect();
    if given.is_empty() { String::new() } else { format!("?{}", given.join("&")) }
}

/// The hidden field that every form has.
pub(crate) fn token(visit: &Visit) -> Markup {
    html! { input type="hidden" name=(TOKEN_FIELD) value=(visit.form_token()); }
}

/// A form with one button. `inner` has its other fields.
pub(crate) fn button(visit: &Visit, action: &str, text: &str, class: &str, inner: &Markup) -> Markup {
    html! {
        form.inline method="post" action=(action) {
            (token(visit))
            (inner)
            button class=[(!class.is_empty()).then_some(class)] { (text) }
        }
    }
}

/// A field for the reason of an action.
pub(crate) fn reason(visit: &Visit, id: &str) -> Markup {
    html! {
        label for=(id) {
            (visit.t("Reason"))
            input id=(id) name="reason" required maxlength="300";
        }
    }
}

/// A number with its name, and how it was over time.
pub(crate) fn figure(label: &str, number: &Markup, unit: &str, past: &[f64]) -> Markup {
    html! {
        div.card.figure {
            div.label { (label) }
            div.number { (number) @if !unit.is_empty() { " " span.unit { (unit) } } }
            (plot(label, past))
        }
    }
}

/// A table with a head, which can be wider than the page.
pub(crate) fn table(label: &str, head: &Markup, rows: &Markup) -> Markup {
    html! {
        div.scroll role="region" aria-label=(label) tabindex="0" {
            table { thead { tr { (head) } } tbody { (rows) } }
        }
    }
}

/// Leads to the next page of a list, if there is one, and back to its beginning. `base` is the path of the page, and where on it the list stands if that is not at
/// its top: `/console/offers/17#history`.
pub(crate) fn pager(visit: &Visit, base: &str, others: &[(&str, &str)], token: &str, next: &str) -> Markup {
    let (path, place) = base.split_once('#').map_or((base, None), |(path, place)| (path, Some(place)));
    let place = place.map(|place| format!("#{place}")).unwrap_or_default();
    let to = |token: &str| {
        let pairs: Vec<(&str, &str)> = others.iter().copied().chain([("page", token)]).collect();
        format!("{path}{}{place}", query(&pairs))
    };
    html! {
        @if !token.is_empty() || !next.is_empty() {
            nav.pages aria-label=(visit.t("Pages of the list")) {
                @if !token.is_empty() { a.button href=(to("")) { (visit.t("To the beginning")) } }
                @if !next.is_empty() { a.button href=(to(next)) { (visit.t("Further")) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_name_holds_it_stays_one_piece_of_a_path() {
        assert_eq!(path(&["stages", "expiry"]), "/console/stages/expiry");
        assert_eq!(path(&["feeds", "a/b ?#", "д.%2E"]), "/console/feeds/a%2Fb%20%3F%23/%D0%B4.%252E");
        assert_eq!(query(&[("a", "1&2"), ("b", "")]), "?a=1%262");
        assert_eq!(query(&[("b", "")]), "");
    }

    #[test]
    fn a_long_text_is_cut_at_a_letter() {
        let long = "ж".repeat(CELL_CHARS_MAX + 1);
        assert_eq!(cut(&long).chars().count(), CELL_CHARS_MAX + 1);
        assert!(cut(&long).ends_with('…'));
        assert_eq!(cut("short"), "short");
    }

    #[test]
    fn a_long_text_is_folded_whole_behind_its_beginning_up_to_a_limit() {
        assert_eq!(long("id", "<b>").into_string(), "&lt;b&gt;");
        let text = format!("{}<end>", "ж".repeat(CELL_CHARS_MAX));
        let shown = long("error-1", &text).into_string();
        assert!(
            shown.starts_with("<details id=\"error-1\"><summary>ж")
                && shown.contains("…</summary><pre tabindex=\"0\">")
        );
        assert!(shown.ends_with("ж&lt;end&gt;</pre></details>"), "{shown}");
        let endless = long("id", &"ж".repeat(2 * LONG_CHARS_MAX)).into_string();
        assert_eq!(endless.chars().filter(|letter| *letter == 'ж').count(), CELL_CHARS_MAX + LONG_CHARS_MAX);
    }
}
