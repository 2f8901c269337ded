//! Actions on a feed: fetch, pause, edit, delete, confirm a load.

use axum::response::Response;
use buffa_types::google::protobuf::FieldMask;
use maud::{Markup, html};
use wire::torg::feeds::v1::{
    ConfirmLoadRequest, DeleteFeedRequest, Feed, FetchNowRequest, GetFeedRequest, Load, UpdateFeedRequest,
};

use super::fields::{Fields, changed, fields, read};
use super::load::LoadRef;
use super::state::missing_named;
use super::{FeedRef, may_change};
use crate::address::Path;
use crate::form::Form;
use crate::services::{Failure, Kind};
use crate::view::{button, number, query, token};
use crate::visit::Visit;

pub(super) fn actions(visit: &Visit, named: &FeedRef, feed: &Feed) -> Markup {
    let nothing = html! {};
    html! {
        h2 { (visit.t("What you can do")) }
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
                        option value="manual" { (visit.t("They stay as offers added by hand")) }
                    }
                }
                div { button.danger { (visit.t("Delete the feed")) } }
            }
        }
    }
}

pub(super) fn waiting(visit: &Visit, named: &FeedRef, load: &Load) -> Markup {
    let loads = load.number.to_string();
    let (gone, all) = (number(load.would_remove), number(load.would_remove_of));
    html! {
        div.notice.bad role="alert" {
            strong { (visit.f("Load {0} waits: it would remove {1} of {2} offers of this feed.", &[&load.number, &gone, &all])) }
            br; (visit.t("If the file is right, confirm it. If not, upload a better one: nothing is removed until then."))
            @if may_change(visit, &named.seller) {
                details #confirm {
                    summary { (visit.t("Confirm the removal")) }
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

pub(super) async fn fetch(visit: Visit, Path(named): Path<FeedRef>, _form: Form) -> Response {
    let (seller, namespace) = (named.seller.clone(), named.namespace.clone());
    let request = FetchNowRequest { seller, namespace, ..Default::default() };
    let say = |_| visit.t("The link is fetched as soon as possible.").to_owned();
    visit.submit(&named.page(), Ok(request), say).await
}

pub(super) async fn pause(visit: Visit, Path(named): Path<FeedRef>, _form: Form) -> Response {
    let message = visit.t("The feed is paused: nothing is fetched or processed.");
    update(&visit, &named, Ok(Feed { paused: true, ..Default::default() }), &["paused"], message).await
}

pub(super) async fn resume(visit: Visit, Path(named): Path<FeedRef>, _form: Form) -> Response {
    update(&visit, &named, Ok(Feed::default()), &["paused"], visit.t("The feed is resumed.")).await
}

pub(super) async fn edit(visit: Visit, Path(named): Path<FeedRef>, form: Form) -> Response {
    let message = visit.t("The feed was changed.");
    let mask = changed(&form);
    if mask.is_empty() {
        return visit.done(&named.page(), Ok(visit.t("Nothing was changed.").to_owned()));
    }
    let (seller, namespace) = (named.seller.clone(), named.namespace.clone());
    let request = GetFeedRequest { seller, namespace, ..Default::default() };
    let feed = visit.call(&request).await;
    let feed = feed.map(|answer| answer.feed.into_option().unwrap_or_default());
    update(&visit, &named, feed.and_then(|feed| read(&visit, &form, feed)), &mask, message).await
}

/// Changes the fields that the mask names.
async fn update(
    visit: &Visit,
    named: &FeedRef,
    wanted: Result<Feed, Failure>,
    mask: &[&str],
    message: &str,
) -> Response {
    let request = wanted.map(|wanted| {
        let wanted = Feed { seller: named.seller.clone(), namespace: named.namespace.clone(), ..wanted };
        let paths = mask.iter().map(|path| (*path).to_owned()).collect();
        UpdateFeedRequest {
            feed: Some(wanted).into(),
            update_mask: Some(FieldMask { paths, ..Default::default() }).into(),
            ..Default::default()
        }
    });
    visit.submit(&named.page(), request, |_| message.to_owned()).await
}

pub(super) async fn delete(visit: Visit, Path(named): Path<FeedRef>, form: Form) -> Response {
    let Some(offers) = missing_named(form.text("offers")) else {
        let why = visit.t("Choose what happens to its offers.");
        return visit.done(&named.page(), Err(Failure::new(Kind::Refused, why)));
    };
    let request = DeleteFeedRequest {
        seller: named.seller.clone(),
        namespace: named.namespace.clone(),
        offers: offers.into(),
        ..Default::default()
    };
    match visit.act(&request).await {
        Ok(_) => {
            let back = format!("/console/feeds{}", query(&[("seller", &named.seller)]));
            let message = visit.t("The feed is being deleted: its offers first, then the feed.");
            visit.done(&back, Ok(message.to_owned()))
        }
        Err(failure) => visit.done(&named.page(), Err(failure)),
    }
}

pub(super) async fn confirm(visit: Visit, Path(of): Path<LoadRef>, _form: Form) -> Response {
    let feed = of.feed();
    let page = feed.under(&["loads", &of.number]);
    let number = match of.number(&visit) {
        Ok(number) => number,
        Err(failure) => return visit.done(&feed.page(), Err(failure)),
    };
    let FeedRef { seller, namespace } = feed;
    let request = ConfirmLoadRequest { seller, namespace, number, ..Default::default() };
    visit.submit(&page, Ok(request), |_| visit.t("The load continues.").to_owned()).await
}
