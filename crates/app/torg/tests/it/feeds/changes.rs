//! Changes and deletions of feeds.

use serde_json::{Value, json};

use crate::common::Server;
use crate::feeds::rig::{create, ended, eventually, feeds, live, refusal, sofa, upload, yml};

#[test]
fn a_feed_is_changed_by_its_mask_and_keeps_what_callers_do_not_set() {
    let server = Server::start(&[("TORG_STORE_URL", "memory:")]);
    let link =
        json!({"url": "https://feeds.example/ann.xml", "user": "ann", "password": "hush", "period": "3600s"});
    let forged = json!({
        "seller": "ann", "namespace": "shop", "paused": true, "link": link, "version": "77",
        "createTime": "2001-01-01T00:00:00Z", "nextFetchTime": "2099-01-01T00:00:00Z",
        "lastFetch": {"code": "forged"}, "lastLoad": {"number": "5"}, "guard": {"share": 0.2, "confirmed": true},
        "keeping": {"lastLoad": "41", "queue": [{"number": "40", "file": "feeds/other/file"}]},
    });
    let made = create(&server, &forged);
    assert_eq!((&made["version"], &made["link"]["password"]), (&json!("1"), &json!("***")));
    for left_out in ["keeping", "lastFetch", "lastLoad", "nextFetchTime"] {
        assert!(made[left_out].is_null(), "{made}");
    }
    assert!(!made["createTime"].as_str().unwrap().starts_with("2001"), "{made}");
    assert_eq!(made["guard"], json!({"share": 0.2}));
    let told = upload(&server, "/feeds/ann/shop/upload", b"anything").json();
    assert_eq!(told["number"], "1", "the count of loads is ours");

    let update = |feed: Value, mask: &str, version: u64| json!({"feed": feed, "updateMask": mask, "version": version.to_string()});
    let of = |title: &str| json!({"seller": "ann", "namespace": "shop", "title": title});
    let changed = feeds(&server, "UpdateFeed", &update(of("Shop"), "title", 0))["feed"].clone();
    assert_eq!((&changed["title"], &changed["paused"]), (&json!("Shop"), &json!(true)));
    assert_eq!(changed["link"]["url"], "https://feeds.example/ann.xml");
    let (code, reason, text) = refusal(&server, "UpdateFeed", &update(of("x"), "title,keeping", 0));
    assert_eq!((&*code, &*reason), ("invalid_argument", "WRONG_FIELD_MASK"));
    assert!(text.contains("title, link, link.period, paused, missing, guard, defaults"), "{text}");
    let (code, reason, _) = refusal(&server, "UpdateFeed", &update(of("x"), "title", 1));
    assert_eq!((&*code, &*reason), ("aborted", "VERSION_CONFLICT"));
    let (code, _, _) =
        refusal(&server, "UpdateFeed", &update(json!({"seller": "ann", "namespace": "no"}), "", 0));
    assert_eq!(code, "not_found");

    for (feed, field) in [
        (json!({"seller": "ann", "namespace": "a/b"}), "feed.namespace"),
        (json!({"seller": "ann", "namespace": "n", "link": {"url": "ftp://a.example"}}), "feed.link.url"),
        (
            json!({"seller": "ann", "namespace": "n", "link": {"url": "http://a.example", "period": "1s"}}),
            "feed.link.period",
        ),
        (json!({"seller": "ann", "namespace": "n", "guard": {"share": 7}}), "feed.guard.share"),
        (
            json!({"seller": "ann", "namespace": "n", "defaults": {"currency": "euro"}}),
            "feed.defaults.currency",
        ),
    ] {
        let (code, _, text) = refusal(&server, "CreateFeed", &json!({"feed": feed}));
        assert!(code == "invalid_argument" && text.starts_with(field), "{field}: {text}");
    }
    let (code, reason, _) =
        refusal(&server, "CreateFeed", &json!({"feed": {"seller": "ann", "namespace": "shop"}}));
    assert_eq!((&*code, &*reason), ("already_exists", "FEED_EXISTS"));
    create(&server, &json!({"seller": "ann", "namespace": "also"}));
    let listed = feeds(&server, "ListFeeds", &json!({"seller": "ann", "pageSize": 1}));
    assert_eq!(listed["feeds"][0]["namespace"], "also");
    let next = json!({"seller": "ann", "pageSize": 1, "pageToken": listed["nextPageToken"]});
    let listed = feeds(&server, "ListFeeds", &next);
    assert_eq!((&listed["feeds"][0]["namespace"], &listed["nextPageToken"]), (&json!("shop"), &Value::Null));
    create(&server, &json!({"seller": "bob/и co", "namespace": "main"}));
    let (mut all, mut token) = (Vec::new(), Value::Null);
    loop {
        let page = feeds(&server, "ListFeeds", &json!({"pageSize": 2, "pageToken": token}));
        let found = page["feeds"].as_array().unwrap().iter();
        all.extend(found.map(|feed| format!("{} {}", feed["seller"], feed["namespace"]).replace('"', "")));
        token = page["nextPageToken"].clone();
        if token.is_null() {
            break;
        }
    }
    all.sort();
    assert_eq!(all, ["ann also", "ann shop", "bob/и co main"]);
    let first = feeds(&server, "ListFeeds", &json!({"pageSize": 1}));
    let of_one = json!({"seller": "ann", "pageToken": first["nextPageToken"]});
    assert_eq!(refusal(&server, "ListFeeds", &of_one).1, "WRONG_TOKEN");
    let (code, reason, _) = refusal(&server, "FetchNow", &json!({"seller": "ann", "namespace": "also"}));
    assert_eq!((&*code, &*reason), ("failed_precondition", "NO_LINK"));
}

