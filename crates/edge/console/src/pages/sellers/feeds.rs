//! The feeds of a seller with their states.

use maud::{Markup, html};
use wire::torg::feeds::v1::Feed;

use crate::pages::feeds::{fetch_error, of_feed};
use crate::view::{Tone, ago, columns, cut, number, path, query, state, table};
use crate::visit::Visit;

pub(super) fn show(visit: &Visit, feeds: &[Feed], seller: &str) -> Markup {
    let columns = columns![
        text "Feed", text "State", text "Last load", number "In the file", number "Rejected",
        text "Next fetch",
    ];
    table(
        visit,
        visit.t("Feeds"),
        &columns,
        visit.t("This seller has no feeds."),
        feeds.iter().map(|feed| row(visit, feed, seller)),
    )
}

fn row(visit: &Visit, feed: &Feed, seller: &str) -> Markup {
    let place = path(&["feeds", seller, &feed.namespace]);
    let load = feed.last_load.as_option();
    let counts = load.and_then(|load| load.counts.as_option());
    let offers = format!("{}{}", path(&["sellers", seller]), query(&[("source", &feed.namespace)]));
    let errors = load.map(|load| {
        let number = load.number.to_string();
        path(&["feeds", seller, &feed.namespace, "loads", &number]) + "?severity=error#problems"
    });
    let count = |offers: Option<u64>, place: &str| {
        html! { td.n { @if let Some(offers) = offers { a href=(place) { (number(offers)) } } @else { "–" } } }
    };
    html! {
        th scope="row" {
            a href=(place) { (feed.namespace) }
            @if !feed.title.is_empty() { br; span.quiet { (cut(&feed.title)) } }
        }
        td.wide { (status(visit, feed)) }
        td { @if let Some(load) = load { (ago(visit, load.create_time.as_option())) } @else { (visit.t("none yet")) } }
        (count(counts.map(|counts| counts.offers), &offers))
        (count(counts.map(|counts| counts.rejected), errors.as_deref().unwrap_or(&place)))
        td { (ago(visit, feed.next_fetch_time.as_option())) }
    }
}

/// The state, with the error of the last fetch.
fn status(visit: &Visit, feed: &Feed) -> Markup {
    let (tone, text) = of_feed(feed);
    html! {
        (state(tone, visit.t(text)))
        @if let (Tone::Bad, Some(fetch)) = (tone, feed.last_fetch.as_option()) { (fetch_error(visit, fetch)) }
    }
}
