//! Limits of stages, changed while they run.

use serde_json::json;

use crate::common::{Server, run, torg};
use crate::observe::rig::{STAGES, ask};

#[test]
fn a_stage_keeps_the_limits_that_were_ordered_until_its_own_are_wanted_again() {
    let server = Server::start(&[]);
    let shown = || ask(&server, &format!("{STAGES}/GetStage"), &json!({"id": "expiry"}))["stage"].clone();
    let own = shown();
    assert_eq!(own["limits"], json!({"callsMax": 16, "batchMax": 16}));
    assert_eq!(own.get("orderedLimits"), None);

    let url = server.url();
    let command = |arguments: &[&str]| {
        let all = [&["stages", "limits", "expiry"][..], arguments, &["--server", &url]].concat();
        run(torg(&server.folder, &all))
    };
    let said = command(&["--rate", "2.5", "--calls-max", "3"]);
    assert_eq!(
        said.stdout, "stage expiry: 2.5 visits in a second, 3 calls at a time, 16 offers in a call\n",
        "{}",
        said.stderr
    );
    let ordered = shown();
    assert_eq!(ordered["limits"], json!({"rate": 2.5, "callsMax": 3, "batchMax": 16}));
    assert_eq!(ordered["orderedLimits"], json!({"rate": 2.5, "callsMax": 3}));
    let words = run(torg(&server.folder, &["stages", "show", "expiry", "--server", &url])).stdout;
    assert!(words.contains("limits (ordered): 2.5 visits in a second, 3 calls at a time"), "{words}");

    let said = command(&["--batch-max", "4"]);
    assert!(said.stdout.contains("as many visits in a second as can be made, 16 calls"), "{}", said.stdout);
    assert_eq!(shown()["orderedLimits"], json!({"batchMax": 4}), "what is left out is its own again");
    let said = command(&[]);
    assert!(said.stdout.ends_with("16 calls at a time, 16 offers in a call\n"), "{}", said.stdout);
    assert_eq!(shown(), own);
}

#[test]
fn limits_that_cannot_work_are_refused_and_change_nothing() {
    let server = Server::start(&[]);
    for wrong in [
        json!({"id": "expiry", "rate": 0}),
        json!({"id": "expiry", "rate": -1}),
        json!({"id": "expiry", "rate": "NaN"}),
        json!({"id": "expiry", "callsMax": 0}),
        json!({"id": "expiry", "batchMax": 1_000_000}),
        json!({"id": "", "rate": 1}),
    ] {
        let answer = server.post_json(&format!("{STAGES}/SetStageLimits"), &wrong.to_string());
        assert_eq!((answer.status, &answer.json()["code"]), (400, &json!("invalid_argument")), "{wrong}");
    }
    let unknown = server.post_json(&format!("{STAGES}/SetStageLimits"), r#"{"id":"expire","rate":1}"#);
    assert_eq!(unknown.status, 404, "{}", unknown.body);
    let stage = ask(&server, &format!("{STAGES}/GetStage"), &json!({"id": "expiry"}));
    assert_eq!(stage["stage"].get("orderedLimits"), None);
}

#[test]
fn what_waits_for_a_stage_is_told_offer_by_offer_up_to_a_limit() {
    let server = Server::start(&[]);
    let get = |body: &serde_json::Value| server.post_json(&format!("{STAGES}/GetStage"), &body.to_string());
    let all = get(&json!({"id": "expiry", "waitingMax": 5, "waitingLane": "LANE_TIMERS"}));
    assert_eq!((all.status, all.json().get("waiting")), (200, None), "there are no offers");
    let too_many = get(&json!({"id": "expiry", "waitingMax": 501}));
    assert_eq!((too_many.status, &too_many.json()["code"]), (400, &json!("invalid_argument")));
    assert!(too_many.body.contains("waiting_max"), "{}", too_many.body);
}
