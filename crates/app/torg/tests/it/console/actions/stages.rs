//! Actions of operators on stages, on a desktop in English and on a phone in Russian.

use serde_json::json;

use crate::common::{Server, recorded};
use crate::console::browser::{Driver, is_there};
use crate::console::forms::{REASON, windows};
use crate::console::rig::{self, Stage, ask, make_offer, wait_until};

/// A stage in another process.
const STAGE: &str = "title-polish";

fn stage(server: &Server, id: &str) -> serde_json::Value {
    ask(server, "torg.stages.v1.StageAdminService/GetStage", &json!({"id": id}))["stage"].clone()
}

/// The actions of a method, once there are this many.
fn actions(server: &Server, method: &str, count: usize) -> Vec<serde_json::Value> {
    let is_so = |action: &serde_json::Value| {
        action["method"].as_str().unwrap_or_default().ends_with(&format!("/{method}"))
    };
    recorded(count, || {
        let all = ask(server, "torg.admin.v1.ObserveService/ListActions", &json!({}));
        all["actions"].as_array().cloned().unwrap_or_default().into_iter().filter(is_so).collect()
    })
}

#[test]
fn an_operator_pauses_resumes_and_limits_a_stage() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    for (number, browser) in windows(&driver, &server, "admin") {
        browser.go("/console/stages/expiry");
        browser.does_with("pause", &[("#pause-reason", REASON)]);
        assert_eq!(stage(&server, "expiry")["pause"]["reason"], REASON);
        // The overview updates itself.
        browser.go("/console/");
        browser.wait_for(REASON);
        browser.go("/console/stages/expiry");
        browser.does("form[action='/console/stages/expiry/resume'] button");
        assert!(stage(&server, "expiry")["pause"].is_null());

        let rate = 25.5 + number as f64;
        browser
            .does_with("limits", &[("#rate", &rate.to_string()), ("#calls_max", "3"), ("#batch_max", "7")]);
        let limits = stage(&server, "expiry")["orderedLimits"].clone();
        assert_eq!(limits, json!({"rate": rate, "callsMax": 3, "batchMax": 7}));
        // An invalid value is refused with a message, and changes nothing.
        browser.unfold("limits");
        browser.script("document.querySelector('#calls_max').removeAttribute('min')");
        browser.put("#calls_max", "0");
        let (good, text) = browser.press("#limits form button");
        assert!(!good && !text.is_empty(), "{text}");
        assert_eq!(stage(&server, "expiry")["orderedLimits"], limits);
    }
    for method in ["PauseStage", "ResumeStage", "SetStageLimits"] {
        let recorded = actions(&server, method, 2);
        assert!(recorded.len() >= 2, "{method}: {recorded:?}");
        assert!(recorded.iter().all(|action| action["author"] == "local" && action["through"] == "console"));
    }
}

#[test]
fn an_operator_starts_pauses_resumes_and_gives_up_a_recrawl() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    let recrawl =
        || ask(&server, "torg.stages.v1.StageAdminService/GetRecrawl", &json!({}))["recrawl"].clone();
    for (_, browser) in windows(&driver, &server, "admin") {
        browser.go("/console/stages");
        // Slow enough to outlast the test.
        browser.does_with("recrawl-start", &[("#per_second", "1")]);
        assert_eq!(recrawl()["perSecond"], 1, "{}", recrawl());
        browser.wait_until("no progress is shown", |browser| browser.has("#recrawl-progress"));
        browser.does("#recrawl-pause");
        assert_eq!(recrawl()["paused"], true);
        browser.does_with("recrawl-resume", &[("#per_second", "2")]);
        assert_eq!((&recrawl()["paused"], &recrawl()["perSecond"]), (&serde_json::Value::Null, &json!(2)));
        browser.does("#recrawl-cancel");
        assert_eq!(recrawl()["cancelled"], true);
    }
    for method in ["StartRecrawl", "PauseRecrawl", "ResumeRecrawl", "CancelRecrawl"] {
        actions(&server, method, 2);
    }
}

#[test]
fn what_a_stage_gave_up_on_is_released_one_by_one_all_at_once_and_from_the_page_of_the_offer() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    // Latin letters in a Russian word: the stage asks for moderation.
    let made = [0, 1].map(|number: u8| make_offer(&server, &format!("Велосипeд {number}")));
    let is_parked = |id: &str| {
        let explained = ask(&server, "torg.offers.v1.OfferService/ExplainOffer", &json!({"id": id}));
        let stages = explained["stages"].as_array().cloned().unwrap_or_default();
        let standing = stages.iter().find(|stage| stage["stage"] == STAGE).cloned().unwrap_or_default();
        standing["standing"].as_str().unwrap_or_default().starts_with("parked")
    };
    for (_, browser) in windows(&driver, &server, "admin") {
        // A released visit fails again: its cause is still there.
        wait_until("both are parked", || made.iter().all(|id| is_parked(id)));
        browser.go(&format!("/console/offers/{}", made[0]));
        browser.does(&format!("#release-{STAGE}"));
        assert_eq!(browser.place(), format!("/console/offers/{}", made[0]));
        wait_until("it is parked again", || is_parked(&made[0]));
        browser.go(&format!("/console/stages/{STAGE}"));
        browser.wait_for("Велосипeд");
        browser.does(&format!("[id='release-{}']", made[1]));
        wait_until("it is parked again", || is_parked(&made[1]));
        browser.go(&format!("/console/stages/{STAGE}"));
        browser.does("#release-all");
    }
    actions(&server, "ReleaseStage", 6);
}

#[test]
fn a_shadow_takes_the_place_of_its_stage() {
    if !is_there() {
        return;
    }
    let (server, driver) = (Server::start(&[]), Driver::start());
    let (old, new) = (Stage::start(&server.folder), Stage::start(&server.folder));
    for (_, browser) in windows(&driver, &server, "admin") {
        let registered = ask(
            &server,
            "torg.stages.v1.StageAdminService/RegisterStage",
            &json!({"stage": {"id": STAGE, "endpoints": [old.url()], "mayChange": "title", "shadow": {"endpoints": [new.url()]}}}),
        );
        assert_eq!(registered["stage"]["id"], STAGE, "{registered}");
        browser.go(&format!("/console/stages/{STAGE}"));
        browser.wait_for(&new.url());
        browser.does_with("promote", &[]);
        let now = stage(&server, STAGE);
        assert_eq!(now["outside"]["endpoints"], json!([new.url()]), "{now}");
        assert!(now["outside"]["shadow"].is_null(), "{now}");
    }
    assert_eq!(actions(&server, "PromoteShadow", 2).len(), 2);
}
