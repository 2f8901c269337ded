//! Actions of users are recorded, with their outcome and without secrets.

use serde_json::{Value, json};

use crate::common::{Server, post_json, recorded};
use crate::observe::rig::{OBSERVE, STAGES, ask, offer};

/// The actions of a request, once there are this many.
fn actions(server: &Server, request: &Value, count: usize) -> Vec<Value> {
    recorded(count, || {
        let answer = ask(server, &format!("{OBSERVE}/ListActions"), request);
        answer["actions"].as_array().cloned().unwrap_or_default()
    })
}

#[test]
fn changes_are_recorded_with_their_outcome_and_looks_are_not() {
    let server = Server::start(&[]);
    ask(&server, &format!("{STAGES}/ListStages"), &json!({}));
    assert!(actions(&server, &json!({}), 0).is_empty());
    ask(&server, &format!("{STAGES}/PauseStage"), &json!({"id": "expiry", "reason": "a test"}));
    let refused = server.post_json(&format!("{STAGES}/PauseStage"), r#"{"id":"expire","reason":"a test"}"#);
    assert_eq!(refused.status, 404);
    let mistyped = server.post_json(&format!("{STAGES}/ResumeStage"), r#"{"ident":"expiry"}"#);
    assert_eq!(mistyped.status, 400);
    let all = actions(&server, &json!({}), 3);
    let seen: Vec<(&str, &str)> = all
        .iter()
        .map(|action| (action["method"].as_str().unwrap(), action["outcome"].as_str().unwrap()))
        .collect();
    let method = |name: &str| format!("torg.stages.v1.StageAdminService/{name}");
    let (pause, resume) = (method("PauseStage"), method("ResumeStage"));
    assert_eq!(seen, [(&*resume, "invalid_argument"), (&*pause, "not_found"), (&*pause, "ok")]);
    let done = &all[2];
    assert_eq!((&done["author"], &done["about"]), (&json!("local"), &json!("expiry")));
    assert_eq!(done["request"], r#"{"id":"expiry","reason":"a test"}"#);
    assert_eq!((done.get("error"), done.get("through")), (None, None));
    assert!(done["roles"].as_array().unwrap().contains(&json!("admin")));
    assert!(all[1]["error"].as_str().unwrap().contains("there is no stage"), "{}", all[1]);
}

#[test]
fn secrets_are_masked_and_nobody_outside_can_say_that_it_was_the_console() {
    let server = Server::start(&[]);
    let endpoint = format!("http://127.0.0.1:{}", testkit::free_port());
    let stage = json!({"stage": {"id": "mine", "endpoints": [endpoint], "token": "s3cret"}});
    let call = post_json(&format!("{STAGES}/RegisterStage"), &stage.to_string());
    let call = call.replacen("\r\n", "\r\ntorg-through: console\r\n", 1);
    assert_eq!(server.ask(&call).status, 400, "it does not answer");
    let action = actions(&server, &json!({"about": "mine"}), 1).remove(0);
    assert_eq!((&action["outcome"], action.get("through")), (&json!("failed_precondition"), None));
    assert!(action["request"].as_str().unwrap().contains(r#""token":"***""#), "{action}");
    assert!(!action.to_string().contains("s3cret"));
    let link = json!({"url": "http://ann:s3cret@127.0.0.1:1/f.xml", "user": "ann", "password": "s3cret"});
    let feed = json!({"feed": {"seller": "ann", "namespace": "cars", "link": link}});
    server.post_json("/torg.feeds.v1.FeedService/CreateFeed", &feed.to_string());
    let action = actions(&server, &json!({"about": "ann/cars"}), 1).remove(0);
    assert!(!action.to_string().contains("s3cret"), "{action}");
}

#[test]
fn actions_come_by_pages_and_by_what_they_are_about() {
    let server = Server::start(&[]);
    offer(&server, "Bicycle");
    for _ in 0..3 {
        ask(&server, &format!("{STAGES}/PauseStage"), &json!({"id": "expiry"}));
        ask(&server, &format!("{STAGES}/PauseStage"), &json!({"id": "price"}));
    }
    assert_eq!(actions(&server, &json!({}), 6).len(), 6, "programs make offers all day");
    let mut seen = Vec::new();
    let mut token = String::new();
    loop {
        let request = json!({"about": "price", "pageSize": 2, "pageToken": token});
        let page = ask(&server, &format!("{OBSERVE}/ListActions"), &request);
        seen.extend(page["actions"].as_array().cloned().unwrap_or_default());
        match page["nextPageToken"].as_str() {
            Some(next) => next.clone_into(&mut token),
            None => break,
        }
    }
    assert_eq!(seen.len(), 3);
    assert!(seen.iter().all(|action| action["about"] == "price"));
    for wrong in [json!({"pageSize": 501}), json!({"pageToken": "x"}), json!({"about": "x".repeat(301)})] {
        let answer = server.post_json(&format!("{OBSERVE}/ListActions"), &wrong.to_string());
        assert_eq!(answer.status, 400, "{wrong}");
    }
}
