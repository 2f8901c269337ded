//! Shared markup: states, tables, forms, links.

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

/// The colour of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Tone {
    Good,
    Warn,
    Bad,
    Plain,
}

impl Tone {
    /// The CSS class.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Plain => "plain",
        }
    }
}

pub(crate) fn state(tone: Tone, text: &str) -> Markup {
    html! { span.state.(tone.class()) { (text) } }
}

/// A note in the place of missing content.
pub(crate) fn empty(text: &str) -> Markup {
    html! { p.empty { (text) } }
}

fn kind(visit: &Visit, failure: &Failure) -> &'static str {
    match failure.kind {
        Kind::Unavailable => visit.t("This cannot be shown now"),
        Kind::InProgress => visit.t("Still in progress"),
        Kind::NotFound => visit.t("Not found"),
        Kind::Forbidden => visit.t("Your roles do not allow this"),
        Kind::Refused => visit.t("This cannot be done"),
        Kind::Broken => visit.t("Internal error of Torg"),
    }
}

/// A failure in the place of a page.
pub(crate) fn failure(visit: &Visit, failure: &Failure) -> Markup {
    html! {
        div.notice.bad role="alert" data-live #failure {
            strong { (kind(visit, failure)) }
            @if !failure.text.is_empty() { br; (failure.text) }
            @if failure.kind == Kind::Unavailable { br; (visit.t("It retries by itself.")) }
        }
    }
}

/// A part of a page, or its failure: the rest of the page is shown.
pub(crate) fn part<T>(visit: &Visit, got: &Result<T, Failure>, show: impl FnOnce(&T) -> Markup) -> Markup {
    match got {
        Ok(got) => show(got),
        Err(why) => html! {
            p.notice.bad role="alert" { (kind(visit, why)) ": " (why.text) }
        },
    }
}

/// Truncates a text.
pub(crate) fn cut(text: &str) -> String {
    cut_at(text, CELL_CHARS_MAX)
}

pub(crate) fn cut_at(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A long text is folded. `id` must be unique on the page: it keeps the fold open across refreshes.
pub(crate) fn long(id: &str, text: &str) -> Markup {
    if text.chars().nth(CELL_CHARS_MAX).is_none() {
        return html! { (text) };
    }
    html! {
        details id=(id) {
            summary { (cut(text)) }
            // Focusable, so that it can be scrolled with the keyboard.
            pre tabindex="0" { (cut_at(text, LONG_CHARS_MAX)) }
        }
    }
}

/// Percent-encodes a part of a path. `.` and `..` cannot be escaped: browsers treat them as folders
/// in any form.
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

/// The path of a page: `/console/feeds/shop%201/default`.
pub(crate) fn path(pieces: &[&str]) -> String {
    pieces.iter().fold("/console".to_owned(), |path, text| format!("{path}/{}", piece(text)))
}

/// A query string without empty values.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let given: Vec<String> = pairs
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}={}", piece(value)))
        .collect();
    if given.is_empty() { String::new() } else { format!("?{}", given.join("&")) }
}

/// The hidden CSRF field.
pub(crate) fn token(visit: &Visit) -> Markup {
    html! { input type="hidden" name=(TOKEN_FIELD) value=(visit.form_token()); }
}

/// A form with one button and these hidden fields.
pub(crate) fn button(visit: &Visit, action: &str, text: &str, class: &str, inner: &Markup) -> Markup {
    html! {
        form.inline method="post" action=(action) {
            (token(visit))
            (inner)
            button class=[(!class.is_empty()).then_some(class)] { (text) }
        }
    }
}

pub(crate) fn reason(visit: &Visit, id: &str) -> Markup {
    html! {
        label for=(id) { (visit.t("Reason")) input id=(id) name="reason" required maxlength="300"; }
    }
}

/// A card with a label, a number, and more markup below it.
pub(crate) fn figure(label: &str, number: &Markup, more: &Markup) -> Markup {
    html! {
        div.card.figure {
            div.label { (label) }
            @if !number.0.is_empty() { div.number { (number) } }
            (more)
        }
    }
}

/// A number that is a link if there is a page about what it counts.
pub(crate) fn linked(text: &str, href: Option<&str>) -> Markup {
    html! { @if let Some(href) = href { a href=(href) { (text) } } @else { (text) } }
}

/// A row of links, one of which is the current one: address, text, whether it is current.
pub(crate) fn tabs(tabs: impl IntoIterator<Item = (String, String, bool)>) -> Markup {
    html! {
        ul.tabs {
            @for (href, text, is_current) in tabs {
                li { a href=(href) aria-current=[is_current.then_some("page")] { (text) } }
            }
        }
    }
}

/// A column of a table. Numbers are aligned to the right.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    heading: &'static str,
    is_number: bool,
}

impl Column {
    pub(crate) const fn text(heading: &'static str) -> Self {
        Self { heading, is_number: false }
    }

    pub(crate) const fn number(heading: &'static str) -> Self {
        Self { heading, is_number: true }
    }
}

/// The columns of a table: `columns![text "Stage", number "Failures"]`.
macro_rules! columns {
    ($($kind:ident $heading:literal),* $(,)?) => { [$($crate::view::Column::$kind($heading)),*] };
}
pub(crate) use columns;

/// A table, which may be wider than the page; `none` is shown in its place if it has no rows.
pub(crate) fn table(
    visit: &Visit,
    label: &str,
    columns: &[Column],
    none: &str,
    rows: impl IntoIterator<Item = Markup>,
) -> Markup {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() {
        return empty(none);
    }
    html! {
        div.scroll role="region" aria-label=(label) tabindex="0" {
            table {
                thead { tr { @for column in columns {
                    th class=[column.is_number.then_some("n")] scope="col" { (visit.t(column.heading)) }
                } } }
                tbody { @for row in rows { tr { (row) } } }
            }
        }
    }
}

/// Links to the next page of a list and to the first. `base` may have a fragment:
/// `/console/offers/17#history`.
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
                @if !token.is_empty() { a.button href=(to("")) { (visit.t("First page")) } }
                @if !next.is_empty() { a.button href=(to(next)) { (visit.t("Next")) } }
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
