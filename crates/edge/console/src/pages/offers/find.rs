//! Search for an offer by its id, its seller, or its id in a feed.

mod search;

use access::Action;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::offers::v1::Offer;

use super::{price, source, status};
use crate::address::Query;
use crate::answer::see;
use crate::layout::Section;
use crate::view::{columns, empty, number, path, table};
use crate::visit::Visit;
use search::{Found, find};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    q: String,
    /// The seller in whose feeds an id is searched.
    seller: String,
}

pub(super) async fn show(visit: Visit, Query(params): Query<Params>) -> Response {
    let (text, seller) = (params.q.trim(), params.seller.trim());
    if let (true, Some(own)) = (text.is_empty(), visit.own_seller()) {
        // Sellers find their offers in their cabinet.
        return see(&path(&["sellers", own]));
    }
    let found = if text.is_empty() { None } else { Some(find(&visit, text, seller).await) };
    if let Some(place) = found.as_ref().and_then(only_place) {
        return see(&place);
    }
    let body = html! {
        (form(&visit, text, seller))
        @if let Some(found) = &found { div data-live #found { (results(&visit, text, found)) } }
    };
    visit.page(Section::Offers, visit.t("Offers"), Ok(body))
}

/// The page to redirect to if the text matches exactly one offer and nothing else.
fn only_place(found: &Found) -> Option<String> {
    match (&*found.offers, &found.seller, &found.stage) {
        ([offer], None, None) => Some(path(&["offers", &offer.id])),
        _ => None,
    }
}

fn form(visit: &Visit, text: &str, seller: &str) -> Markup {
    html! {
        form.inline method="get" action=(path(&["offers"])) {
            label for="q" {
                @if visit.caller().may(Action::ReadAny) { (visit.t("Id of an offer, a seller, or an id in a feed")) }
                @else { (visit.t("Id of an offer, or its id in the feed")) }
                input #q type="search" name="q" value=(text) maxlength="300" size="34" required;
            }
            @if visit.caller().may(Action::ReadAny) {
                label for="seller" { (visit.t("Seller, for an id in a feed")) input #seller name="seller" value=(seller) maxlength="200"; }
            }
            button.main { (visit.t("Find")) }
        }
        @if visit.caller().may(Action::ReadAny) {
            p.hint { (visit.t("An id may be written in groups: 4829-1750-3316-8090. An id in a feed needs its seller; it can also be written seller/id, or seller/feed/id.")) }
            p { a href=(path(&["sellers"])) { (visit.t("Or start with a seller")) } }
        }
    }
}

fn results(visit: &Visit, text: &str, found: &Found) -> Markup {
    let nothing = found.offers.is_empty() && found.seller.is_none() && found.stage.is_none();
    html! {
        @for failure in &found.failures { p.notice.bad role="alert" { (failure.text) } }
        @if nothing && found.failures.is_empty() {
            (empty(&visit.f("Nothing found for {0}: no offer, no seller with offers, no stage.", &[&format!("“{text}”")])))
        }
        @if !nothing {
            h2 { (visit.t("Possible matches")) }
            ul {
                @if let Some((seller, offers)) = &found.seller {
                    li {
                        a href=(path(&["sellers", seller])) { (visit.f("Cabinet of seller {0}", &[seller])) }
                        ", " (visit.f("offers: {0}", &[&number(*offers)]))
                    }
                }
                @if let Some(stage) = &found.stage {
                    li { a href=(path(&["stages", stage])) { (visit.f("Stage {0}", &[stage])) } }
                }
            }
            @if !found.offers.is_empty() { (offers(visit, &found.offers)) }
        }
    }
}

fn offers(visit: &Visit, offers: &[Offer]) -> Markup {
    let columns = columns![
        text "Offer", text "Title", text "Status", text "Price", text "Seller", text "Source",
    ];
    let rows = offers.iter().map(|offer| {
        html! {
            th scope="row" { a href=(path(&["offers", &offer.id])) { (offer.id) } }
            td.wide { (offer.title) }
            td { (status(visit, offer)) }
            td { (price(visit, offer.price.as_option())) }
            td { a href=(path(&["sellers", &offer.seller])) { (offer.seller) } }
            td { (source(visit, offer)) }
        }
    });
    table(visit, visit.t("Offers"), &columns, "", rows)
}
