//! Injection attempts: texts from outside with markup and scripts.

use std::sync::Arc;

use serde_json::json;
use stagekit::{Answer, Description, Failure, Options, Stage, Subject};

use crate::common::Server;
use crate::console::browser::{Driver, Width, is_there};
use crate::console::rig::{self, ask, wait_until};

/// It leaves a trace if it ever runs.
const SCRIPT: &str = "<script>window.taken=1</script><img src=x onerror=\"window.taken=1\">";

/// A task that prints it and fails.
const TASKS: &str = r"
tasks:
  odd:
    when: {grew: {of: odd.value, by: 1}}
    run: |
      echo '<script>window.taken=1</script>'
      exit 1
";

/// A stage that answers with it for every offer.
struct Rude;

#[stagekit::async_trait]
impl Stage for Rude {
    fn describe(&self) -> Description {
        Description::new("rude", "1").interest(["title"])
    }

    async fn process(&self, _: &Subject) -> Result<Answer, Failure> {
        Err(Failure::Lasting(SCRIPT.to_owned()))
    }
}

/// Serves the stage until the test ends; returns its address.
fn rude() -> (tokio::runtime::Runtime, String) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let options = Options { address: "127.0.0.1:0".to_owned(), ..Options::default() };
    let server = runtime.block_on(stagekit::Server::bind(vec![Arc::new(Rude)], options)).unwrap();
    let address = format!("http://{}", server.address());
    runtime.spawn(server.run(std::future::pending()));
    (runtime, address)
}

#[test]
fn a_stored_script_is_shown_as_text_in_titles_reports_reasons_values_messages_of_stages_and_logs() {
    if !is_there() {
        return;
    }
    let folder = Arc::new(tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("tasks.yaml"), TASKS).unwrap();
    let server = Server::start_in(&folder, &[("TORG_TASKS_PATH", "tasks.yaml")]);
    let (driver, (_stage, address)) = (Driver::start(), rude());
    ask(
        &server,
        "torg.stages.v1.StageAdminService/RegisterStage",
        &json!({"stage": {"id": "rude", "endpoints": [address]}}),
    );
    // A stage gets changes only once it is running.
    wait_until("the stage is at work", || {
        let shown = ask(&server, "torg.stages.v1.StageAdminService/GetStage", &json!({"id": "rude"}));
        shown["stage"]["processes"].as_array().is_some_and(|processes| !processes.is_empty())
    });
    let made = ask(
        &server,
        "torg.offers.v1.OfferService/CreateOffer",
        &json!({"offer": {
            "seller": "mallory", "category": "sg-4-4-3-2", "title": format!("Bicycle {SCRIPT}"), "description": SCRIPT,
            "price": {"fixed": {"micros": "150000000", "currency": "EUR"}}, "place": {"address": format!("Bremen {SCRIPT}")}}}),
    );
    let id = made["offer"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    ask(
        &server,
        "torg.feeds.v1.FeedService/CreateFeed",
        &json!({"feed": {"seller": "mallory", "namespace": "bad", "title": SCRIPT}}),
    );
    let file = format!(
        "<yml_catalog date=\"2026-11-01 10:00\"><shop><categories><category id=\"1\">{0}</category></categories><offers>\
         <offer id=\"{0}\"><name>{0}</name><price>{0}</price><categoryId>1</categoryId></offer></offers></shop></yml_catalog>",
        SCRIPT.replace('<', "&lt;").replace('"', "&quot;")
    );
    let upload = format!(
        "POST /feeds/mallory/bad/upload HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{file}",
        file.len()
    );
    assert!(server.ask(&upload).status < 300);
    wait_until("the file is read", || {
        let load = ask(
            &server,
            "torg.feeds.v1.FeedService/GetLoad",
            &json!({"seller": "mallory", "namespace": "bad"}),
        );
        ["STATE_DONE", "STATE_FAILED"].iter().any(|state| load["load"]["state"] == *state)
    });
    ask(&server, "torg.stages.v1.StageAdminService/PauseStage", &json!({"id": "expiry", "reason": SCRIPT}));
    ask(
        &server,
        "torg.tasks.v1.CtlService/SetValues",
        &json!({"changes": [{"parameter": "odd.value", "value": {"number": "5"}}], "reason": SCRIPT}),
    );

    wait_until("the stage has said it", || {
        let shown = ask(&server, "torg.stages.v1.StageAdminService/GetStage", &json!({"id": "rude"}));
        shown.to_string().contains("window.taken")
    });
    wait_until("the task has said it", || !rig::runs(&server).is_empty());

    let browser = rig::window(&driver, &server, "admin", Width::Desktop, "en");
    for path in [
        format!("/console/offers/{id}"),
        "/console/sellers/mallory".to_owned(),
        "/console/feeds?seller=mallory".to_owned(),
        "/console/feeds/mallory/bad".to_owned(),
        "/console/feeds/mallory/bad/loads/1".to_owned(),
        "/console/stages".to_owned(),
        "/console/stages/expiry".to_owned(),
        "/console/stages/rude".to_owned(),
        "/console/tasks".to_owned(),
        "/console/tasks/odd".to_owned(),
        "/console/tasks/odd/runs/1".to_owned(),
        "/console/values".to_owned(),
        "/console/values/odd.value".to_owned(),
        "/console/topics/offers".to_owned(),
        "/console/actions".to_owned(),
        "/console/".to_owned(),
    ] {
        browser.go(&path);
        assert!(browser.script("return window.taken === undefined") == true, "{path} runs what it shows");
        assert!(!browser.has("main script, main img[src=x]"), "{path} takes text for markup");
    }
    // The text is visible on these pages.
    for path in [
        format!("/console/offers/{id}"),
        "/console/stages/expiry".to_owned(),
        "/console/stages/rude".to_owned(),
        "/console/tasks/odd/runs/1".to_owned(),
        "/console/feeds/mallory/bad/loads/1".to_owned(),
    ] {
        browser.go(&path);
        browser.wait_for("<script>window.taken=1</script>");
        let text = browser.script("return document.querySelector('main').textContent");
        assert!(text.as_str().unwrap().contains("<script>window.taken=1</script>"), "{path}: {text}");
    }
    browser.go("/console/offers?q=%3Cscript%3Ewindow.taken%3D1%3C%2Fscript%3E");
    assert!(browser.script("return window.taken === undefined") == true);
}
