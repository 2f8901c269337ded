//! One feed: its state, its loads, and the actions on it.

use access::Action;
use axum::response::Response;
use maud::{Markup, html};
use wire::torg::feeds::v1::fetch::Outcome;
use wire::torg::feeds::v1::{Defaults, Feed, Fetch, GetFeedRequest, ListLoadsRequest, Load};

use super::fetch_error::fetch_error;
use super::state::{is_under_way, load_state, missing, of_feed, origin, progress};
use super::{FeedRef, change, may_change, upload};
use crate::address::{Page, Path, Query};
use crate::language::w;
use crate::layout::Section;
use crate::services::Kind;
use crate::view::{Tone, ago, bytes, columns, duration, number, pager, part, query, state, table};
use crate::visit::Visit;

const LOADS_SHOWN: u32 = 20;

pub(super) async fn show(visit: Visit, Path(named): Path<FeedRef>, Query(params): Query<Page>) -> Response {
    let title = visit.f("Feed {0} of {1}", &[&named.namespace, &named.seller]);
    let (seller, namespace) = (named.seller.clone(), named.namespace.clone());
    let feed = GetFeedRequest { seller, namespace, ..Default::default() };
    let loads = ListLoadsRequest {
        seller: named.seller.clone(),
        namespace: named.namespace.clone(),
        page_size: LOADS_SHOWN,
        page_token: params.page.clone(),
        ..Default::default()
    };
    let (feed, loads) = tokio::join!(visit.call(&feed), visit.call(&loads));
    let feed = feed.map(|answer| answer.feed.into_option().unwrap_or_default());
    let body = match (&feed, &loads) {
        (Err(failure), Err(_)) => Err(failure.clone()),
        (Err(failure), _) if matches!(failure.kind, Kind::NotFound | Kind::Forbidden) => Err(failure.clone()),
        _ => {
            let next = loads.as_ref().map(|loads| &*loads.next_page_token).unwrap_or_default();
            Ok(html! {
                p {
                    a href={ "/console/feeds" (query(&[("seller", &named.seller)])) } { (visit.f("Feeds of {0}", &[&named.seller])) }
                    " · " a href=(named.offers()) { (visit.t("Offers of this feed")) }
                    " · " a href=(named.under(&["categories"])) { (visit.t("Categories of the seller")) }
                }
                div data-live #feed { (part(&visit, &feed, |feed| facts(&visit, &named, feed))) }
                div data-live #doing { (part(&visit, &feed, |feed| feed_actions(&visit, &named, feed))) }
                h2 { (visit.t("Loads")) }
                div data-live #loads { (part(&visit, &loads, |loads| table_of(&visit, &named, &loads.loads))) }
                (pager(&visit, &format!("{}#loads", named.page()), &[], &params.page, next))
            })
        }
    };
    visit.page(Section::Feeds, &title, body)
}

fn facts(visit: &Visit, named: &FeedRef, feed: &Feed) -> Markup {
    let (tone, text) = of_feed(feed);
    html! {
        @if let Some(load) = feed.last_load.as_option() {
            @if load.state.as_known() == Some(wire::torg::feeds::v1::load::State::STATE_WAITING) {
                (change::waiting(visit, named, load))
            } @else if is_under_way(load) { (under_way(visit, named, load)) }
        }
        div.card {
            dl.facts {
                dt { (visit.t("State")) } dd { (state(tone, visit.t(text))) }
                @if !feed.title.is_empty() { dt { (visit.t("Title")) } dd { (feed.title) } }
                (source(visit, feed))
                dt { (visit.t("Offers that are no longer in the file")) } dd { (visit.t(missing(feed))) }
                @if let Some(guard) = feed.guard.as_option() {
                    dt { (visit.t("Confirmation needed")) }
                    dd { (visit.f("when more than {0} % of more than {1} offers would be removed", &[&(guard.share * 100.0).round(), &guard.least])) }
                }
                @if let Some(given) = feed.defaults.as_option() { (defaults(visit, given)) }
                dt { (visit.t("Changed")) } dd { (ago(visit, feed.update_time.as_option().or(feed.create_time.as_option()))) }
            }
        }
    }
}

/// The source of the feed and the outcome of the last fetch.
fn source(visit: &Visit, feed: &Feed) -> Markup {
    html! {
        @if let Some(parsed) = feed.parsed.as_option() {
            dt { (visit.t("Comes from")) } dd { (visit.t("from another service")) ": " (parsed.source) }
        }
        @if let Some(link) = feed.link.as_option() {
            dt { (visit.t("Link")) } dd { (link.url) }
            @if !link.user.is_empty() { dt { (visit.t("User name")) } dd { (link.user) } }
            dt { (visit.t("Fetch interval")) }
            dd { (link.period.as_option().map_or_else(|| visit.t("four hours").to_owned(), |period| duration(visit, Some(period)))) }
            dt { (visit.t("Next fetch")) }
            dd { @if feed.paused { (visit.t("not while it is paused")) } @else { (ago(visit, feed.next_fetch_time.as_option())) } }
            dt { (visit.t("Last fetch")) }
            dd { @if let Some(fetch) = feed.last_fetch.as_option() { (fetched(visit, fetch)) } @else { (visit.t("none yet")) } }
        } @else {
            dt { (visit.t("Link")) } dd { (visit.t("none: files are uploaded")) }
        }
    }
}

