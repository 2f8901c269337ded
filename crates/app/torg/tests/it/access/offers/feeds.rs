//! Every method of feeds, and the endpoints for their files, called by every kind of caller.

use serde_json::{Value, json};

use super::PROTOCOLS;
use super::market::{Market, Target};
use super::table::Outcome::{Allowed as A, Forbidden as F, Missing as M, Other as O, SignIn as S, Whom as W};
use super::table::{CALLERS, Line, Outcome, line};
use crate::common::wire::Protocol;

const FEEDS: &str = "feeds.v1.FeedService";

/// A paused feed of this seller, with a file that waits to be read.
const SHOP: &str = "shop";

fn of_feed(target: &Target) -> Value {
    json!({"seller": target.seller, "namespace": SHOP})
}

fn of_load(target: &Target) -> Value {
    json!({"seller": target.seller, "namespace": SHOP, "number": "1"})
}

/// Every method, on objects of ann. A load that does not wait cannot be confirmed by any caller; a
/// caller who may confirm gets that reason.
#[rustfmt::skip]
pub(super) const METHODS: &[Line] = &[
    //                                nobody visitor ann bob support moderator service admin no role no name
    line(FEEDS, "CreateFeed",         [M,    M,      A,  M,  F,      F,        A,      A,    M,      M], |it| json!({"feed": {"seller": it.seller, "namespace": it.offer}})),
    line(FEEDS, "GetFeed",            [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], of_feed),
    line(FEEDS, "ListFeeds",          [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], |it| json!({"seller": it.seller})),
    line(FEEDS, "UpdateFeed",         [M,    M,      A,  M,  F,      F,        A,      A,    M,      M], |it| json!({"feed": {"seller": it.seller, "namespace": SHOP, "title": "x"}, "updateMask": "title"})),
    line(FEEDS, "DeleteFeed",         [M,    M,      A,  M,  F,      F,        A,      A,    M,      M], |it| json!({"seller": it.seller, "namespace": it.draft})),
    line(FEEDS, "FetchNow",           [M,    M,      A,  M,  F,      F,        A,      A,    M,      M], of_feed),
    line(FEEDS, "ListLoads",          [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], of_feed),
    line(FEEDS, "GetLoad",            [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], of_load),
    line(FEEDS, "ConfirmLoad",        [M,    M,      O,  M,  F,      F,        O,      O,    M,      M], of_load),
    line(FEEDS, "ListProblems",       [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], of_load),
    line(FEEDS, "SummarizeProblems",  [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], of_load),
    line(FEEDS, "ListMappings",       [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], |it| json!({"seller": it.seller})),
    line(FEEDS, "SetMapping",         [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], |it| json!({"seller": it.seller, "path": ["Sofas"], "category": "transport/cars"})),
];

/// The outcomes if the seller is left out of the request.
#[rustfmt::skip]
const UNNAMED: &[Line] = &[
    //                                nobody visitor ann bob support moderator service admin no role no name
    line(FEEDS, "CreateFeed",         [S,    S,      A,  A,  W,      W,        W,      W,    W,      W], |_| json!({"feed": {}})),
    line(FEEDS, "ListFeeds",          [S,    S,      A,  A,  A,      A,        A,      A,    W,      W], |_| json!({})),
    line(FEEDS, "GetFeed",            [S,    S,      A,  M,  W,      W,        W,      W,    W,      W], |_| json!({"namespace": SHOP})),
    line(FEEDS, "ListMappings",       [S,    S,      A,  A,  W,      W,        W,      W,    W,      W], |_| json!({})),
];

/// A marketplace with a file in the shop of ann; returns a token of ann.
async fn open() -> (Market, String) {
    let mut market = Market::open().await;
    let ann = market.token("ann", &["seller"], Some("ann"));
    let link = json!({"url": "https://feeds.example/ann.xml"});
    create(&mut market, &ann, json!({"namespace": SHOP, "paused": true, "link": link})).await;
    let taken = market.upload(Some(&ann), "/feeds/ann/shop/upload").await;
    assert_eq!(taken.status, 202, "{}", taken.text());
    (market, ann)
}

async fn create(market: &mut Market, token: &str, feed: Value) -> Value {
    market.ask(token, "feeds.v1.FeedService/CreateFeed", json!({"feed": feed})).await
}

