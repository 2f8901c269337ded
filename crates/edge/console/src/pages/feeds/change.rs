//! What is done with a feed: fetched, paused, changed, deleted; a load that waits is confirmed.

use axum::response::Response;
use buffa_types::google::protobuf::FieldMask;
use maud::{Markup, html};
use wire::torg::feeds::v1::{
    ConfirmLoadRequest, DeleteFeedRequest, Feed, FetchNowRequest, GetFeedRequest, Load, UpdateFeedRequest,
};

use super::fields::{Fields, changed, fields, read};
use super::load::Of;
use super::state::missing_named;
use super::{Named, may_change};
use crate::address::Path;
use crate::form::Form;
use crate::services::methods::{CONFIRM_LOAD, DELETE_FEED, FETCH_NOW, GET_FEED, UPDATE_FEED};
use crate::services::{Failure, Kind};
use crate::view::{button, number, query, token};
use crate::visit::Visit;

/// The buttons and forms of a feed.
pub(super) fn actions(visit: &Visit, named: &Named, feed: &Feed) -> Markup {
    let nothing = html! {};
    html! {
        h2 { (visit.t("What to do with it")) }
        div.line {
            @if feed.link.is_set() {
                (button(visit, &named.under(&["fetch"]), visit.t("Fetch now"), "main", &nothing))
            }
            @if feed.paused {
                (button(visit, &named.under(&["resume"]), visit.t("Resume"), "", &nothing))
            } @else {
                (button(visit, &named.under(&["pause"]), visit.t("Pause"), "", &nothing))
            }
        }
        details #edit {
            summary { (visit.t("Change the feed")) }
            form.fields method="post" action=(named.under(&["edit"])) {
                (token(visit))
                (fields(visit, "edit", &Fields::of(feed)))
                (Fields::of(feed).before())
                div { button.main { (visit.t("Save")) } }
            }
        }
        details #delete {
            summary { (visit.t("Delete the feed")) }
            form.fields method="post" action=(named.under(&["delete"])) data-confirm=(visit.t("Delete this feed with its history?")) {
                (token(visit))
                label for="delete-offers" {
                    (visit.t("Its offers"))
                    select #delete-offers name="offers" required {
                        option value="" { (visit.t("choose")) }
                        option value="remove" { (visit.t("They are removed")) }
                        option value="manual" { (visit.t("They stay, as if they had been typed in")) }
                    }
                }
                div { button.danger { (visit.t("Delete the feed")) } }
            }
        }
    }
}

/// A load that waits for somebody to confirm it.
pub(super) fn waiting(visit: &Visit, named: &Named, load: &Load) -> Markup {
    let loads = load.number.to_string();
    let (gone, all) = (number(load.would_remove), number(load.would_remove_of));
    html! {
        div.notice.bad role="alert" {
            strong { (visit.f("Load {0} waits: it would remove {1} of {2} offers of this feed.", &[&load.number, &gone, &all])) }
            br; (visit.t("If the file is right, confirm it. If it is not, bring a better one: nothing is removed until then."))
            @if may_change(visit, &named.seller) {
                details #confirm {
                    summary { (visit.t("Confirm that they are removed")) }
                    form.inline method="post" action=(named.under(&["loads", &loads, "confirm"]))
                        data-confirm=(visit.f("Remove {0} of {1} offers?", &[&gone, &all])) {
                        (token(visit))
                        button.danger { (visit.f("Remove {0} offers", &[&gone])) }
                    }
                }
            }
        }
    }
}

pub(super) async fn fetch(visit: Visit, Path(named): Path<Named>, _form: Form) -> Response {
    let (seller, namespace) = (named.seller.clone(), named.namespace.clone());
    let request = FetchNowRequest { seller, namespace, ..FetchNowRequest::default() };
    let outcome = visit.act(FETCH_NOW, &request).await;
    let told = outcome.map(|_| visit.t("The link is fetched as soon as possible.").to_owned());
    visit.done(&named.page(), told)
}

pub(super) async fn pause(visit: Visit, Path(named): Path<Named>, _form: Form) -> Response {
    let told = visit.t("The feed is paused: nothing is fetched or worked on.");
    update(&visit, &named, Ok(Feed { paused: true, ..Feed::default() }), &["paused"], told).await
}

pub(super) async fn resume(visit: Visit, Path(named): Path<Named>, _form: Form) -> Response {
    update(&visit, &named, Ok(Feed::default()), &["paused"], visit.t("The feed goes on.")).await
}

pub(super) async fn edit(visit: Visit, Path(named): Path<Named>, form: Form) -> Response {
    let told = visit.t("The feed was changed.");
    let mask = changed(&form);
    if mask.is_empty() {
        return visit.done(&named.page(), Ok(visit.t("Nothing was changed.").to_owned()));
    }
    let (seller, namespace) = (named.seller.clone(), named.namespace.clone());
    let request = GetFeedRequest { seller, namespace, ..GetFeedRequest::default() };
    let feed = visit.call(GET_FEED, &request).await;
    let feed = feed.map(|answer| answer.feed.into_option().unwrap_or_default());
    update(&visit, &named, feed.and_then(|feed| read(&visit, &form, feed)), &mask, told).await
}

/// Changes what the mask names, and tells what came of it.
async fn update(
    visit: &Visit,
    named: &Named,
    wanted: Result<Feed, Failure>,
    mask: &[&str],
    told: &str,
) -> Response {
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(failure) => return visit.done(&named.page(), Err(failure)),
    };
    let wanted = Feed { seller: named.seller.clone(), namespace: named.namespace.clone(), ..wanted };
    let paths = mask.iter().map(|path| (*path).to_owned()).collect();
    let request = UpdateFeedRequest {
        feed: Some(wanted).into(),
        update_mask: Some(FieldMask { paths, ..FieldMask::default() }).into(),
        ..UpdateFeedRequest::default()
    };
    let outcome = visit.act(UPDATE_FEED, &request).await;
    visit.done(&named.page(), outcome.map(|_| told.to_owned()))
}

pub(super) async fn delete(visit: Visit, Path(named): Path<Named>, form: Form) -> Response {
    let Some(offers) = missing_named(form.text("offers")) else {
        let why = visit.t("Choose what becomes of its offers.");
        return visit.done(&named.page(), Err(Failure::new(Kind::Refused, why)));
    };
    let request = DeleteFeedRequest {
        seller: named.seller.clone(),
        namespace: named.namespace.clone(),
        offers: offers.into(),
        ..DeleteFeedRequest::default()
    };
    match visit.act(DELETE_FEED, &request).await {
        Ok(_) => {
            let back = format!("/console/feeds{}", query(&[("seller", &named.seller)]));
            let told = visit.t("The feed is being deleted: first its offers are dealt with, then it goes.");
            visit.done(&back, Ok(told.to_owned()))
        }
        Err(failure) => visit.done(&named.page(), Err(failure)),
    }
}

pub(super) async fn confirm(visit: Visit, Path(of): Path<Of>, _form: Form) -> Response {
    let feed = of.feed();
    let page = feed.under(&["loads", &of.number]);
    let number = match of.number(&visit) {
        Ok(number) => number,
        Err(failure) => return visit.done(&feed.page(), Err(failure)),
    };
    let Named { seller, namespace } = feed;
    let request = ConfirmLoadRequest { seller, namespace, number, ..ConfirmLoadRequest::default() };
    let outcome = visit.act(CONFIRM_LOAD, &request).await;
    visit.done(&page, outcome.map(|_| visit.t("The load goes on.").to_owned()))
}
