//! Actions on tasks and on the values that they wait for, on a desktop in English and on a phone in
//! Russian.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::common::Server;
use crate::console::browser::{Browser, Driver, is_there};
use crate::console::forms::{REASON, windows};
use crate::console::rig::{ask, wait_until};

/// One that runs until it is killed, one that waits in the queue, and one whose chunks fail.
const TASKS: &str = r#"
timezone: UTC
limits: {running: 4, pools: {narrow: 1}}
tasks:
  slow:
    when: {grew: {of: shop.rows, by: 1000}}
    retry: {attempts: 1}
    pool: narrow
    run: "while true; do sleep 0.1; done"
  next:
    when: {grew: {of: shop.rows, by: 1000}}
    pool: narrow
    run: "true"
  daily:
    when: {new_day: sales.loaded_to}
    retry: {first: 1s, most: 1s}
    run: "false"
"#;

fn server() -> Server {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("tasks.yaml"), TASKS).unwrap();
    let server = Server::start_in(&folder, &[("TORG_TASKS_PATH", "tasks.yaml")]);
    wait_until("the tasks are known", || {
        let known = ask(&server, "torg.tasks.v1.TaskService/ListTasks", &json!({}));
        known["tasks"].as_array().is_some_and(|tasks| tasks.len() == 3)
    });
    server
}

fn task(server: &Server, name: &str) -> Value {
    let found = ask(server, "torg.tasks.v1.TaskService/ListTasks", &json!({"prefix": name}));
    found["tasks"][0].clone()
}

/// Opens the page of a task, does an action with a reason, and finds the reason in its history.
fn act(server: &Server, browser: &Browser<'_>, name: &str, act: &str, fields: &[(&str, &str)]) {
    browser.go(&format!("/console/tasks/{name}"));
    let reason = format!("#reason-{act}");
    browser.does_with(&format!("act-{act}"), &[fields, &[(&reason, REASON)]].concat());
    let events = ask(server, "torg.tasks.v1.TaskService/ListEvents", &json!({"task": name}));
    assert!(events.to_string().contains(REASON), "{act}: {events}");
}

#[test]
fn everything_that_can_be_done_with_a_task_is_done_with_a_reason() {
    if !is_there() {
        return;
    }
    let (server, driver) = (server(), Driver::start());
    for (_, browser) in windows(&driver, &server, "admin") {
        let act = |name, what, fields: &[(&str, &str)]| act(&server, &browser, name, what, fields);
        act("slow", "run", &[]);
        wait_until("it runs", || task(&server, "slow")["task"]["state"]["running"].is_object());
        act("next", "run", &[("#run-record", "on")]);
        wait_until("the other waits", || task(&server, "next")["task"]["state"]["queued"].is_object());
        act("next", "cancel", &[]);
        wait_until("it waits no more", || task(&server, "next")["task"]["state"]["queued"].is_null());
        act("slow", "kill", &[]);
        wait_until("it is killed", || task(&server, "slow")["task"]["state"]["running"].is_null());

        act("next", "pause", &[]);
        assert_eq!(task(&server, "next")["paused"], true);
        act("next", "resume", &[]);
        assert!(task(&server, "next")["paused"].is_null());

        act(
            "daily",
            "remember",
            &[("#remember-parameter", "sales.loaded_to"), ("#remember-value", "2026-03-25T08:05:00Z")],
        );
        let remembered = || task(&server, "daily")["task"]["state"]["remembered"].clone();
        assert_eq!(remembered()["sales.loaded_to"]["time"], "2026-03-25T08:05:00Z", "{}", remembered());
        act("daily", "forget", &[("#forget-parameter", "sales.loaded_to")]);
        assert!(remembered()["sales.loaded_to"].is_null());

        let days =
            [("#backfill-from", "2026-03-01"), ("#backfill-to", "2026-03-04"), ("#backfill-limit", "2")];
        act("daily", "backfill", &days);
        let stopped = || task(&server, "daily")["task"]["state"]["backfill"]["stopped"].clone();
        wait_until("its first chunk fails", || !stopped().is_null());
        browser.go("/console/tasks/daily");
        browser.picture("task-backfill-stopped");
        act("daily", "resume-backfill", &[]);
        wait_until("it fails again", || !stopped().is_null());
        act("daily", "cancel-backfill", &[]);
        assert!(task(&server, "daily")["task"]["state"]["backfill"].is_null());
    }
}

#[test]
fn a_value_is_set_and_deleted_and_what_is_none_is_refused_with_the_text_kept() {
    if !is_there() {
        return;
    }
    let (server, driver) = (server(), Driver::start());
    let value = |name: &str| {
        ask(&server, "torg.tasks.v1.CtlService/GetValues", &json!({"parameters": [name]}))["values"][0]
            .clone()
    };
    for (number, browser) in windows(&driver, &server, "admin") {
        let name = format!("browser.tried{number}");
        browser.go("/console/values");
        browser.unfold("set");
        let fields = |given| [("#parameter", &*name), ("#given", given), ("#set-reason", REASON)];
        for (field, text) in fields("many") {
            browser.put(field, text);
        }
        let (good, text) = browser.press("#set form button");
        assert!(!good && text.contains("many"), "{text}");
        // The form keeps its text for the next attempt.
        let typed = browser
            .script("return [...document.querySelectorAll('#set[open] input')].map((field) => field.value)");
        assert!(typed.to_string().contains("many") && typed.to_string().contains(REASON), "{typed}");
        browser.go("/console/values");
        browser.does_with("set", &fields("7"));
        assert_eq!(
            (&value(&name)["value"]["number"], &value(&name)["author"]),
            (&json!("7"), &json!("local"))
        );
        browser.wait_for(REASON);
        // The deletion asks for a confirmation.
        browser.does_with("delete", &[("#delete-reason", REASON)]);
        assert!(value(&name)["value"].is_null());
    }
}
