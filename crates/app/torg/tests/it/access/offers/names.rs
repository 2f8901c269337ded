//! Names in the history of an offer: its seller sees no names of the staff.

use serde_json::json;

use super::market::Market;
use crate::common::wire::Protocol;

const MODERATOR: &str = "mia-who-moderates";
const SERVICE: &str = "importer-of-feeds";

#[tokio::test(flavor = "multi_thread")]
async fn a_seller_sees_the_roles_of_the_staff_and_support_their_names() {
    let mut market = Market::open().await;
    let ann = market.token("ann", &["seller"], Some("ann"));
    let support = market.token("sue", &["support"], None);
    let moderator = market.token(MODERATOR, &["moderator"], None);
    let service = market.token(SERVICE, &["service"], None);
    let id = market.target().await.offer;

    let renamed = json!({"offer": {"id": id, "title": "BMW 325i"}, "updateMask": "title"});
    market.ask(&service, "offers.v1.OfferService/UpdateOffer", renamed).await;
    let opinion = json!({"opinion": {"offer": id, "verdict": "VERDICT_BAN", "reasons": [{"code": "fraud"}]}});
    market.ask(&moderator, "offers.v1.ModerationService/GiveOpinion", opinion).await;
    // Opinions are applied asynchronously, from their topic.
    loop {
        let offer = market.ask(&support, "offers.v1.OfferService/GetOffer", json!({ "id": id })).await;
        if offer["offer"]["status"] == "STATUS_BANNED" {
            break;
        }
    }
    let calls = [
        ("OfferService/GetHistory", json!({ "id": id }), &[MODERATOR, SERVICE][..]),
        ("OfferService/GetOffer", json!({ "id": id }), &[MODERATOR]),
        ("OfferService/BatchGetOffers", json!({"ids": [id]}), &[MODERATOR]),
        ("CabinetService/ListOffers", json!({"seller": "ann"}), &[MODERATOR]),
        ("ModerationService/GetModeration", json!({ "id": id }), &[MODERATOR]),
        ("OfferService/WatchOffers", json!({"seller": "ann"}), &[MODERATOR]),
    ];
    for (method, request, names) in calls {
        let path = format!("/torg.offers.v1.{method}");
        for protocol in [Protocol::Json, Protocol::Grpc] {
            let seen = market.call_with(&path, Some(&support), None, protocol, &request).await.text();
            assert!(names.iter().all(|name| seen.contains(name)), "{method} for support: {seen}");
            let seen = market.call_with(&path, Some(&ann), None, protocol, &request).await.text();
            assert!(names.iter().all(|name| !seen.contains(name)), "{method} for ann: {seen}");
        }
    }
    let history = market.ask(&ann, "offers.v1.OfferService/GetHistory", json!({ "id": id })).await;
    let authors: Vec<(&str, &str)> = history["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["author"])
        .map(|author| (author["kind"].as_str().unwrap(), author["name"].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(authors, [("KIND_MODERATION", ""), ("KIND_SERVICE", ""), ("KIND_SELLER", "ann")], "{history}");
}
