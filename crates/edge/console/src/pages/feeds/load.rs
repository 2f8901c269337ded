//! One load: progress, results and problems.

use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::{Counts, GetLoadRequest, Load};

use super::state::{is_under_way, load_state, origin, progress};
use super::{FeedRef, change, report};
use crate::address::{Path, Query};
use crate::layout::Section;
use crate::services::{Failure, Kind};
use crate::view::{ago, bytes, figure, linked, long, moment, number, part};
use crate::visit::Visit;

#[derive(Clone, Debug, Deserialize)]
pub(super) struct LoadRef {
    pub(super) seller: String,
    pub(super) namespace: String,
    /// A number, or `last`.
    pub(super) number: String,
}

impl LoadRef {
    pub(super) fn feed(&self) -> FeedRef {
        FeedRef { seller: self.seller.clone(), namespace: self.namespace.clone() }
    }

    /// Zero for the last load.
    pub(super) fn number(&self, visit: &Visit) -> Result<u64, Failure> {
        match (&*self.number, self.number.parse()) {
            ("last", _) => Ok(0),
            (_, Ok(number)) if number > 0 => Ok(number),
            _ => Err(Failure::new(Kind::NotFound, visit.t("There is no load with this number."))),
        }
    }
}

pub(super) async fn show(
    visit: Visit,
    Path(of): Path<LoadRef>,
    Query(params): Query<report::Params>,
) -> Response {
    let title = match &*of.number {
        "last" => visit.f("The last load of the feed {0} of {1}", &[&of.namespace, &of.seller]),
        number => visit.f("Load {0} of the feed {1} of {2}", &[&number, &of.namespace, &of.seller]),
    };
    let body = body(&visit, &of, &params).await;
    visit.page(Section::Feeds, &title, body)
}

async fn body(visit: &Visit, of: &LoadRef, params: &report::Params) -> Result<Markup, Failure> {
    let (feed, number) = (of.feed(), of.number(visit)?);
    let request = GetLoadRequest {
        seller: of.seller.clone(),
        namespace: of.namespace.clone(),
        number,
        ..Default::default()
    };
    let (load, report) = tokio::join!(visit.call(&request), report::fetched(visit, &feed, number, params));
    let load = load.map(|answer| answer.load.into_option().unwrap_or_default());
    match &load {
        Err(failure) if matches!(failure.kind, Kind::NotFound | Kind::Forbidden) => {
            return Err(failure.clone());
        }
        Err(failure) if report.has_nothing() => return Err(failure.clone()),
        _ => {}
    }
    let page = feed.under(&["loads", &of.number]);
    Ok(html! {
        p { a href=(feed.page()) { (visit.f("Feed {0} of {1}", &[&feed.namespace, &feed.seller])) } }
        div data-live #load { (part(visit, &load, |load| facts(visit, &feed, &page, load))) }
        (report.show(visit, &feed, &page, params))
    })
}

fn facts(visit: &Visit, feed: &FeedRef, page: &str, load: &Load) -> Markup {
    let counts = load.counts.as_option().cloned().unwrap_or_default();
    html! {
        @if load.state.as_known() == Some(State::STATE_WAITING) { (change::waiting(visit, feed, load)) }
        @if let Some(failure) = load.failure.as_option() {
            div.notice.bad role="alert" {
                strong { (failure.message) }
                @if failure.line > 0 { " " (visit.f("Line {0}, column {1}.", &[&failure.line, &failure.column])) }
                @if !failure.remedy.is_empty() { br; (failure.remedy) }
                @if !failure.value.is_empty() { br; code { (long("failed-value", &failure.value)) } }
            }
        }
        div.card {
            dl.facts {
                dt { (visit.t("State")) } dd { (load_state(visit, load)) @if is_under_way(load) { (progress(visit, load)) } }
                dt { (visit.t("File")) } dd { (visit.t(origin(load))) ", " (bytes(load.bytes)) @if !load.format.is_empty() { ", " (load.format) } @if !load.encoding.is_empty() { ", " (load.encoding) } }
                dt { (visit.t("Received")) } dd { (ago(visit, load.create_time.as_option())) " " span.quiet { (moment(load.create_time.as_option())) } }
                dt { (visit.t("Start")) } dd { (ago(visit, load.start_time.as_option())) }
                dt { (visit.t("Ended")) } dd { (ago(visit, load.end_time.as_option())) }
            }
        }
        h2 { (visit.t("Results")) }
        div.cards { @for (label, count, place) in figures(visit, feed, page, &counts) {
            (figure(label, &linked(&number(count), Some(&*place).filter(|place| !place.is_empty())), &html! {}))
        } }
        p.hint { (visit.t("A load does not record which offers it created, changed or removed: the history of each offer names its loads.")) }
    }
}

/// Counts with links to what they count. A load does not record which offers were new or changed.
/// Rare counts are shown only if they are not zero.
fn figures<'v>(visit: &'v Visit, feed: &FeedRef, page: &str, counts: &Counts) -> Vec<(&'v str, u64, String)> {
    let offers = feed.offers();
    let (errors, warnings) =
        (format!("{page}?severity=error#problems"), format!("{page}?severity=warning#problems"));
    let usual = [
        (visit.t("In the file"), counts.offers, offers),
        (visit.t("New"), counts.created, String::new()),
        (visit.t("Changed"), counts.changed, String::new()),
        (visit.t("Unchanged"), counts.unchanged, String::new()),
        (visit.t("Rejected"), counts.rejected, errors.clone()),
    ];
    let rare = [
        (visit.t("Removed"), counts.removed, String::new()),
        (visit.t("Made manual"), counts.made_manual, String::new()),
        (visit.t("Not for sale at present"), counts.withdrawn, String::new()),
        (visit.t("Postponed"), counts.postponed, errors.clone()),
        (visit.t("Superseded"), counts.superseded, String::new()),
        (visit.t("Errors"), counts.errors, errors),
        (visit.t("Warnings"), counts.warnings, warnings),
    ];
    usual.into_iter().chain(rare.into_iter().filter(|(_, count, _)| *count > 0)).collect()
}
