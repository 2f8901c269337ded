//! The list of feeds: of a seller, or of all.

use access::Action;
use axum::response::Response;
use contract::torg::admin::v1::{
    ListProblemsRequest as ListWrongsRequest, ListProblemsResponse as Wrongs, Problem as Wrong,
};
use contract::torg::feeds::v1::{Feed, ListFeedsRequest, ListFeedsResponse, Load};
use maud::{Markup, html};
use serde::Deserialize;

use super::state::{load_state, of_feed};
use super::{Named, create, may_change};
use crate::address::Query;
use crate::layout::Place;
use crate::services::Failure;
use crate::services::methods::{LIST_FEEDS, LIST_WRONGS};
use crate::view::{ago, empty, number, pager, part, path, problem, query, state, table};
use crate::visit::Visit;

const SHOWN: u32 = 50;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    seller: String,
    #[serde(default)]
    page: String,
}

pub(super) async fn show(visit: Visit, Query(asked): Query<Asked>) -> Response {
    // A seller sees their own at once.
    let seller = match asked.seller.trim() {
        "" => visit.own_seller().unwrap_or_default().to_owned(),
        named => named.to_owned(),
    };
    let request = ListFeedsRequest {
        seller: seller.clone(),
        page_size: SHOWN,
        page_token: asked.page.clone(),
        ..ListFeedsRequest::default()
    };
    let wants_wrongs = seller.is_empty() && visit.caller().may(Action::SeeProcess);
    let (feeds, wrongs) = tokio::join!(visit.call(LIST_FEEDS, &request), async {
        if wants_wrongs { Some(visit.call(LIST_WRONGS, &ListWrongsRequest::default()).await) } else { None }
    });
    let body = body(&visit, &seller, &asked.page, &feeds, wrongs.as_ref());
    visit.page(Place::Feeds, visit.t("Feeds"), Ok(body))
}

fn body(
    visit: &Visit,
    seller: &str,
    page: &str,
    feeds: &Result<ListFeedsResponse, Failure>,
    wrongs: Option<&Result<Wrongs, Failure>>,
) -> Markup {
    let next = feeds.as_ref().map(|feeds| &*feeds.next_page_token).unwrap_or_default();
    html! {
        @if visit.caller().may(Action::ReadAny) { (choice(visit, seller)) }
        @if let Some(wrongs) = wrongs {
            div data-live #wrongs { (part(visit, wrongs, |wrongs| needy(visit, wrongs))) }
        }
        h2 { @if seller.is_empty() { (visit.t("Feeds of all sellers")) } @else { (visit.f("Feeds of {0}", &[&seller])) } }
        @if !seller.is_empty() {
            p { a href=(path(&["sellers", seller])) { (visit.t("Offers of this seller")) } }
        }
        div data-live #feeds { (part(visit, feeds, |feeds| rows(visit, seller, &feeds.feeds))) }
        (pager(visit, "/console/feeds", &[("seller", seller)], page, next))
        @if visit.may(Action::WriteForSeller) || !seller.is_empty() && may_change(visit, seller) {
            (create::form(visit, seller))
        }
    }
}

fn choice(visit: &Visit, seller: &str) -> Markup {
    html! {
        form.inline method="get" action="/console/feeds" {
            label for="seller" { (visit.t("Seller")) input #seller name="seller" value=(seller) maxlength="128"; }
            button { (visit.t("Show")) }
            @if !seller.is_empty() { a.button href="/console/feeds" { (visit.t("Feeds of all sellers")) } }
        }
    }
}

/// Feeds that need somebody.
fn needy(visit: &Visit, wrongs: &Wrongs) -> Markup {
    let about_feeds = |wrong: &&Wrong| wrong.code.starts_with("feed_") || wrong.code.starts_with("load_");
    let wrongs: Vec<&Wrong> = wrongs.problems.iter().filter(about_feeds).collect();
    html! {
        h2 { (visit.t("Feeds that need somebody")) }
        @if wrongs.is_empty() {
            p.notice.good { (visit.t("No feed needs anybody.")) }
        } @else {
            ul.problems {
                @for wrong in wrongs { (problem(visit, wrong)) }
            }
        }
    }
}

fn rows(visit: &Visit, seller: &str, feeds: &[Feed]) -> Markup {
    if feeds.is_empty() {
        let own = visit.own_seller().is_some();
        return match (seller, own) {
            ("", _) => empty(visit.t("No seller has a feed yet.")),
            (_, true) => empty(visit.t("You have no feeds yet: make one below, with a link or without.")),
            (_, false) => empty(visit.t("This seller has no feeds.")),
        };
    }
    let head = html! {
        @if seller.is_empty() { th scope="col" { (visit.t("Seller")) } }
        th scope="col" { (visit.t("Feed")) }
        th scope="col" { (visit.t("State")) }
        th scope="col" { (visit.t("Comes from")) }
        th scope="col" { (visit.t("Next fetch")) }
        th scope="col" { (visit.t("Last load")) }
        th.n scope="col" { (visit.t("In the file")) }
        th.n scope="col" { (visit.t("Errors")) }
    };
    table(visit.t("Feeds"), &head, &html! { @for feed in feeds { (row(visit, seller.is_empty(), feed)) } })
}

fn row(visit: &Visit, with_seller: bool, feed: &Feed) -> Markup {
    let named = Named { seller: feed.seller.clone(), namespace: feed.namespace.clone() };
    let (tone, text) = of_feed(feed);
    html! {
        tr {
            @if with_seller {
                td { a href={ "/console/feeds" (query(&[("seller", &feed.seller)])) } { (feed.seller) } }
            }
            th scope="row" {
                a href=(named.page()) { @if feed.title.is_empty() { (feed.namespace) } @else { (feed.title) } }
                @if !feed.title.is_empty() { br; span.quiet { (feed.namespace) } }
            }
            td { (state(tone, visit.t(text))) }
            td.wide { @if let Some(link) = feed.link.as_option() { (link.url) } @else { (visit.t("uploads")) } }
            td { (ago(visit, feed.next_fetch_time.as_option())) }
            @if let Some(load) = feed.last_load.as_option() { (last_load(visit, &named, load)) }
            @else { td { "–" } td.n { "–" } td.n { "–" } }
        }
    }
}

fn last_load(visit: &Visit, feed: &Named, load: &Load) -> Markup {
    let page = feed.under(&["loads", &load.number.to_string()]);
    let counts = load.counts.as_option().cloned().unwrap_or_default();
    html! {
        td {
            a href=(page) { (visit.f("Load {0}", &[&load.number])) } " " (load_state(visit, load))
            br; span.quiet { (ago(visit, load.create_time.as_option())) }
        }
        td.n { a href=(feed.offers()) { (number(counts.offers)) } }
        td.n { a href={ (page) "?severity=error#problems" } { (number(counts.errors)) } }
    }
}