fn target(number: usize) -> Target {
    Target { offer: format!("new{number}"), draft: format!("old{number}"), seller: "ann".into() }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_method_of_feeds_is_open_to_exactly_those_who_may() {
    let (mut market, ann) = open().await;
    let mut number = 0;
    for method in METHODS {
        for (caller, expected) in CALLERS.iter().zip(method.outcomes) {
            for protocol in PROTOCOLS {
                number += 1;
                let about = target(number);
                if method.path().ends_with("/DeleteFeed") && expected == A {
                    create(&mut market, &ann, json!({"namespace": about.draft})).await;
                }
                let reply = market.call(&method.path(), caller, protocol, &(method.request)(&about)).await;
                let what = format!("{} by {} over {protocol:?}", method.path(), caller.name);
                assert_eq!(Outcome::of(&reply), expected, "{what}: {}", reply.text());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_names_no_seller_means_themselves_or_all_of_a_list_or_is_asked_whom() {
    let (mut market, _) = open().await;
    for method in UNNAMED {
        for (caller, expected) in CALLERS.iter().zip(method.outcomes) {
            let reply =
                market.call(&method.path(), caller, Protocol::Json, &(method.request)(&target(0))).await;
            assert_eq!(
                Outcome::of(&reply),
                expected,
                "{} by {}: {}",
                method.path(),
                caller.name,
                reply.text()
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_anothers_feed_is_answered_as_what_does_not_exist() {
    let (mut market, _) = open().await;
    let bob = market.token("bob", &["seller"], Some("bob"));
    for method in METHODS {
        let mut replies = Vec::new();
        for seller in ["ann", "zed"] {
            let about = Target { seller: seller.into(), ..target(0) };
            let request = (method.request)(&about);
            let reply = market.call_with(&method.path(), Some(&bob), None, Protocol::Json, &request).await;
            replies.push((reply.status, reply.body));
        }
        assert_eq!(replies[0], replies[1], "{}", method.path());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_want_the_same_credentials_as_calls() {
    let (mut market, _) = open().await;
    //             nobody visitor ann bob support moderator service admin no role no name
    let uploads = [404, 404, 202, 404, 403, 403, 202, 202, 404, 404];
    let reports = [404, 404, 200, 404, 200, 200, 200, 200, 404, 404];
    for ((caller, upload), report) in CALLERS.iter().zip(uploads).zip(reports) {
        let token = caller.roles.map(|roles| market.token(caller.name, roles, caller.seller));
        let reply = market.upload(token.as_deref(), "/feeds/ann/shop/upload").await;
        assert_eq!(reply.status, upload, "upload by {}: {}", caller.name, reply.text());
        for file in ["problems.csv", "problems.xlsx"] {
            let reply = market.get(token.as_deref(), &format!("/feeds/ann/shop/loads/1/{file}")).await;
            assert_eq!(reply.status, report, "{file} by {}: {}", caller.name, reply.text());
        }
    }
    assert_eq!(market.upload(Some("rubbish"), "/feeds/ann/shop/upload").await.status, 401);
    for path in ["/feeds/schema.xsd", "/feeds/errors"] {
        assert_eq!(market.get(Some("rubbish"), path).await.status, 200, "{path}");
    }
    // A seller may have the name of a page.
    assert_eq!(market.upload(Some("rubbish"), "/feeds/errors/shop/upload").await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn that_a_feed_comes_from_elsewhere_says_a_service_and_its_problems_are_not_for_the_seller() {
    let (mut market, ann) = open().await;
    let parsed = json!({"seller": "ann", "namespace": "elsewhere", "parsed": {"source": "avito"}});
    let path = "/torg.feeds.v1.FeedService/CreateFeed";
    let refused = market.call_with(path, Some(&ann), None, Protocol::Json, &json!({"feed": parsed})).await;
    assert_eq!(refused.code(), "invalid_argument", "{}", refused.text());
    assert!(refused.text().contains("NOT_SETTABLE"), "{}", refused.text());
    let service = market.token("importer", &["service"], None);
    let support = market.token("sue", &["support"], None);
    create(&mut market, &service, parsed).await;
    market.upload(Some(&service), "/feeds/ann/elsewhere/upload").await;
    let about = json!({"seller": "ann", "namespace": "elsewhere", "number": "1"});
    let failed = loop {
        let load = market.ask(&support, "feeds.v1.FeedService/GetLoad", about.clone()).await["load"].clone();
        if load["state"] == "STATE_FAILED" {
            break load;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    assert_eq!(
        (&failed["origin"], &failed["failure"]["code"]),
        (&json!("ORIGIN_PARSED"), &json!("unknown_format"))
    );
    let seen = market.ask(&ann, "feeds.v1.FeedService/GetLoad", about.clone()).await["load"].clone();
    assert_eq!((&seen["state"], &seen["failure"]), (&json!("STATE_FAILED"), &Value::Null));
    for method in ["ListProblems", "SummarizeProblems"] {
        let listed = market.ask(&ann, &format!("feeds.v1.FeedService/{method}"), about.clone()).await;
        assert_eq!(listed, json!({}), "{method}");
    }
}
