//! One offer.

use access::Action;
use maud::{Markup, html};
use wire::torg::catalog::v1::GetCategoryRequest;
use wire::torg::offers::v1::{
    ExplainOfferRequest, GetBillingRequest, GetHistoryRequest, GetModerationRequest, GetOfferRequest,
};

use super::{facts, history, internals, moves, photos};
use crate::services::methods::{
    EXPLAIN_OFFER, GET_BILLING, GET_CATEGORY, GET_HISTORY, GET_MODERATION, GET_OFFER,
};
use crate::services::{Failure, Kind};
use crate::view::{empty, part};
use crate::visit::Visit;

/// Changes on one page of the history.
const CHANGES_SHOWN: u32 = 50;

/// The title of the page, and what it shows.
pub(super) async fn show(visit: &Visit, id: &str, page: &str) -> Result<(String, Markup), Failure> {
    let wanted = GetOfferRequest { id: id.to_owned(), ..GetOfferRequest::default() };
    let answer = visit.call(GET_OFFER, &wanted).await?;
    let missing = || Failure::new(Kind::Broken, visit.t("The answer has no offer."));
    let offer = answer.offer.into_option().ok_or_else(missing)?;
    let id = &*offer.id;
    let inside = visit.caller().may(Action::SeeInternals);
    let remembers = inside || visit.own_seller() == Some(&*offer.seller);
    let category = GetCategoryRequest {
        id: offer.category.clone(),
        language: visit.language().code().to_owned(),
        ..GetCategoryRequest::default()
    };
    let changes = GetHistoryRequest {
        id: id.to_owned(),
        page_size: CHANGES_SHOWN,
        page_token: page.to_owned(),
        ..GetHistoryRequest::default()
    };
    let moderation = GetModerationRequest { id: id.to_owned(), ..GetModerationRequest::default() };
    let billing = GetBillingRequest { id: id.to_owned(), ..GetBillingRequest::default() };
    let explain = ExplainOfferRequest { id: id.to_owned(), ..ExplainOfferRequest::default() };
    let (category, moderation, billing, changes, explained) = tokio::join!(
        visit.call(GET_CATEGORY, &category),
        visit.call(GET_MODERATION, &moderation),
        visit.call(GET_BILLING, &billing),
        async { if remembers { Some(visit.call(GET_HISTORY, &changes).await) } else { None } },
        async { if inside { Some(visit.call(EXPLAIN_OFFER, &explain).await) } else { None } },
    );
    let title = if offer.title.is_empty() { visit.f("Offer {0}", &[&id]) } else { offer.title.clone() };
    let body = html! {
        p.quiet { (visit.t("Id")) ": " code { (grouped(id)) } }
        div data-live #standing { (facts::standing(visit, &offer, &category)) }
        div data-live #moves { (moves::show(visit, &offer)) }
        h2 { (visit.t("What is offered")) }
        div data-live #content { (facts::content(visit, &offer, &category)) }
        h2 { (visit.t("Photos")) }
        div data-live #photos {
            @if offer.photos.is_empty() { (empty(visit.t("It has no photos."))) }
            @else { (photos::show(visit, &offer.photos, &offer.photo_order)) }
        }
        @if let Some(explained) = &explained {
            h2 { (visit.t("Where it stands in every stage")) }
            (internals::release_form(visit, id))
            div data-live #explained { (part(visit, explained, |explained| internals::stages(visit, explained))) }
        }
        div.columns {
            section {
                h2 { (visit.t("Moderation")) }
                div data-live #moderation {
                    (part(visit, &moderation, |answer| internals::moderation(visit, answer.moderation.as_option())))
                }
            }
            section {
                h2 { (visit.t("Billing")) }
                div data-live #billing {
                    (part(visit, &billing, |answer| internals::billing(visit, answer.billing.as_option())))
                }
            }
        }
        @if let Some(changes) = &changes {
            h2 { (visit.t("What happened to it")) }
            div data-live #history { (part(visit, changes, |changes| history::show(visit, changes, &offer, page))) }
        }
    };
    Ok((title, body))
}

/// An id as people read it: `4829-1750-3316-8090`.
fn grouped(id: &str) -> String {
    let digits: Vec<char> = id.chars().collect();
    digits.chunks(4).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join("-")
}
