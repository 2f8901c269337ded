//! Sellers and their cabinets, as seen by themselves and by staff.

mod cabinet;
mod feeds;
mod list;
mod presets;

use std::collections::BTreeSet;

use access::Action;
use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::feeds::v1::{ListFeedsRequest, ListFeedsResponse};
use wire::torg::offers::v1::{RepairCountsRequest, RepairCountsResponse};

use crate::address::{Path, Query};
use crate::answer::see;
use crate::form::Form;
use crate::layout::Section;
use crate::routes::Console;
use crate::services::{Failure, Kind};
use crate::view::{empty, part, path, tabs};
use crate::visit::Visit;

/// Feeds that are read to list sellers.
const FEEDS_LOOKED_AT: u32 = 100;

pub(super) fn routes() -> Router<Console> {
    Router::new()
        .route("/console/sellers", get(choose))
        .route("/console/sellers/{seller}", get(show))
        .route("/console/sellers/{seller}/repair", post(repair))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Find {
    q: String,
}

/// Sellers go to their own cabinet, others choose one.
async fn choose(visit: Visit, Query(params): Query<Find>) -> Response {
    let others = visit.caller().may(Action::ReadAny);
    match (params.q.trim(), visit.own_seller()) {
        (_, Some(own)) if !others => return see(&path(&["sellers", own])),
        ("", _) => {}
        (seller, _) => return see(&path(&["sellers", seller])),
    }
    let body = if others {
        let request = ListFeedsRequest { page_size: FEEDS_LOOKED_AT, ..Default::default() };
        let feeds = visit.call(&request).await;
        Ok(html! {
            p { (visit.t("A cabinet has a seller's offers by status, what they sold, and their feeds.")) }
            form.inline method="get" action=(path(&["sellers"])) {
                label for="q" { (visit.t("Id of the seller")) input #q type="search" name="q" required maxlength="128" size="30"; }
                button.main { (visit.t("Open the cabinet")) }
            }
            h2 { (visit.t("Sellers with feeds")) }
            div data-live #sellers { (part(&visit, &feeds, |feeds| with_feeds(&visit, feeds))) }
        })
    } else {
        Err(Failure::new(
            Kind::Forbidden,
            visit.t("You are not a seller and may not see the cabinets of others."),
        ))
    };
    visit.page(Section::Sellers, visit.t("Sellers"), body)
}

/// Sellers that have feeds.
fn with_feeds(visit: &Visit, answer: &ListFeedsResponse) -> Markup {
    let sellers: BTreeSet<&str> = answer.feeds.iter().map(|feed| &*feed.seller).collect();
    if sellers.is_empty() {
        return empty(visit.t("No seller has a feed yet."));
    }
    html! {
        (tabs(sellers.into_iter().map(|seller| (path(&["sellers", seller]), seller.to_owned(), false))))
        @if !answer.next_page_token.is_empty() {
            p { a href=(path(&["feeds"])) { (visit.t("There are more: all feeds")) } }
        }
    }
}

async fn show(visit: Visit, Path(seller): Path<String>, Query(params): Query<list::Params>) -> Response {
    let body = cabinet::show(&visit, &seller, &params).await;
    let own = visit.own_seller() == Some(&*seller);
    let title = if own { visit.t("Your cabinet").to_owned() } else { visit.f("Seller {0}", &[&seller]) };
    visit.page(Section::Sellers, &title, body)
}

async fn repair(visit: Visit, Path(seller): Path<String>, _form: Form) -> Response {
    let request = RepairCountsRequest { seller: seller.clone(), ..Default::default() };
    let say = |answer: RepairCountsResponse| {
        if answer.drifts.is_empty() {
            return visit.t("All counts were right.").to_owned();
        }
        let drifts: Vec<String> =
            answer.drifts.iter().map(|drift| format!("{} {:+}", drift.name, drift.correction)).collect();
        visit.f("Wrong counts were corrected: {0}", &[&drifts.join(", ")])
    };
    visit.submit(&path(&["sellers", &seller]), Ok(request), say).await
}
