//! The page of one offer.

use access::Action;
use maud::{Markup, html};
use wire::torg::catalog::v1::GetCategoryRequest;
use wire::torg::offers::v1::{
    ExplainOfferRequest, GetBillingRequest, GetHistoryRequest, GetModerationRequest, GetOfferRequest,
};

use super::{facts, history, internals, moves, photos};
use crate::services::{Failure, Kind};
use crate::view::{empty, part};
use crate::visit::Visit;

/// Changes on one page of the history.
const CHANGES_SHOWN: u32 = 50;

pub(super) async fn show(visit: &Visit, id: &str, page: &str) -> Result<(String, Markup), Failure> {
    let wanted = GetOfferRequest { id: id.to_owned(), ..Default::default() };
    let answer = visit.call(&wanted).await?;
    let missing = || Failure::new(Kind::Broken, visit.t("The answer has no offer."));
    let offer = answer.offer.into_option().ok_or_else(missing)?;
    let id = &*offer.id;
    let inside = visit.caller().may(Action::SeeInternals);
    let remembers = inside || visit.own_seller() == Some(&*offer.seller);
    let category = GetCategoryRequest {
        id: offer.category.clone(),
        language: visit.language().code().to_owned(),
        ..Default::default()
    };
    let changes = GetHistoryRequest {
        id: id.to_owned(),
        page_size: CHANGES_SHOWN,
        page_token: page.to_owned(),
        ..Default::default()
    };
    let moderation = GetModerationRequest { id: id.to_owned(), ..Default::default() };
    let billing = GetBillingRequest { id: id.to_owned(), ..Default::default() };
    let explain = ExplainOfferRequest { id: id.to_owned(), ..Default::default() };
    let (category, moderation, billing, changes, explained) = tokio::join!(
        visit.call(&category),
        visit.call(&moderation),
        visit.call(&billing),
        async { if remembers { Some(visit.call(&changes).await) } else { None } },
        async { if inside { Some(visit.call(&explain).await) } else { None } },
    );
    let title = if offer.title.is_empty() { visit.f("Offer {0}", &[&id]) } else { offer.title.clone() };
    let body = html! {
        p.quiet { (visit.t("Id")) ": " code { (grouped(id)) } }
        div data-live #standing { (facts::summary(visit, &offer, &category)) }
        div data-live #moves { (moves::show(visit, &offer)) }
        h2 { (visit.t("Details")) }
        div data-live #content { (facts::content(visit, &offer, &category)) }
        h2 { (visit.t("Photos")) }
        div data-live #photos {
            @if offer.photos.is_empty() { (empty(visit.t("It has no photos."))) }
            @else { (photos::show(visit, &offer.photos, &offer.photo_order)) }
        }
        @if let Some(explained) = &explained {
            h2 { (visit.t("State in every stage")) }
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
            h2 { (visit.t("History")) }
            div data-live #history { (part(visit, changes, |changes| history::show(visit, changes, &offer, page))) }
        }
    };
    Ok((title, body))
}

/// An id in groups: `4829-1750-3316-8090`.
fn grouped(id: &str) -> String {
    let digits: Vec<char> = id.chars().collect();
    digits.chunks(4).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join("-")
}
