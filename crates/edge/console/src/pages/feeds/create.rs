//! Creating a feed.

use axum::response::Response;
use maud::{Markup, html};
use wire::torg::feeds::v1::{CreateFeedRequest, Feed};

use super::FeedRef;
use super::fields::{Fields, fields, read};
use crate::form::Form;
use crate::view::{query, token};
use crate::visit::Visit;

pub(super) fn form(visit: &Visit, seller: &str) -> Markup {
    html! {
        details #create {
            summary { (visit.t("Create a feed")) }
            form.fields method="post" action="/console/feeds/create" {
                (token(visit))
                @if visit.own_seller() == Some(seller) {
                    input type="hidden" name="seller" value=(seller);
                } @else {
                    label for="new-seller" { (visit.t("Seller")) input #new-seller name="seller" value=(seller) required maxlength="128"; }
                }
                label for="new-namespace" {
                    (visit.t("Name: letters, digits, - and _"))
                    input #new-namespace name="namespace" value="default" required maxlength="64" pattern="[A-Za-z0-9_-]+";
                }
                (fields(visit, "new", &Fields::of(&Feed::default())))
                div { button.main { (visit.t("Create a feed")) } }
            }
        }
    }
}

pub(super) async fn take(visit: Visit, form: Form) -> Response {
    let feed =
        FeedRef { seller: form.text("seller").to_owned(), namespace: form.text("namespace").to_owned() };
    let back = format!("/console/feeds{}", query(&[("seller", &feed.seller)]));
    let new = Feed { seller: feed.seller.clone(), namespace: feed.namespace.clone(), ..Default::default() };
    let wanted = match read(&visit, &form, new) {
        Ok(wanted) => wanted,
        Err(failure) => return visit.done(&back, Err(failure)),
    };
    let request = CreateFeedRequest { feed: Some(wanted).into(), ..Default::default() };
    match visit.act(&request).await {
        Ok(answer) => {
            let made = answer.feed.into_option().unwrap_or_default();
            let made = FeedRef { seller: made.seller, namespace: made.namespace };
            visit.done(&made.page(), Ok(visit.t("The feed was created.").to_owned()))
        }
        Err(failure) => visit.done(&back, Err(failure)),
    }
}
