//! Forged claims of sellers: fields that only Torg sets, and page tokens of other lists.

use serde_json::{Value, json};

use super::market::{Market, car};
use crate::common::wire::Protocol;

const OFFERS: &str = "/torg.offers.v1.OfferService";
const DRAFTS: &str = "/torg.offers.v1.DraftService";
const LIST: &str = "/torg.offers.v1.CabinetService/ListOffers";

/// Every field of an offer that no seller may set, with a value that an attacker would like.
fn wishes() -> Vec<(&'static str, Value)> {
    let time = json!("2001-01-01T00:00:00Z");
    vec![
        ("seller", json!("bob")),
        ("source", json!({"feed": {"namespace": "n", "externalId": "e"}})),
        ("status", json!("STATUS_ARCHIVED")),
        ("statusReason", json!({"code": "fraud", "author": {"kind": "KIND_ADMIN", "name": "root"}})),
        ("statusTime", time.clone()),
        ("createTime", time.clone()),
        ("updateTime", time.clone()),
        ("expireTime", json!("2099-01-01T00:00:00Z")),
    ]
}

fn with_wishes(mut offer: Value) -> Value {
    for (field, value) in wishes().into_iter().filter(|(field, _)| *field != "seller") {
        offer[field] = value;
    }
    offer["photos"] = json!([{"sourceUrl": "https://example.com/1.jpg", "width": 9, "sizes": {"s": "https://evil.example"}}]);
    offer
}

fn assert_untouched(offer: &Value) {
    assert_eq!(
        (offer["status"].as_str(), offer["seller"].as_str()),
        (Some("STATUS_ACTIVE"), Some("ann")),
        "{offer}"
    );
    assert!(offer["source"]["feed"].is_null(), "{offer}");
    assert!(offer["statusReason"].is_null() && offer["photos"][0]["sizes"].is_null(), "{offer}");
    let text = offer.to_string();
    assert!(
        !text.contains("2001-01-01") && !text.contains("2099-01-01") && !text.contains("root"),
        "{offer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_field_that_torg_sets_can_be_set_by_a_seller() {
    let mut market = Market::open().await;
    let ann = market.token("ann", &["seller"], Some("ann"));
    let made = market
        .ask(&ann, "offers.v1.OfferService/CreateOffer", json!({"offer": with_wishes(car("ann"))}))
        .await;
    assert_untouched(&made["offer"]);
    let id = &made["offer"]["id"];

    let mut all = with_wishes(car("bob"));
    all["id"] = id.clone();
    let changed = market.ask(&ann, "offers.v1.OfferService/UpdateOffer", json!({ "offer": all })).await;
    assert_untouched(&changed["offer"]);
    assert_untouched(
        &market.ask(&ann, "offers.v1.OfferService/GetOffer", json!({ "id": id })).await["offer"],
    );

    for (field, value) in wishes() {
        for path in
            [field.to_owned(), format!("title,{field}"), format!("{field}.code"), format!("{field}.author")]
        {
            let request = json!({"offer": {"id": id, "title": "BMW", field: value}, "updateMask": path});
            for protocol in [Protocol::Json, Protocol::Grpc] {
                let method = format!("{OFFERS}/UpdateOffer");
                let reply = market.call_with(&method, Some(&ann), None, protocol, &request).await;
                assert_eq!(reply.code(), "invalid_argument", "{path}: {}", reply.text());
            }
        }
    }

    let opened = market.ask(&ann, "offers.v1.DraftService/OpenDraft", json!({})).await;
    let draft = json!({"id": opened["draft"]["id"], "offer": with_wishes(car("bob"))});
    market.ask(&ann, "offers.v1.DraftService/UpdateDraft", json!({ "draft": draft })).await;
    for (field, _) in wishes() {
        let request = json!({"draft": draft, "updateMask": field});
        let method = format!("{DRAFTS}/UpdateDraft");
        let reply = market.call_with(&method, Some(&ann), None, Protocol::Json, &request).await;
        assert_eq!(reply.code(), "invalid_argument", "{field}: {}", reply.text());
    }
    let published =
        market.ask(&ann, "offers.v1.DraftService/PublishDraft", json!({"id": opened["draft"]["id"]})).await;
    assert_untouched(&published["offer"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_anothers_list_or_stream_leads_nowhere() {
    let mut market = Market::open().await;
    let (one, _) = (market.target().await, market.target().await);
    let (ann, bob) =
        (market.token("ann", &["seller"], Some("ann")), market.token("bob", &["seller"], Some("bob")));
    let list = market.ask(&ann, "offers.v1.CabinetService/ListOffers", json!({"pageSize": 1})).await;
    let page = json!({"pageSize": 1, "pageToken": list["nextPageToken"]});
    assert!(page["pageToken"].as_str().is_some_and(|token| !token.is_empty()), "{list}");
    let watch = format!("{OFFERS}/WatchOffers");
    let first = market.call_with(&watch, Some(&ann), None, Protocol::Json, &json!({})).await;
    let first: Value = serde_json::from_slice(first.message()).unwrap();
    let resume = json!({"resumeToken": first["resumeToken"]});
    for (path, request) in [(LIST, &page), (&*watch, &resume)] {
        let served = market.call_with(path, Some(&ann), None, Protocol::Json, request).await;
        assert_eq!(served.code(), "ok", "{}", served.text());
        let refused = market.call_with(path, Some(&bob), None, Protocol::Json, request).await;
        assert_eq!(refused.code(), "invalid_argument", "{}", refused.text());
        assert!(!refused.text().contains(&one.offer), "{}", refused.text());
    }
}

/// One unreadable message would end every watch, now and after every restart.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_but_torg_says_what_happened_to_offers() {
    let mut market = Market::open().await;
    let _ = market.target().await;
    let service = market.token("a service", &["service", "admin"], None);
    let forged = json!({"topic": "offers", "messages": [{"key": "/w==", "headers": [{"name": "kind", "value": "b2ZmZXI="}]}]});
    let path = "/torg.topics.v1.TopicService/AppendMessages";
    let reply = market.call_with(path, Some(&service), None, Protocol::Json, &forged).await;
    assert_eq!(reply.code(), "permission_denied", "{}", reply.text());
}
