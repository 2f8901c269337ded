//! A list of a seller's offers: which of them, and their table.

use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::offers::v1::list_offers_request::Filter;
use wire::torg::offers::v1::{ListOffersRequest, ListOffersResponse, Offer};

use super::presets;
use crate::pages::offers::{price, source, status};
use crate::view::{ago_of_offers, cut, empty, pager, path, query, table};
use crate::visit::Visit;

/// Offers on one page.
const SHOWN: u32 = 50;

/// Which offers are asked for.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    pub(super) preset: String,
    #[serde(default)]
    category: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    page: String,
}

impl Asked {
    /// What the services are asked.
    pub(super) fn request(&self, seller: &str) -> ListOffersRequest {
        let text = |text: &str| text.trim().to_owned();
        let filter = Filter {
            category: text(&self.category),
            source: text(&self.source),
            title_prefix: text(&self.title),
            ..Filter::default()
        };
        ListOffersRequest {
            seller: seller.to_owned(),
            preset: presets::of_name(&self.preset).into(),
            filter: Some(filter).into(),
            page_size: SHOWN,
            page_token: self.page.clone(),
            ..ListOffersRequest::default()
        }
    }

    /// Whether some offers of the list are left out.
    fn is_filtered(&self) -> bool {
        [&self.category, &self.source, &self.title].iter().any(|text| !text.trim().is_empty())
    }

    /// What stands in addresses beside the page.
    fn pairs(&self) -> [(&str, &str); 4] {
        [
            ("preset", &self.preset),
            ("category", &self.category),
            ("source", &self.source),
            ("title", &self.title),
        ]
    }
}

/// The form of the filters.
pub(super) fn filters(visit: &Visit, seller: &str, asked: &Asked, feeds: &[&str]) -> Markup {
    let other = !matches!(&*asked.source, "" | "manual") && !feeds.contains(&&*asked.source);
    html! {
        form.inline method="get" action=(path(&["sellers", seller])) {
            @if !asked.preset.is_empty() { input type="hidden" name="preset" value=(asked.preset); }
            label for="title" {
                (visit.t("The title begins with"))
                input #title name="title" value=(asked.title) maxlength="100";
            }
            label for="category" {
                (visit.t("Category, and all below it"))
                input #category name="category" value=(asked.category) maxlength="200" placeholder="transport/cars";
            }
            label for="source" {
                (visit.t("Source"))
                select #source name="source" {
                    option value="" { (visit.t("all")) }
                    option value="manual" selected[asked.source == "manual"] { (visit.t("typed in")) }
                    @for feed in feeds { option value=(feed) selected[asked.source == *feed] { (visit.t("feed")) " " (feed) } }
                    @if other { option value=(asked.source) selected { (asked.source) } }
                }
            }
            button { (visit.t("Show")) }
            @if asked.is_filtered() {
                a.button href={ (path(&["sellers", seller])) (query(&[("preset", &asked.preset)])) } { (visit.t("Without filters")) }
            }
        }
        form.inline method="get" action=(path(&["offers"])) {
            input type="hidden" name="seller" value=(seller);
            label for="external" {
                (visit.t("Id in a feed"))
                input #external name="q" required maxlength="256";
            }
            button { (visit.t("Find")) }
        }
    }
}

pub(super) fn show(visit: &Visit, answer: &ListOffersResponse, seller: &str, asked: &Asked) -> Markup {
    html! {
        @if !answer.offers.is_empty() {
            (offers(visit, &answer.offers))
        } @else if !answer.next_page_token.is_empty() {
            (empty(visit.t("No offer fits so far; there are more to look at: go further.")))
        } @else if asked.is_filtered() {
            (empty(visit.t("No offer of this list fits the filters.")))
        } @else {
            (empty(visit.t("No offer stands in this list.")))
        }
        (pager(visit, &path(&["sellers", seller]), &asked.pairs(), &asked.page, &answer.next_page_token))
    }
}

fn offers(visit: &Visit, offers: &[Offer]) -> Markup {
    let head = html! {
        th scope="col" { (visit.t("Title")) }
        th scope="col" { (visit.t("Status")) }
        th scope="col" { (visit.t("Price")) }
        th scope="col" { (visit.t("Category")) }
        th scope="col" { (visit.t("Source")) }
        th scope="col" { (visit.t("Made")) }
        th scope="col" { (visit.t("Expires")) }
    };
    table(visit.t("Offers"), &head, &html! { @for offer in offers { (row(visit, offer)) } })
}

fn row(visit: &Visit, offer: &Offer) -> Markup {
    let reason = offer.status_reason.as_option().map(|reason| &*reason.text).unwrap_or_default();
    let title = if offer.title.is_empty() { visit.t("without a title") } else { &offer.title };
    html! {
        tr {
            td.wide {
                a href=(path(&["offers", &offer.id])) { (cut(title)) }
                br; span.quiet { (offer.id) }
            }
            td { (status(visit, offer)) @if !reason.is_empty() { br; span.quiet { (cut(reason)) } } }
            td { (price(visit, offer.price.as_option())) }
            td { code { (offer.category) } }
            td { (source(visit, offer)) }
            td { (ago_of_offers(visit, offer.create_time.as_option())) }
            td { (ago_of_offers(visit, offer.expire_time.as_option())) }
        }
    }
}
