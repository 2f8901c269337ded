//! A seller's cabinet: counts, one list of offers, sales, feeds.

use access::Action;
use maud::{Markup, html};
use wire::torg::feeds::v1::{ListFeedsRequest, ListFeedsResponse};
use wire::torg::offers::v1::{GetCountersRequest, GetCountersResponse, GetCountsRequest, GetCountsResponse};

use super::presets::PRESETS;
use super::{feeds, list};
use crate::pages::offers::money;
use crate::services::Failure;
use crate::view::{button, figure, linked, number, part, path, query, tabs};
use crate::visit::Visit;

const FEEDS_SHOWN: u32 = 100;

pub(super) async fn show(visit: &Visit, seller: &str, params: &list::Params) -> Result<Markup, Failure> {
    let name = seller.to_owned();
    let counts = GetCountsRequest { seller: name.clone(), ..Default::default() };
    let counters = GetCountersRequest { seller: name.clone(), ..Default::default() };
    let known = ListFeedsRequest { seller: name, page_size: FEEDS_SHOWN, ..Default::default() };
    let wanted = params.request(seller);
    let (counts, counters, known, offers) =
        tokio::join!(visit.call(&counts), visit.call(&counters), visit.call(&known), visit.call(&wanted),);
    // A caller who may see neither has no access to the page.
    if let (Err(failure), Err(_)) = (&counts, &offers) {
        return Err(failure.clone());
    }
    let namespaces: Vec<&str> =
        known.iter().flat_map(|known| &known.feeds).map(|feed| &*feed.namespace).collect();
    Ok(html! {
        div data-live #presets { (part(visit, &counts, |counts| preset_tabs(visit, counts, seller, params))) }
        (list::filters(visit, seller, params, &namespaces))
        div data-live #offers { (part(visit, &offers, |offers| list::show(visit, offers, seller, params))) }
        h2 { (visit.t("Sold and earned so far")) }
        div data-live #counters { (part(visit, &counters, |counters| earned(visit, counters, seller))) }
        h2 { (visit.t("Feeds")) }
        div data-live #feeds { (part(visit, &known, |known| shown_feeds(visit, known, seller))) }
        @if visit.may(Action::SeeInternals) {
            h2 { (visit.t("Counts")) }
            p { (visit.t("If counts do not match the offers, they can be recounted while everything runs.")) }
            (button(visit, &path(&["sellers", seller, "repair"]), visit.t("Recount"), "", &html! {}))
        }
    })
}

fn preset_tabs(visit: &Visit, counts: &GetCountsResponse, seller: &str, params: &list::Params) -> Markup {
    let offers =
        |preset| counts.counts.iter().find(|count| count.preset == preset).map_or(0, |count| count.offers);
    tabs(PRESETS.map(|(preset, name, text)| {
        let href = path(&["sellers", seller]) + &query(&[("preset", name)]);
        let count = number(offers(preset).max(0).unsigned_abs());
        (href, format!("{} {count}", visit.t(text)), params.preset == name)
    }))
}

fn earned(visit: &Visit, counters: &GetCountersResponse, seller: &str) -> Markup {
    let sold = path(&["sellers", seller]) + &query(&[("preset", "sold")]);
    html! {
        div.cards {
            (figure(visit.t("Total sold"), &linked(&number(counters.sold.max(0).unsigned_abs()), Some(&sold)), &html! {}))
            (figure(visit.t("Earned"), &html! { @if counters.money_earned.is_empty() { "0" } }, &html! {
                @for amount in &counters.money_earned { div.number { a href=(sold) { (money(amount)) } } }
            }))
        }
    }
}

fn shown_feeds(visit: &Visit, known: &ListFeedsResponse, seller: &str) -> Markup {
    html! {
        (feeds::show(visit, &known.feeds, seller))
        @if !known.next_page_token.is_empty() {
            p { a href=(path(&["feeds"]) + &query(&[("seller", seller)])) { (visit.t("Show all")) } }
        }
    }
}
