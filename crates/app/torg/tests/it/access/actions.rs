//! Which actors are recorded in the history of actions.

use serde_json::{Value, json};

use crate::access::guarded;
use crate::common::{self, Server, authorized};

const STAGES: &str = "/torg.stages.v1.StageAdminService";
const CREATE_FEED: &str = "/torg.feeds.v1.FeedService/CreateFeed";
const SET_VALUES: &str = "/torg.tasks.v1.CtlService/SetValues";

/// All recorded actions, the oldest first, once there are this many.
fn actions(server: &Server, token: &str, count: usize) -> Vec<Value> {
    let mut actions = common::recorded(count, || {
        let answer = server.call("/torg.admin.v1.ObserveService/ListActions", Some(token), "{}");
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()["actions"].as_array().cloned().unwrap_or_default()
    });
    actions.reverse();
    actions
}

/// The same in short: actor, action, object and outcome.
fn recorded(server: &Server, token: &str, count: usize) -> Vec<[String; 4]> {
    let text = |action: &Value, field: &str| action[field].as_str().unwrap_or_default().to_owned();
    let told = |action: &Value| {
        let method = text(action, "method").rsplit('/').next().unwrap().to_owned();
        [text(action, "author"), method, text(action, "about"), text(action, "outcome")]
    };
    actions(server, token, count).iter().map(told).collect()
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
    assert_eq!(recorded(&server, &support, 5), wanted.map(|action| action.map(str::to_owned)));
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
    assert_eq!(recorded(&server, &admin, 3), wanted.map(|action| action.map(str::to_owned)));
}

#[test]
fn what_only_some_may_read_is_not_told_by_recorded_actions() {
    let (server, issuer) = guarded(&[]);
    let admin = issuer.token_of("root", &["admin"], None);
    let support = issuer.token_of("sue", &["support"], None);
    let call = |path: &str, request: &Value| {
        server.call(path, Some(&admin), &request.to_string()).json()["code"]
            .as_str()
            .unwrap_or("ok")
            .to_owned()
    };
    let apply = "/torg.tasks.v1.TaskService/ApplyTasks";
    let files = |text: &str| json!({"files": [{"name": "a.yaml", "text": text}], "reason": "a test"});
    let right = "tasks: {report: {when: {new_day: a.b}, run: 'echo Bearer s3cret'}}";
    assert_eq!(call(apply, &files(right)), "ok");
    assert_eq!(
        call(apply, &files("tasks:\n  report: {wehn: 1, run: 'echo Bearer s3cret'}")),
        "invalid_argument"
    );
    let append = "/torg.topics.v1.TopicService/AppendMessages";
    assert_eq!(
        call(
            "/torg.topics.v1.TopicService/CreateTopic",
            &json!({"topic": {"name": "t", "partitionCount": 1}})
        ),
        "ok"
    );
    // `s3cret` in base64.
    assert_eq!(
        call(append, &json!({"topic": "t", "messages": [{"key": "YQ==", "payload": "czNjcmV0"}]})),
        "ok"
    );

    let actions = actions(&server, &support, 4);
    let told = serde_json::to_string(&actions).unwrap();
    assert!(!told.contains("s3cret") && !told.contains("czNjcmV0"), "{told}");
    let request = |place: usize| actions[place]["request"].as_str().unwrap().to_owned();
    let sizes =
        format!(r#"{{"files":[{{"name":"a.yaml","text":"({} bytes)"}}],"reason":"a test"}}"#, right.len());
    assert_eq!(request(0), sizes);
    assert!(actions[1]["error"].as_str().unwrap().contains("error[unknown_key]"), "{told}");
    assert_eq!(request(3), r#"{"topic":"t","messages":[{"key":"(1 bytes)","payload":"(6 bytes)"}]}"#);
    assert_eq!(actions[3]["about"], "t");
}

#[test]
fn an_attempt_is_recorded_however_large_its_request_is() {
    let (server, issuer) = guarded(&[]);
    let admin = issuer.token_of("root", &["admin"], None);
    let ann = issuer.token_of("ann", &["seller"], Some("s1"));
    let of_bob = json!({"feed": {"seller": "bob", "namespace": "x".repeat(100_000)}}).to_string();
    let refused = server.call(CREATE_FEED, Some(&ann), &of_bob).json()["code"].as_str().unwrap().to_owned();
    assert_eq!(recorded(&server, &admin, 1), [["ann", "CreateFeed", "", &refused].map(str::to_owned)]);
    assert!(actions(&server, &admin, 1)[0]["request"].as_str().unwrap().ends_with(" bytes)\""));
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
    let recorded = recorded(&server, &admin, 2);
    assert_eq!(recorded[1], [&*format!("Anna ({id})"), "PauseStage", "expiry", "ok"]);
    assert!(!recorded.concat().concat().contains(key), "{recorded:?}");
}
