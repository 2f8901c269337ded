//! The list of feeds: of a seller, or of all.

use access::Action;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::admin::v1::{
    ListProblemsRequest as ListWrongsRequest, ListProblemsResponse as Wrongs, Problem as Wrong,
};
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::{Feed, ListFeedsRequest, ListFeedsResponse, Load};

use super::state::{load_state, of_feed};
use super::{Named, create, may_change};
use crate::address::Query;
use crate::layout::Place;
use crate::services::Failure;
use crate::services::methods::{LIST_FEEDS, LIST_WRONGS};
use crate::view::{ago, empty, number, pager, part, path, problem, query, state, table};
use crate::visit::Visit;
use crate::words_mark::w;

const SHOWN: u32 = 50;
/// How the last load of a feed may be asked to stand: as addresses name it, as people do, and the states that are meant.
const STANDINGS: [(&str, &str, &[State]); 3] = [
    ("", w("All feeds"), &[]),
    ("going", w("A load is under way"), &[State::STATE_QUEUED, State::STATE_READING, State::STATE_APPLYING]),
    ("waiting", w("A load waits for somebody"), &[State::STATE_WAITING]),
];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    seller: String,
    /// One of [`STANDINGS`].
    state: String,
    page: String,
}

impl Asked {
    fn states(&self) -> &'static [State] {
        STANDINGS.iter().find(|(name, ..)| *name == self.state).map_or(&[], |(.., states)| states)
    }
}

pub(super) async fn show(visit: Visit, Query(asked): Query<Asked>) -> Response {
    // A seller sees their own at once.
    let seller = match asked.seller.trim() {
        "" => visit.own_seller().unwrap_or_default().to_owned(),
        named => named.to_owned(),
    };
    let asked = Asked { seller, ..asked };
    let request = ListFeedsRequest {
        seller: asked.seller.clone(),
        page_size: SHOWN,
        page_token: asked.page.clone(),
        states: asked.states().iter().map(|state| (*state).into()).collect(),
        ..ListFeedsRequest::default()
    };
    let wants_wrongs =
        asked.seller.is_empty() && asked.states().is_empty() && visit.caller().may(Action::SeeProcess);
    let (feeds, wrongs) = tokio::join!(visit.call(LIST_FEEDS, &request), async {
        if wants_wrongs { Some(visit.call(LIST_WRONGS, &ListWrongsRequest::default()).await) } else { None }
    });
    let body = body(&visit, &asked, &feeds, wrongs.as_ref());
    visit.page(Place::Feeds, visit.t("Feeds"), Ok(body))
}

fn body(
    visit: &Visit,
    asked: &Asked,
    feeds: &Result<ListFeedsResponse, Failure>,
    wrongs: Option<&Result<Wrongs, Failure>>,
) -> Markup {
    let seller = &*asked.seller;
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
        (standings(asked, visit))
        div data-live #feeds { (part(visit, feeds, |feeds| rows(visit, asked, feeds))) }
        (pager(visit, "/console/feeds", &[("seller", seller), ("state", &asked.state)], &asked.page, next))
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

/// How the last load of feeds stands: each leads to those.
fn standings(asked: &Asked, visit: &Visit) -> Markup {
    let to = |state: &str| query(&[("seller", &asked.seller), ("state", state)]);
    html! {
        ul.tabs {
            @for (name, text, states) in STANDINGS {
                li {
                    a href={ "/console/feeds" (to(name)) } aria-current=[(states == asked.states()).then_some("true")] { (visit.t(text)) }
                }
            }
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

fn rows(visit: &Visit, asked: &Asked, answer: &ListFeedsResponse) -> Markup {
    let (seller, feeds) = (&*asked.seller, &answer.feeds);
    if feeds.is_empty() && !asked.states().is_empty() {
        // Only so many feeds are looked at for one page.
        let further = !answer.next_page_token.is_empty();
        return empty(visit.t(if further {
            w("None of the feeds looked at so far; there are more to look at: go further.")
        } else {
            w("The last load of no feed is so at the moment.")
        }));
    }
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
