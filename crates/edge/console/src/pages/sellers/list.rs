//! The table of a seller's offers and its filters.

use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::offers::v1::list_offers_request::Filter;
use wire::torg::offers::v1::{ListOffersRequest, ListOffersResponse, Offer};

use super::presets;
use crate::language::w;
use crate::pages::offers::{price, source, status};
use crate::view::{ago_of_offers, columns, cut, pager, path, query, table};
use crate::visit::Visit;

const SHOWN: u32 = 50;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    pub(super) preset: String,
    category: String,
    source: String,
    title: String,
    page: String,
}

impl Params {
    pub(super) fn request(&self, seller: &str) -> ListOffersRequest {
        let text = |text: &str| text.trim().to_owned();
        let filter = Filter {
            category: text(&self.category),
            source: text(&self.source),
            title_prefix: text(&self.title),
            ..Default::default()
        };
        ListOffersRequest {
            seller: seller.to_owned(),
            preset: presets::of_name(&self.preset).into(),
            filter: Some(filter).into(),
            page_size: SHOWN,
            page_token: self.page.clone(),
            ..Default::default()
        }
    }

    fn is_filtered(&self) -> bool {
        [&self.category, &self.source, &self.title].iter().any(|text| !text.trim().is_empty())
    }

    /// The query without the page.
    fn pairs(&self) -> [(&str, &str); 4] {
        [
            ("preset", &self.preset),
            ("category", &self.category),
            ("source", &self.source),
            ("title", &self.title),
        ]
    }
}

pub(super) fn filters(visit: &Visit, seller: &str, params: &Params, feeds: &[&str]) -> Markup {
    let other = !matches!(&*params.source, "" | "manual") && !feeds.contains(&&*params.source);
    html! {
        form.inline method="get" action=(path(&["sellers", seller])) {
            @if !params.preset.is_empty() { input type="hidden" name="preset" value=(params.preset); }
            label for="title" { (visit.t("Title prefix")) input #title name="title" value=(params.title) maxlength="100"; }
            label for="category" {
                (visit.t("Category, and all below it"))
                input #category name="category" value=(params.category) maxlength="200" placeholder="transport/cars";
            }
            label for="source" {
                (visit.t("Source"))
                select #source name="source" {
                    option value="" { (visit.t("all")) }
                    option value="manual" selected[params.source == "manual"] { (visit.t("added by hand")) }
                    @for feed in feeds { option value=(feed) selected[params.source == *feed] { (visit.t("feed")) " " (feed) } }
                    @if other { option value=(params.source) selected { (params.source) } }
                }
            }
            button { (visit.t("Show")) }
            @if params.is_filtered() {
                a.button href={ (path(&["sellers", seller])) (query(&[("preset", &params.preset)])) } { (visit.t("Without filters")) }
            }
        }
        form.inline method="get" action=(path(&["offers"])) {
            input type="hidden" name="seller" value=(seller);
            label for="external" { (visit.t("Id in a feed")) input #external name="q" required maxlength="256"; }
            button { (visit.t("Find")) }
        }
    }
}

pub(super) fn show(visit: &Visit, answer: &ListOffersResponse, seller: &str, params: &Params) -> Markup {
    let none = if !answer.next_page_token.is_empty() {
        w("No such offers on this page; there may be more on the next ones.")
    } else if params.is_filtered() {
        w("No offer in this list matches the filters.")
    } else {
        w("This list is empty.")
    };
    html! {
        (offers(visit, &answer.offers, visit.t(none)))
        (pager(visit, &path(&["sellers", seller]), &params.pairs(), &params.page, &answer.next_page_token))
    }
}

fn offers(visit: &Visit, offers: &[Offer], none: &str) -> Markup {
    let columns = columns![
        text "Title", text "Status", text "Price", text "Category", text "Source", text "Made",
        text "Expires",
    ];
    table(visit, visit.t("Offers"), &columns, none, offers.iter().map(|offer| row(visit, offer)))
}

fn row(visit: &Visit, offer: &Offer) -> Markup {
    let reason = offer.status_reason.as_option().map(|reason| &*reason.text).unwrap_or_default();
    let title = if offer.title.is_empty() { visit.t("without a title") } else { &offer.title };
    html! {
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
