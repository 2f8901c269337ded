//! The changes of an offer, newest first.

use maud::{Markup, html};
use serde_json::Value;
use wire::torg::offers::v1::history_entry::{Excerpt, FieldChange};
use wire::torg::offers::v1::{GetHistoryResponse, HistoryEntry, Money, Offer};

use super::money::money;
use super::names;
use crate::view::{ago_of_offers, empty, long, moment, pager, path};
use crate::visit::Visit;

pub(super) fn show(visit: &Visit, history: &GetHistoryResponse, offer: &Offer, page: &str) -> Markup {
    if history.entries.is_empty() {
        return empty(visit.t("No changes are kept: they are older than the history."));
    }
    html! {
        ol.timeline { @for entry in &history.entries { (one(visit, entry, &offer.seller)) } }
        (pager(visit, &format!("{}#history", path(&["offers", &offer.id])), &[], page, &history.next_page_token))
    }
}

fn one(visit: &Visit, entry: &HistoryEntry, seller: &str) -> Markup {
    html! {
        li {
            div.line {
                strong { (visit.f("version {0}", &[&entry.version])) }
                span { (names::author(visit, entry.author.as_option(), seller)) }
                span.quiet { (ago_of_offers(visit, entry.time.as_option())) " · " (moment(entry.time.as_option())) }
            }
            @for field in &entry.changes { (difference(visit, &format!("change-{}-{}", entry.version, field.field), field)) }
        }
    }
}

fn difference(visit: &Visit, id: &str, field: &FieldChange) -> Markup {
    html! {
        div.difference {
            code { (field.field) } ": "
            @if let Some(excerpt) = field.excerpt.as_option() {
                (parts(excerpt))
            } @else if field.long && field.before.is_none() && field.after.is_none() {
                span.quiet { (visit.t("changed; too long to be kept")) }
            } @else {
                (change(id, field.before.as_deref(), field.after.as_deref()))
                @if field.long { " " span.quiet { (visit.t("(one of them is too long to be kept)")) } }
            }
        }
    }
}

/// The difference of two long values.
fn parts(excerpt: &Excerpt) -> Markup {
    let Excerpt { before, after, .. } = excerpt;
    html! {
        @if !before.is_empty() { del.old { (before) } }
        @if !before.is_empty() && !after.is_empty() { " → " }
        @if !after.is_empty() { ins.new { (after) } }
    }
}

/// A JSON value before and after. `id` is unique on the page.
pub(in crate::pages) fn change(id: &str, before: Option<&str>, after: Option<&str>) -> Markup {
    html! {
        @if let Some(before) = before { del.old { (long(&format!("{id}-before"), &readable(before))) } }
        @if before.is_some() && after.is_some() { " → " }
        @if let Some(after) = after { ins.new { (long(&format!("{id}-after"), &readable(after))) } }
        @if before.is_none() && after.is_none() { "–" }
    }
}

/// A JSON value for people: text without quotes, lists joined, money formatted; other values as
/// they are.
fn readable(json: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(json) else { return json.to_owned() };
    let fixed = value.get("fixed").unwrap_or(&value);
    let sum = fixed.get("micros").and_then(Value::as_str).and_then(|micros| micros.parse().ok());
    if let (Some(micros), Some(currency)) = (sum, fixed.get("currency").and_then(Value::as_str)) {
        return money(&Money { micros, currency: currency.to_owned(), ..Default::default() });
    }
    match value {
        Value::String(text) => text,
        Value::Array(all) if all.iter().all(Value::is_string) => {
            all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        _ => json.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_lose_their_quotes_and_nothing_becomes_markup() {
        assert_eq!(readable(r#""a \"b\"""#), r#"a "b""#);
        assert_eq!(readable(r#"{"address":"5"}"#), r#"{"address":"5"}"#);
        assert_eq!(readable(r#"["red","green"]"#), "red, green");
        let price = readable(r#"{"fixed":{"micros":"49000000000","currency":"RUB"}}"#);
        assert!(price.starts_with("49") && price.ends_with("RUB"), "{price}");
        let shown = change("title", Some("\"<b>\""), None).into_string();
        assert_eq!(shown, r#"<del class="old">&lt;b&gt;</del>"#);
    }
}
