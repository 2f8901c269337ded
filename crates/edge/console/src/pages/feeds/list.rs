//! The list of feeds, of one seller or of all.

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
use super::{FeedRef, create, may_change};
use crate::address::Query;
use crate::language::w;
use crate::layout::Section;
use crate::services::Failure;
use crate::view::{Column, ago, columns, number, pager, part, path, problem, query, state, table, tabs};
use crate::visit::Visit;

const SHOWN: u32 = 50;
/// Filters by the state of the last load: name in addresses, text, states.
const STATE_FILTERS: [(&str, &str, &[State]); 3] = [
    ("", w("All feeds"), &[]),
    ("going", w("Load in progress"), &[State::STATE_QUEUED, State::STATE_READING, State::STATE_APPLYING]),
    ("waiting", w("Load waits for confirmation"), &[State::STATE_WAITING]),
];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    seller: String,
    /// One of [`STANDINGS`].
    state: String,
    page: String,
}

impl Params {
    fn states(&self) -> &'static [State] {
        STATE_FILTERS.iter().find(|(name, ..)| *name == self.state).map_or(&[], |(.., states)| states)
    }
}

pub(super) async fn show(visit: Visit, Query(params): Query<Params>) -> Response {
    // Sellers see their own feeds by default.
    let seller = match params.seller.trim() {
        "" => visit.own_seller().unwrap_or_default().to_owned(),
        named => named.to_owned(),
    };
    let params = Params { seller, ..params };
    let request = ListFeedsRequest {
        seller: params.seller.clone(),
        page_size: SHOWN,
        page_token: params.page.clone(),
        states: params.states().iter().map(|state| (*state).into()).collect(),
        ..Default::default()
    };
    let wants_wrongs =
        params.seller.is_empty() && params.states().is_empty() && visit.caller().may(Action::SeeProcess);
    let (feeds, wrongs) = tokio::join!(visit.call(&request), async {
        if wants_wrongs { Some(visit.call(&ListWrongsRequest::default()).await) } else { None }
    });
    let body = body(&visit, &params, &feeds, wrongs.as_ref());
    visit.page(Section::Feeds, visit.t("Feeds"), Ok(body))
}

fn body(
    visit: &Visit,
    params: &Params,
    feeds: &Result<ListFeedsResponse, Failure>,
    wrongs: Option<&Result<Wrongs, Failure>>,
) -> Markup {
    let seller = &*params.seller;
    let next = feeds.as_ref().map(|feeds| &*feeds.next_page_token).unwrap_or_default();
    html! {
        @if visit.caller().may(Action::ReadAny) { (choice(visit, seller)) }
        @if let Some(wrongs) = wrongs {
            div data-live #wrongs { (part(visit, wrongs, |wrongs| feed_problems(visit, wrongs))) }
        }
        h2 { @if seller.is_empty() { (visit.t("Feeds of all sellers")) } @else { (visit.f("Feeds of {0}", &[&seller])) } }
        @if !seller.is_empty() {
            p { a href=(path(&["sellers", seller])) { (visit.t("Offers of this seller")) } }
        }
        (statuses(params, visit))
        div data-live #feeds { (part(visit, feeds, |feeds| rows(visit, params, feeds))) }
        (pager(visit, "/console/feeds", &[("seller", seller), ("state", &params.state)], &params.page, next))
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

fn statuses(params: &Params, visit: &Visit) -> Markup {
    tabs(STATE_FILTERS.map(|(name, text, states)| {
        let href = format!("/console/feeds{}", query(&[("seller", &params.seller), ("state", name)]));
        (href, visit.t(text).to_owned(), states == params.states())
    }))
}

fn feed_problems(visit: &Visit, wrongs: &Wrongs) -> Markup {
    let about_feeds = |wrong: &&Wrong| wrong.code.starts_with("feed_") || wrong.code.starts_with("load_");
    let wrongs: Vec<&Wrong> = wrongs.problems.iter().filter(about_feeds).collect();
    html! {
        h2 { (visit.t("Feeds that need attention")) }
        @if wrongs.is_empty() {
            p.notice.good { (visit.t("No feed needs attention.")) }
        } @else {
            ul.problems {
                @for wrong in wrongs { (problem(visit, wrong)) }
            }
        }
    }
}

fn rows(visit: &Visit, params: &Params, answer: &ListFeedsResponse) -> Markup {
    let seller = &*params.seller;
    let own = visit.own_seller().is_some();
    // One page looks at a limited number of feeds.
    let more = !answer.next_page_token.is_empty();
    let none = match (params.states().is_empty(), seller) {
        (false, _) if more => w("No such feeds on this page; there may be more on the next ones."),
        (false, _) => w("No feed has such a last load now."),
        (true, "") => w("No seller has a feed yet."),
        (true, _) if own => w("You have no feeds yet: create one below, with a link or without."),
        (true, _) => w("This seller has no feeds."),
    };
    let mut columns: Vec<Column> =
        seller.is_empty().then_some(Column::text(w("Seller"))).into_iter().collect();
    columns.extend(columns![
        text "Feed", text "State", text "Comes from", text "Next fetch", text "Last load",
        number "In the file", number "Errors",
    ]);
    let rows = answer.feeds.iter().map(|feed| row(visit, seller.is_empty(), feed));
    table(visit, visit.t("Feeds"), &columns, visit.t(none), rows)
}

fn row(visit: &Visit, with_seller: bool, feed: &Feed) -> Markup {
    let named = FeedRef { seller: feed.seller.clone(), namespace: feed.namespace.clone() };
    let (tone, text) = of_feed(feed);
    html! {
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

fn last_load(visit: &Visit, feed: &FeedRef, load: &Load) -> Markup {
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
