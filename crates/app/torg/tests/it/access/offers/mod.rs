//! Every method of the services for offers, feeds and the catalogue, called by every kind of
//! caller, over JSON and gRPC.

mod feeds;
mod forged;
mod market;
mod missing;
mod names;
mod table;

use serde_json::json;

use crate::access::roles;
use crate::common::described::Described;
use crate::common::wire::Protocol;
use market::{Market, Target};
use table::{CALLERS, METHODS, Outcome, UNNAMED, VISITOR};

/// Defined by gRPC itself: health probes have no token.
const OF_GRPC: [&str; 2] = ["/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"];
const PROTOCOLS: [Protocol; 2] = [Protocol::Json, Protocol::Grpc];

#[test]
fn every_method_of_every_service_has_a_line_in_one_of_the_tables() {
    let mut described: Vec<String> =
        Described::new().methods().into_iter().map(|method| method.path).collect();
    let others = roles::METHODS.iter().map(|(path, ..)| *path).chain(OF_GRPC);
    let lines = METHODS.iter().chain(feeds::METHODS);
    let mut listed: Vec<String> = lines.map(table::Line::path).chain(others.map(str::to_owned)).collect();
    described.sort();
    listed.sort();
    assert_eq!(listed, described);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_is_refused_and_changes_nothing() {
    let mut market = Market::open().await;
    let anns = market.target().await;
    let before = market.state(&anns).await;
    for method in METHODS {
        for (caller, expected) in CALLERS.iter().zip(method.outcomes) {
            if matches!(expected, Outcome::Allowed) {
                continue;
            }
            for protocol in PROTOCOLS {
                let reply = market.call(&method.path(), caller, protocol, &(method.request)(&anns)).await;
                let what = format!("{} by {} over {protocol:?}", method.path(), caller.name);
                assert_eq!(Outcome::of(&reply), expected, "{what}: {}", reply.text());
            }
        }
    }
    assert_eq!(market.state(&anns).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_is_served() {
    let mut market = Market::open().await;
    for method in METHODS {
        let allowed = CALLERS.iter().zip(method.outcomes).filter(|(_, outcome)| *outcome == Outcome::Allowed);
        for (caller, _) in allowed {
            for protocol in PROTOCOLS {
                let anns = market.target().await;
                let reply = market.call(&method.path(), caller, protocol, &(method.request)(&anns)).await;
                let what = format!("{} by {} over {protocol:?}", method.path(), caller.name);
                assert_eq!(Outcome::of(&reply), Outcome::Allowed, "{what}: {}", reply.text());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_names_nobody_means_themselves_or_is_asked_whom() {
    let mut market = Market::open().await;
    for method in UNNAMED {
        for (caller, expected) in CALLERS.iter().zip(method.outcomes) {
            for protocol in PROTOCOLS {
                let reply = market
                    .call(&method.path(), caller, protocol, &(method.request)(&Target::nobodys()))
                    .await;
                let what = format!("{} by {} over {protocol:?}", method.path(), caller.name);
                assert_eq!(Outcome::of(&reply), expected, "{what}: {}", reply.text());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_moderates_their_own_offers() {
    let mut market = Market::open().await;
    let anns = market.target().await;
    let both = market.token("ann, who moderates", &["seller", "moderator"], Some("ann"));
    let admin = market.token("ann, who rules", &["seller", "admin"], Some("ann"));
    for token in [both, admin] {
        let opinion = json!({"opinion": {"offer": anns.offer, "verdict": "VERDICT_ALLOW"}});
        let path = "/torg.offers.v1.ModerationService/GiveOpinion";
        let reply = market.call_with(path, Some(&token), None, Protocol::Json, &opinion).await;
        assert_eq!(reply.code(), "permission_denied", "{}", reply.text());
        let ban = json!({"id": anns.offer, "to": "STATUS_BANNED"});
        let path = "/torg.offers.v1.OfferService/MoveOffer";
        let reply = market.call_with(path, Some(&token), None, Protocol::Json, &ban).await;
        assert_eq!(reply.code(), "permission_denied", "{}", reply.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_known_but_no_seller_still_has_the_draft_of_the_visitor_they_are() {
    let mut market = Market::open().await;
    let token = market.token("ann without a role", &[], Some("ann"));
    let path = "/torg.offers.v1.DraftService/OpenDraft";
    let reply = market.call_with(path, Some(&token), Some(VISITOR), Protocol::Json, &json!({})).await;
    assert_eq!(reply.code(), "ok", "{}", reply.text());
    let again = market.call_with(path, None, Some(VISITOR), Protocol::Json, &json!({})).await;
    assert_eq!(again.body, reply.body);
}
