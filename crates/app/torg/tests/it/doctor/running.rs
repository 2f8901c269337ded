//! The doctor's findings about a running process.

use crate::doctor::rig::{Patient, Told};

#[test]
fn of_a_process_that_is_well_nothing_is_told() {
    let patient = Patient::new();
    let server = patient.serve();
    // Stages and figures of the process follow a moment after it is ready.
    let told = patient.examine_until(&[], |told| told.wrong().is_empty());
    told.assert_well();
    told.assert_told("stages", "ok", "the process finds nothing wrong with its stages", "");
    told.assert_told("process", "ok", "is ready", "");
    told.assert_told("process", "ok", concat!("version ", env!("CARGO_PKG_VERSION")), "");
    told.assert_told("clock", "ok", "the clock of the process at", "");
    told.assert_mentioned("machine", &["files may be open at once in the process at http://"]);
    told.assert_told("store", "ok", "has it open", "");
    told.assert_told("topics", "ok", "are there, as configured", "");
    server.stop();
}

#[test]
fn a_paused_stage_is_mentioned() {
    let patient = Patient::new();
    let _server = patient.serve();
    patient.done(&["stages", "pause", "expiry", "--reason", "it is too strict"]);
    let mentions = |told: &Told| told.mentions("stages", &["expiry", "paused"]);
    patient.examine_until(&[], mentions).assert_mentioned("stages", &["expiry", "paused"]);
}

#[test]
fn a_task_that_fails_is_told() {
    let patient = Patient::new();
    let _server = patient.serve();
    patient.write(
        "tasks.yaml",
        "tasks: {broken: {when: {new_day: sales.loaded_to}, run: exit 1, retry: {attempts: 1}}}",
    );
    patient.done(&["tasks", "apply", "tasks.yaml", "--reason", "to see it fail"]);
    patient.done(&["ctl", "set", "sales.loaded_to=2026-03-25T08:05:00Z"]);
    let told = patient.examine_until(&[], |told| told.mentions("tasks", &["broken"]));
    told.assert_mentioned("tasks", &["broken"]);
}

#[test]
fn a_server_that_is_named_and_does_not_answer_is_told() {
    let url = format!("http://127.0.0.1:{}", testkit::free_port());
    let told = Patient::new().examine(&["--server", &url]);
    told.assert_told("process", "error", &format!("no server answers at {url}"), "--server");
}

#[test]
fn who_may_not_ask_is_told_so() {
    let patient = Patient::new().with(&[("TORG_ACCESS_MODE", "required")]);
    let key = patient.done(&["keys", "add", "operations", "--role", "admin"]);
    let _server = patient.serve();
    let told = patient.examine(&[]);
    told.assert_told("process", "warning", "this needs a bearer token", "TORG_TOKEN");
    told.assert_mentioned("machine", &["in a process that is started from here"]);
    let told = patient.examine(&[]);
    assert!(!told.mentions("access", &["nobody can be admin"]), "what cannot be seen is not judged");
    patient.examine(&["--token", key.trim()]).assert_told("access", "ok", "role admin", "");
}
