//! Of whom it is recorded what they do.

use serde_json::{Value, json};

use crate::common::{Server, authorized};
use crate::guarded;

const STAGES: &str = "/torg.stages.v1.StageAdminService";
const CREATE_FEED: &str = "/torg.feeds.v1.FeedService/CreateFeed";
const SET_VALUES: &str = "/torg.tasks.v1.CtlService/SetValues";

/// Everything that was recorded: who, what, about what, and what came of it; the oldest first.
fn recorded(server: &Server, token: &str) -> Vec<[String; 4]> {
    let answer = server.call("/torg.admin.v1.ObserveService/ListActions", Some(token), "{}");
    assert_eq!(answer.status, 200, "{}", answer.body);
    let mut actions = answer.json()["actions"].as_array().cloned().unwrap_or_default();
    actions.reverse();
    let text = |action: &Value, field: &str| action[field].as_str().unwrap_or_default().to_owned();
    let told = |action: &Value| {
        let method = text(action, "method").rsplit('/').next().unwrap().to_owned();
        [text(action, "author"), method, text(action, "about"), text(action, "outcome")]
    };
    actions.iter().map(told).collect()
}

#[test]
fn actions_of_people_and_refused_attempts_are_recorded_and_the_work_of_sellers_and_services_is_not() {
    let (server, issuer) = guarded(&[]);
    let admin = issuer.token_of("root", &["admin"], None);
    let seller = issuer.token_of("ann", &["seller"], Some("s1"));
    let service = issuer.token_of("robot", &["service"], None);
    let support = issuer.token_of("sue", &["support"], None);
    let code = |path: &str, token: Option<&str>, request: &Value| {
        server.call(path, token, &request.to_string()).json()["code"].as_str().unwrap_or("ok").to_owned()
    };
    let pause = json!({"id": "expiry", "reason": "a test"});
    let path = format!("{STAGES}/PauseStage");
    assert_eq!(code(&path, Some(&admin), &pause), "ok");
    assert_eq!(code(&path, Some(&seller), &pause), "permission_denied");
    assert_eq!(code(&path, Some(&support), &pause), "permission_denied");
    assert_eq!(code(&path, None, &pause), "unauthenticated");
    assert_eq!(code(CREATE_FEED, Some(&seller), &json!({"feed": {"namespace": "cars"}})), "ok");
    let of_bob = json!({"feed": {"seller": "bob", "namespace": "cars"}});
    assert_eq!(code(CREATE_FEED, Some(&admin), &of_bob), "ok");
    let value = json!({"changes": [{"parameter": "shop/rows", "value": {"number": "1"}}]});
    let by_service = code(SET_VALUES, Some(&service), &value);
    assert_eq!(code(SET_VALUES, Some(&admin), &value), by_service);

    let wanted = [
        ["root", "PauseStage", "expiry", "ok"],
        ["ann", "PauseStage", "expiry", "permission_denied"],
        ["sue", "PauseStage", "expiry", "permission_denied"],
        ["root", "CreateFeed", "bob/cars", "ok"],
        ["root", "SetValues", "shop/rows", &by_service],
    ];
    assert_eq!(recorded(&server, &support), wanted.map(|action| action.map(str::to_owned)));
    let answer = server.call("/torg.admin.v1.ObserveService/ListActions", Some(&seller), "{}");
    assert_eq!(answer.status, 403, "{}", answer.body);
}

#[test]
fn files_that_others_hand_in_are_recorded_and_those_of_sellers_themselves_are_not() {
    let (server, issuer) = guarded(&[]);
    let admin = issuer.token_of("root", &["admin"], None);
    let ann = issuer.token_of("ann", &["seller"], Some("s1"));
    for (token, seller) in [(&ann, "s1"), (&admin, "bob")] {
        let feed = json!({"feed": {"seller": seller}});
        assert_eq!(server.call(CREATE_FEED, Some(token), &feed.to_string()).status, 200);
    }
    let upload = |token: Option<&str>, seller: &str| {
        let head = format!("POST /feeds/{seller}/default/upload HTTP/1.1\r\nhost: localhost\r\n");
        let request = format!("{head}connection: close\r\ncontent-length: 8\r\n\r\nanything");
        server.ask(&authorized(&request, token)).json()["code"].as_str().unwrap_or("ok").to_owned()
    };
    assert_eq!(upload(Some(&ann), "s1"), "ok");
    let refused = upload(Some(&ann), "bob");
    assert_ne!(refused, "ok");
    assert_eq!(upload(None, "bob"), "unauthenticated");
    assert_eq!(upload(Some(&admin), "bob"), "ok");
    let wanted = [
        ["root", "CreateFeed", "bob/default", "ok"],
        ["ann", "upload", "bob/default", &refused],
        ["root", "upload", "bob/default", "ok"],
    ];
    assert_eq!(recorded(&server, &admin), wanted.map(|action| action.map(str::to_owned)));
}

#[test]
fn whoever_shows_a_key_is_recorded_by_its_name() {
    let (server, issuer) = guarded(&[]);
    let admin = issuer.token_of("root", &["admin"], None);
    let create = json!({"name": "Anna", "roles": ["admin"]}).to_string();
    let made = server.call("/torg.access.v1.KeyService/CreateKey", Some(&admin), &create);
    assert_eq!(made.status, 200, "{}", made.body);
    let (key, id) = (made.json()["text"].clone(), made.json()["key"]["id"].clone());
    let (key, id) = (key.as_str().unwrap(), id.as_str().unwrap());
    let pause = json!({"id": "expiry", "reason": "a test"}).to_string();
    assert_eq!(server.call(&format!("{STAGES}/PauseStage"), Some(key), &pause).status, 200);
    let recorded = recorded(&server, &admin);
    assert_eq!(recorded[1], [&*format!("Anna ({id})"), "PauseStage", "expiry", "ok"]);
    assert!(!recorded.concat().concat().contains(key), "{recorded:?}");
}