fn fetched(visit: &Visit, fetch: &Fetch) -> Markup {
    let (tone, text) = match fetch.outcome.as_known() {
        Some(Outcome::OUTCOME_NEW) => (Tone::Good, w("a new file")),
        Some(Outcome::OUTCOME_UNCHANGED) => (Tone::Good, w("the same file as before")),
        Some(Outcome::OUTCOME_FAILED_FOR_NOW) => (Tone::Bad, w("failed, retried soon")),
        Some(Outcome::OUTCOME_FAILED) => (Tone::Bad, w("failed, next try at the usual time")),
        Some(Outcome::OUTCOME_UNSPECIFIED) | None => (Tone::Plain, w("not known")),
    };
    html! {
        (ago(visit, fetch.time.as_option())) " " (state(tone, visit.t(text)))
        @if fetch.bytes > 0 { " " span.quiet { (bytes(fetch.bytes)) } }
        (fetch_error(visit, fetch))
        @if fetch.attempts > 1 { br; span.quiet { (visit.f("attempts in a row: {0}", &[&fetch.attempts])) } }
    }
}

/// Defaults for offers that do not set these fields.
fn defaults(visit: &Visit, given: &Defaults) -> Markup {
    let contacts = given.contacts.as_option();
    let place = given.place.as_option();
    let place = place.map(|place| if place.address.is_empty() { &*place.place_id } else { &*place.address });
    let parts: Vec<String> = [
        Some(given.currency.clone()),
        Some(given.country.clone()),
        place.map(str::to_owned),
        contacts.map(|contacts| contacts.name.clone()),
        contacts.map(|contacts| contacts.phones.join(", ")),
        contacts.map(|contacts| contacts.email.clone()),
    ]
    .into_iter()
    .flatten()
    .filter(|part| !part.is_empty())
    .collect();
    html! {
        @if !parts.is_empty() {
            dt { (visit.t("Defaults of offers")) } dd { (parts.join(" · ")) }
        }
    }
}

fn under_way(visit: &Visit, named: &FeedRef, load: &Load) -> Markup {
    html! {
        div.card {
            div.line {
                a href=(named.under(&["loads", &load.number.to_string()])) { (visit.f("Load {0}", &[&load.number])) }
                (load_state(visit, load))
            }
            (progress(visit, load))
        }
    }
}

/// The actions that the caller may take.
fn feed_actions(visit: &Visit, named: &FeedRef, feed: &Feed) -> Markup {
    if feed.deleting {
        return html! { p.notice { (visit.t("The feed is being deleted: its offers first, then the feed.")) } };
    }
    if !may_change(visit, &named.seller) {
        return html! {
            @if visit.may(Action::ReadAny) && !visit.may(Action::WriteForSeller) {
                p.hint { (visit.t("Only its seller, services and admins may change a feed.")) }
            }
        };
    }
    html! {
        (upload::form(visit, named))
        (change::actions(visit, named, feed))
    }
}

fn table_of(visit: &Visit, named: &FeedRef, loads: &[Load]) -> Markup {
    let columns = columns![
        text "Load", text "State", text "When", text "File", number "In the file", number "New",
        number "Changed", number "Rejected", number "Removed",
    ];
    table(
        visit,
        visit.t("Loads"),
        &columns,
        visit.t("No files yet: upload one, or wait for the next fetch."),
        loads.iter().map(|load| row(visit, named, load)),
    )
}

fn row(visit: &Visit, named: &FeedRef, load: &Load) -> Markup {
    let page = named.under(&["loads", &load.number.to_string()]);
    let counts = load.counts.as_option().cloned().unwrap_or_default();
    html! {
        th scope="row" { a href=(page) { (load.number) } }
        td { (load_state(visit, load)) @if is_under_way(load) { br; (progress(visit, load)) } }
        td { (ago(visit, load.create_time.as_option())) }
        td { (visit.t(origin(load))) br; span.quiet { (load.format) " " (bytes(load.bytes)) } }
        td.n { a href=(named.offers()) { (number(counts.offers)) } }
        // A load does not record which offers were new or changed.
        td.n { (number(counts.created)) }
        td.n { (number(counts.changed)) }
        td.n { a href={ (page) "?severity=error#problems" } { (number(counts.rejected)) } }
        td.n { (number(counts.removed)) }
    }
}
