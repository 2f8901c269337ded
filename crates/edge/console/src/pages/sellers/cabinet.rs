//! A seller's cabinet: how many offers of each kind, the list of one kind, what was sold, the feeds.

use access::Action;
use maud::{Markup, html};
use wire::torg::feeds::v1::{ListFeedsRequest, ListFeedsResponse};
use wire::torg::offers::v1::{GetCountersRequest, GetCountersResponse, GetCountsRequest, GetCountsResponse};

use super::presets::PRESETS;
use super::{feeds, list};
use crate::pages::offers::money;
use crate::services::Failure;
use crate::services::methods::{GET_COUNTERS, GET_COUNTS, LIST_FEEDS, LIST_OFFERS};
use crate::view::{button, number, part, path, query};
use crate::visit::Visit;

/// Feeds that are shown.
const FEEDS_SHOWN: u32 = 100;

pub(super) async fn show(visit: &Visit, seller: &str, asked: &list::Asked) -> Result<Markup, Failure> {
    let name = seller.to_owned();
    let counts = GetCountsRequest { seller: name.clone(), ..GetCountsRequest::default() };
    let counters = GetCountersRequest { seller: name.clone(), ..GetCountersRequest::default() };
    let known = ListFeedsRequest { seller: name, page_size: FEEDS_SHOWN, ..ListFeedsRequest::default() };
    let wanted = asked.request(seller);
    let (counts, counters, known, offers) = tokio::join!(
        visit.call(GET_COUNTS, &counts),
        visit.call(GET_COUNTERS, &counters),
        visit.call(LIST_FEEDS, &known),
        visit.call(LIST_OFFERS, &wanted),
    );
    // Who may not see how many there are may see nothing of it.
    if let (Err(failure), Err(_)) = (&counts, &offers) {
        return Err(failure.clone());
    }
    let namespaces: Vec<&str> =
        known.iter().flat_map(|known| &known.feeds).map(|feed| &*feed.namespace).collect();
    Ok(html! {
        div data-live #presets { (part(visit, &counts, |counts| tabs(visit, counts, seller, asked))) }
        (list::filters(visit, seller, asked, &namespaces))
        div data-live #offers { (part(visit, &offers, |offers| list::show(visit, offers, seller, asked))) }
        h2 { (visit.t("Sold and earned so far")) }
        div data-live #counters { (part(visit, &counters, |counters| earned(visit, counters, seller))) }
        h2 { (visit.t("Feeds")) }
        div data-live #feeds { (part(visit, &known, |known| shown_feeds(visit, known, seller))) }
        @if visit.may(Action::SeeInternals) {
            h2 { (visit.t("Counts")) }
            p { (visit.t("If counts are not what is there, they can be counted anew, while everything goes on.")) }
            (button(visit, &path(&["sellers", seller, "repair"]), visit.t("Count anew"), "", &html! {}))
        }
    })
}

fn tabs(visit: &Visit, counts: &GetCountsResponse, seller: &str, asked: &list::Asked) -> Markup {
    let offers =
        |preset| counts.counts.iter().find(|count| count.preset == preset).map_or(0, |count| count.offers);
    html! {
        ul.tabs {
            @for (preset, name, text) in PRESETS {
                li {
                    a href={ (path(&["sellers", seller])) (query(&[("preset", name)])) }
                        aria-current=[(asked.preset == name).then_some("page")] {
                        (visit.t(text)) " " (number(offers(preset).max(0).unsigned_abs()))
                    }
                }
            }
        }
    }
}

fn earned(visit: &Visit, counters: &GetCountersResponse, seller: &str) -> Markup {
    let sold = path(&["sellers", seller]) + &query(&[("preset", "sold")]);
    html! {
        div.cards {
            div.card.figure {
                div.label { (visit.t("Ever sold")) }
                div.number { a href=(sold) { (number(counters.sold.max(0).unsigned_abs())) } }
            }
            div.card.figure {
                div.label { (visit.t("Earned")) }
                @if counters.money_earned.is_empty() { div.number { "0" } }
                @for amount in &counters.money_earned { div.number { a href=(sold) { (money(amount)) } } }
            }
        }
    }
}

fn shown_feeds(visit: &Visit, known: &ListFeedsResponse, seller: &str) -> Markup {
    html! {
        (feeds::show(visit, &known.feeds, seller))
        @if !known.next_page_token.is_empty() {
            p { a href=(path(&["feeds"]) + &query(&[("seller", seller)])) { (visit.t("All of them")) } }
        }
    }
}
