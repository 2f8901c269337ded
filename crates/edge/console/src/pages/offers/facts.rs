//! The fields of an offer.

use access::Action;
use maud::{Markup, html};
use wire::torg::catalog::v1::{Attribute, GetCategoryResponse};
use wire::torg::offers::v1::{Contacts, Offer, Place, PredictedPrice, predicted_price};

use super::{money, names, photos, price, source, status};
use crate::language::w;
use crate::services::Failure;
use crate::view::{ago_of_offers, moment, path, query};
use crate::visit::Visit;

/// The category in the catalogue, or why it cannot be read.
type Category = Result<GetCategoryResponse, Failure>;

/// Status with its reason, times, source.
pub(super) fn summary(visit: &Visit, offer: &Offer, category: &Category) -> Markup {
    let seller = path(&["sellers", &offer.seller]);
    let reason = offer.status_reason.as_option();
    html! {
        div.card {
            dl.facts {
                dt { (visit.t("Status")) }
                dd {
                    (status(visit, offer)) " " (ago_of_offers(visit, offer.status_time.as_option()))
                    @if let Some(reason) = reason {
                        @if !reason.text.is_empty() { br; (reason.text) }
                        @if !reason.code.is_empty() { br; code { (reason.code) } }
                        @if reason.author.is_set() { br; span.quiet { (names::author(visit, reason.author.as_option(), &offer.seller)) } }
                    }
                }
                dt { (visit.t("Price")) } dd { (price(visit, offer.price.as_option())) }
                dt { (visit.t("Seller")) } dd { a href=(seller) { (offer.seller) } }
                dt { (visit.t("Category")) }
                dd {
                    a href={ (seller) (query(&[("category", &offer.category)])) } { (category_name(category, &offer.category)) }
                    br; code { (offer.category) }
                }
                dt { (visit.t("Source")) } dd { (source(visit, offer)) }
                dt { (visit.t("Made")) } dd { (moment(offer.create_time.as_option())) }
                dt { (visit.t("Updated")) } dd { (ago_of_offers(visit, offer.update_time.as_option())) }
                @if offer.expire_time.is_set() {
                    dt { (visit.t("Expires")) } dd { (ago_of_offers(visit, offer.expire_time.as_option())) }
                }
                @if offer.expire_warning_time.is_set() {
                    dt { (visit.t("Expiry warning sent")) } dd { (ago_of_offers(visit, offer.expire_warning_time.as_option())) }
                }
                @if visit.caller().may(Action::SeeInternals) {
                    dt { (visit.t("Version")) } dd { a href="#history" { (offer.version) } }
                    dt { (visit.t("Catalogue")) } dd { (offer.catalogue_version) }
                }
                @if !offer.obstacles.is_empty() {
                    dt { (visit.t("What blocks the newest catalogue")) }
                    dd { @for obstacle in &offer.obstacles { div { code { (obstacle.field) } ": " (obstacle.text) } } }
                }
            }
        }
    }
}

fn category_name<'a>(category: &'a Category, id: &'a str) -> &'a str {
    let named = category.as_ref().ok().and_then(|answer| answer.category.as_option());
    named.map(|named| &*named.path).filter(|path| !path.is_empty()).unwrap_or(id)
}

pub(super) fn content(visit: &Visit, offer: &Offer, category: &Category) -> Markup {
    let condition = names::condition_name(offer.condition.as_known().unwrap_or_default());
    html! {
        div.card {
            dl.facts {
                dt { (visit.t("Title")) } dd { (offer.title) }
                @if !offer.description.is_empty() { dt { (visit.t("Description")) } dd { (offer.description) } }
                @if let Some(condition) = condition { dt { (visit.t("Condition")) } dd { (visit.t(condition)) } }
                @for (id, values) in &offer.attributes { (attribute(category, id, &values.values)) }
                @if let Some(place) = offer.place.as_option() { dt { (visit.t("Place")) } dd { (location(place)) } }
                @if let Some(contacts) = offer.contacts.as_option() {
                    dt { (visit.t("Contacts")) } dd { (contact_list(visit, contacts)) }
                }
                @if let Some(film) = offer.video.as_option() { dt { (visit.t("Video")) } dd { (photos::video_facts(visit, film)) } }
                @if let Some(usual) = offer.predicted_price.as_option() {
                    dt { (visit.t("Typical price")) } dd { (usual_price(visit, usual)) }
                }
            }
        }
    }
}

/// An attribute with the names of the catalogue, as far as they are known.
fn attribute(category: &Category, id: &str, values: &[String]) -> Markup {
    let known =
        category.as_ref().ok().and_then(|answer| answer.attributes.iter().find(|known| known.id == id));
    let named = |value: &String| {
        let choice = known.and_then(|known| known.choices.iter().find(|choice| choice.id == *value));
        choice.map_or_else(|| value.clone(), |choice| choice.name.clone())
    };
    let text: Vec<String> = values.iter().map(named).collect();
    let unit = known.map(|known: &Attribute| &*known.unit).unwrap_or_default();
    html! {
        dt { @if let Some(known) = known { (known.name) } @else { code { (id) } } } dd { (text.join(", ")) @if !unit.is_empty() { " " (unit) } }
    }
}

fn location(place: &Place) -> Markup {
    html! {
        (place.address)
        @if !place.place_id.is_empty() { @if !place.address.is_empty() { br; } code { (place.place_id) } }
        @if let Some(point) = place.coordinates.as_option() {
            br; span.quiet { (format!("{:.5}, {:.5}", point.latitude, point.longitude)) }
        }
    }
}

fn contact_list(visit: &Visit, contacts: &Contacts) -> Markup {
    html! {
        @if !contacts.name.is_empty() { div { (contacts.name) } }
        @for phone in &contacts.phones { div { (phone) } }
        @if !contacts.email.is_empty() { div { (contacts.email) } }
        @if contacts.chat { div { (visit.t("by chat")) } }
    }
}

fn usual_price(visit: &Visit, usual: &PredictedPrice) -> Markup {
    use predicted_price::Confidence;
    let amount = |given: Option<&wire::torg::offers::v1::Money>| given.map(money).unwrap_or_default();
    let confidence = match usual.confidence.as_known().unwrap_or_default() {
        Confidence::CONFIDENCE_UNSPECIFIED => None,
        Confidence::CONFIDENCE_LOW => Some(w("low confidence")),
        Confidence::CONFIDENCE_MEDIUM => Some(w("medium confidence")),
        Confidence::CONFIDENCE_HIGH => Some(w("high confidence")),
    };
    html! {
        (amount(usual.median.as_option()))
        @if usual.low.is_set() && usual.high.is_set() {
            " (" (amount(usual.low.as_option())) " – " (amount(usual.high.as_option())) ")"
        }
        br;
        span.quiet {
            (visit.f("of {0} offers", &[&usual.count]))
            @if let Some(confidence) = confidence { ", " (visit.t(confidence)) }
            @if !usual.basis.is_empty() { ": " (usual.basis.join(", ")) }
        }
    }
}