#[test]
fn what_a_sellers_category_is_can_be_said_and_taken_back() {
    let server = Server::start(&[("TORG_STORE_URL", "memory:")]);
    let said = json!({"seller": "ann", "path": ["Мебель", "Диваны"], "category": "transport/cars"});
    let mapping = feeds(&server, "SetMapping", &said)["mapping"].clone();
    assert_eq!((&mapping["category"], &mapping["byHand"]), (&json!("transport/cars"), &json!(true)));
    let listed = feeds(&server, "ListMappings", &json!({"seller": "ann"}));
    assert_eq!(listed["mappings"][0]["path"], json!(["Мебель", "Диваны"]), "{listed}");
    feeds(&server, "SetMapping", &json!({"seller": "ann", "path": ["Мебель", "Диваны"]}));
    assert!(feeds(&server, "ListMappings", &json!({"seller": "ann"}))["mappings"].is_null());
    let wrong = json!({"seller": "ann", "path": ["x"], "category": "no/such"});
    assert_eq!(refusal(&server, "SetMapping", &wrong).0, "invalid_argument");
    assert_eq!(refusal(&server, "SetMapping", &json!({"seller": "ann"})).0, "invalid_argument");
}

#[test]
fn a_feed_that_goes_takes_its_offers_along_or_leaves_them_as_manual_ones() {
    let server = Server::start(&[("TORG_STORE_URL", "memory:")]);
    for (namespace, title) in [("one", "Диван угловой"), ("two", "Диван прямой")] {
        create(&server, &json!({"seller": "ann", "namespace": namespace}));
        upload(
            &server,
            &format!("/feeds/ann/{namespace}/upload"),
            yml(&[sofa("1", title, "1000")]).as_bytes(),
        );
        assert_eq!(ended(&server, namespace, "1")["state"], "STATE_DONE");
    }
    let delete =
        |namespace: &str, offers: &str| json!({"seller": "ann", "namespace": namespace, "offers": offers});
    let (code, reason, _) = refusal(&server, "DeleteFeed", &delete("one", "MISSING_KEEP"));
    assert_eq!((&*code, &*reason), ("invalid_argument", "NOT_ALLOWED"));
    feeds(&server, "DeleteFeed", &delete("one", "MISSING_REMOVE"));
    feeds(&server, "DeleteFeed", &delete("two", "MISSING_MAKE_MANUAL"));
    eventually("both are gone", || {
        feeds(&server, "ListFeeds", &json!({"seller": "ann"}))["feeds"].is_null().then_some(())
    });
    assert_eq!(live(&server), ["Диван прямой"]);
}
