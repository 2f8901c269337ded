//! Status changes of an offer.

use axum::response::Response;
use maud::{Markup, html};
use wire::torg::offers::v1::__buffa::oneof::price::Kind as PriceKind;
use wire::torg::offers::v1::{Money, MoveOfferRequest, MoveOfferResponse, Offer, Status};

use super::choices::{By, by, choices, from_key, key, name};
use super::money::{micros_of, plain};
use super::names::status_name;
use crate::address::Path;
use crate::form::Form;
use crate::services::{Failure, Kind};
use crate::view::{path, reason, token};
use crate::visit::Visit;

pub(super) fn show(visit: &Visit, offer: &Offer) -> Markup {
    let from = offer.status.as_known().unwrap_or_default();
    let Some(by) = by(visit, offer) else { return html! {} };
    let moves: Vec<Status> = choices(from, by).collect();
    html! {
        @if !moves.is_empty() {
            h2 { (visit.t("What you can do")) }
            div.acts { @for to in &moves { (one(visit, offer, by, from, *to)) } }
        }
    }
}

fn one(visit: &Visit, offer: &Offer, by: By, from: Status, to: Status) -> Markup {
    let (text, key) = (visit.t(name(from, to)), key(to));
    let class = if matches!(to, Status::STATUS_BANNED | Status::STATUS_REMOVED | Status::STATUS_ARCHIVED) {
        "danger"
    } else {
        "main"
    };
    html! {
        details id={ "move-" (key) } {
            summary { (text) }
            form.fields method="post" action=(path(&["offers", &offer.id, "move"])) {
                (token(visit))
                input type="hidden" name="to" value=(key);
                // Sellers need no reason.
                @if by != By::Seller {
                    (reason(visit, &format!("reason-{key}")))
                    label for={ "code-" (key) } {
                        (visit.t("Code of the reason, for programs"))
                        input id={ "code-" (key) } name="code" maxlength="64" pattern="[a-z0-9_.\\-]*" placeholder="fraud";
                    }
                }
                @if to == Status::STATUS_SOLD { (paid(visit, offer)) }
                div { button class=(class) { (text) } }
            }
        }
    }
}

/// The amount paid, with the price as its default.
fn paid(visit: &Visit, offer: &Offer) -> Markup {
    let fixed = match offer.price.as_option().and_then(|price| price.kind.as_ref()) {
        Some(PriceKind::Fixed(money)) => Some(&**money),
        _ => None,
    };
    html! {
        div.line {
            label for="paid" { (visit.t("Paid")) input #paid name="paid" inputmode="decimal" value=(fixed.map(plain).unwrap_or_default()); }
            label for="currency" {
                (visit.t("Currency"))
                input #currency name="currency" maxlength="3" size="4" pattern="[A-Za-z]{3}"
                    value=(fixed.map(|money| &*money.currency).unwrap_or_default());
            }
        }
    }
}

pub(super) async fn act(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    let say = |answer: MoveOfferResponse| {
        let now = answer.offer.as_option().and_then(|offer| offer.status.as_known()).unwrap_or_default();
        visit.f("The offer is now: {0}", &[&visit.t(status_name(now))])
    };
    visit.submit(&path(&["offers", &id]), request(&visit, &id, &form), say).await
}

fn request(visit: &Visit, id: &str, form: &Form) -> Result<MoveOfferRequest, Failure> {
    let refuse = |text: &'static str| Failure::new(Kind::Refused, visit.t(text));
    let to = from_key(form.text("to")).ok_or_else(|| refuse("The form names no action."))?;
    let amount = form.text("paid");
    let paid = match (to, amount) {
        (Status::STATUS_SOLD, "") => None,
        (Status::STATUS_SOLD, amount) => {
            let micros = micros_of(amount).ok_or_else(|| refuse("The paid amount is not valid."))?;
            let currency = form.text("currency").to_uppercase();
            Some(Money { micros, currency, ..Default::default() })
        }
        _ => None,
    };
    Ok(MoveOfferRequest {
        id: id.to_owned(),
        to: to.into(),
        reason_code: form.text("code").to_owned(),
        reason_text: form.text("reason").to_owned(),
        paid: paid.into(),
        ..Default::default()
    })
}
