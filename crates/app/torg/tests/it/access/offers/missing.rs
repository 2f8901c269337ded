//! Objects of another seller get byte for byte the same response as objects that do not exist.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde_json::{Value, json};

use super::PROTOCOLS;
use super::market::{Market, Target};
use super::table::{CALLERS, METHODS, Outcome, VISITOR};
use crate::common::wire::{Protocol, Reply};

/// A response without its ids and without its time.
fn shape(reply: &Reply, target: &Target) -> String {
    let details = reply.header("grpc-status-details-bin").map(|details| {
        let details = STANDARD_NO_PAD.decode(details.trim_end_matches('=')).unwrap();
        String::from_utf8_lossy(&details).into_owned()
    });
    let mut headers: Vec<String> = [&reply.headers, &reply.trailers]
        .into_iter()
        .flatten()
        .filter(|(name, _)| !matches!(name.as_str(), "date" | "grpc-status-details-bin"))
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    headers.sort();
    let whole = format!("{} {headers:?} {details:?} {}", reply.status, opened(&reply.body));
    whole
        .replace(&target.offer, "OFFER")
        .replace(&target.draft, "DRAFT")
        .replace("OFFER", "ID")
        .replace("DRAFT", "ID")
}

/// A body with its binary details decoded.
fn opened(body: &[u8]) -> String {
    let Ok(mut value) = serde_json::from_slice::<Value>(body) else {
        return String::from_utf8_lossy(body).into_owned();
    };
    for detail in value["details"].as_array_mut().into_iter().flatten() {
        let bytes = detail["value"].as_str().unwrap_or_default().trim_end_matches('=').to_owned();
        let bytes = STANDARD_NO_PAD.decode(&bytes).or_else(|_| STANDARD.decode(&bytes)).unwrap();
        detail["value"] = String::from_utf8_lossy(&bytes).into();
    }
    value.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_anothers_is_answered_byte_for_byte_as_what_does_not_exist() {
    let mut market = Market::open().await;
    let (anns, nobodys) = (market.target().await, Target::nobodys());
    let mut compared = 0;
    for method in METHODS {
        for (caller, outcome) in CALLERS.iter().zip(method.outcomes) {
            if !matches!(outcome, Outcome::Missing | Outcome::Nothing) {
                continue;
            }
            for protocol in PROTOCOLS {
                let mut shapes = Vec::new();
                for target in [&anns, &nobodys] {
                    let request = (method.request)(target);
                    let reply = market.call(&method.path(), caller, protocol, &request).await;
                    shapes.push(shape(&reply, target));
                }
                assert_eq!(shapes[0], shapes[1], "{} by {} over {protocol:?}", method.path(), caller.name);
                compared += 1;
            }
        }
    }
    assert!(compared >= 200, "{compared}");
}

type Request = fn(&Target) -> Value;

/// Requests that are invalid in another way, too, or that are repeated.
#[tokio::test(flavor = "multi_thread")]
async fn no_mistake_in_a_request_tells_a_stranger_that_an_offer_exists() {
    let mut market = Market::open().await;
    let (anns, nobodys) = (market.target().await, Target::nobodys());
    let bob = market.token("bob", &["seller"], Some("bob"));
    let offers = "/torg.offers.v1.OfferService";
    let requests: [(&str, Request); 12] = [
        ("UpdateOffer", |it| json!({"offer": {"id": it.offer, "title": ""}, "updateMask": "title"})),
        ("UpdateOffer", |it| json!({"offer": {"id": it.offer, "version": "99"}, "updateMask": "title"})),
        ("UpdateOffer", |it| json!({"offer": {"id": it.offer}, "updateMask": "status"})),
        ("UpdateOffer", |it| json!({"offer": {"id": it.offer}, "idempotencyKey": "a key"})),
        ("UpdateOffer", |it| json!({"offer": {"id": it.offer}, "idempotencyKey": "key"})),
        ("MoveOffer", |it| json!({"id": it.offer, "to": "STATUS_ACTIVE"})),
        ("MoveOffer", |it| json!({"id": it.offer, "to": "STATUS_ARCHIVED"})),
        ("MoveOffer", |it| json!({"id": it.offer, "to": "STATUS_SOLD", "version": "99"})),
        (
            "MoveOffer",
            |it| json!({"id": it.offer, "to": "STATUS_SOLD", "paid": {"micros": "-1", "currency": "EUR"}}),
        ),
        ("GetHistory", |it| json!({"id": it.offer, "pageToken": "AQ"})),
        ("SetBilling", |it| json!({"id": it.offer, "billing": {"version": "7"}})),
        ("GetOffer", |it| json!({"id": it.offer, "readMask": "nothing"})),
    ];
    for (method, request) in requests {
        for protocol in PROTOCOLS {
            for _ in 0..2 {
                let mut shapes = Vec::new();
                for target in [&anns, &nobodys] {
                    let path = format!("{offers}/{method}");
                    let reply = market.call_with(&path, Some(&bob), None, protocol, &request(target)).await;
                    assert_ne!(reply.code(), "ok", "{}", reply.text());
                    shapes.push(shape(&reply, target));
                }
                assert_eq!(shapes[0], shapes[1], "{method} over {protocol:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_reached_by_its_owner_alone_whatever_id_others_name() {
    let mut market = Market::open().await;
    let (anns, nobodys) = (market.target().await, Target::nobodys());
    let before = market.state(&anns).await;
    let bob = market.token("bob", &["seller"], Some("bob"));
    let callers = [(Some(&*bob), None), (Some(&*bob), Some(VISITOR)), (None, Some(VISITOR))];
    for (token, anonymous) in callers {
        for (method, field) in [("UpdateDraft", true), ("PublishDraft", false), ("DeleteDraft", false)] {
            let mut shapes = Vec::new();
            for target in [&anns, &nobodys] {
                let request = if field {
                    json!({"draft": {"id": target.draft, "offer": {"title": "mine"}}, "updateMask": "title"})
                } else {
                    json!({"id": target.draft})
                };
                let path = format!("/torg.offers.v1.DraftService/{method}");
                let reply = market.call_with(&path, token, anonymous, Protocol::Json, &request).await;
                assert!(method == "DeleteDraft" || reply.code() != "ok", "{method}: {}", reply.text());
                shapes.push(shape(&reply, target));
            }
            assert_eq!(shapes[0], shapes[1], "{method}");
        }
    }
    // An offer of ann is a draft of no seller.
    let publish = json!({"id": anns.offer});
    let path = "/torg.offers.v1.DraftService/PublishDraft";
    let reply = market.call_with(path, Some(&bob), None, Protocol::Json, &publish).await;
    assert_eq!(reply.code(), "not_found", "{}", reply.text());
    assert_eq!(market.state(&anns).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_one_caller_say_nothing_to_another() {
    let mut market = Market::open().await;
    let anns = market.target().await;
    let (ann, bob) =
        (market.token("ann", &["seller"], Some("ann")), market.token("bob", &["seller"], Some("bob")));
    let create = |seller: &str| json!({"offer": super::market::car(seller), "idempotencyKey": "one"});
    let path = "/torg.offers.v1.OfferService/CreateOffer";
    let mut made = Vec::new();
    for token in [&ann, &bob, &ann] {
        let reply = market.call_with(path, Some(token), None, Protocol::Json, &create("")).await;
        assert_eq!(reply.code(), "ok", "{}", reply.text());
        let answer: Value = serde_json::from_slice(&reply.body).unwrap();
        made.push(answer["offer"]["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(made[0], made[2]);
    assert_ne!(made[0], made[1]);
    assert_ne!(made[0], anns.offer);
    // Two visitors who name themselves in the request.
    for (visitor, title) in
        [("visitor-a-0123456789abcdef", "first"), ("visitor-b-0123456789abcdef", "second")]
    {
        let owner = json!({"anonymous": visitor});
        let path = "/torg.offers.v1.DraftService/OpenDraft";
        let reply = market.call_with(path, None, None, Protocol::Json, &json!({"owner": owner})).await;
        let opened: Value = serde_json::from_slice(&reply.body).unwrap();
        let draft = json!({"id": opened["draft"]["id"], "offer": {"title": title}});
        let update = json!({"owner": owner, "draft": draft, "updateMask": "title", "idempotencyKey": "one"});
        let path = "/torg.offers.v1.DraftService/UpdateDraft";
        let reply = market.call_with(path, None, None, Protocol::Json, &update).await;
        assert_eq!(reply.code(), "ok", "{}", reply.text());
    }
}
