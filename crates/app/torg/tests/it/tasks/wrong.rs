//! Errors of invalid input name the remedy.

use serde_json::{Value, json};

use crate::common::{run, torg};
use crate::tasks::rig::Rig;

const TASK: &str = "tasks: {report: {when: {new_day: sales.loaded_to}, run: 'true'}}";

#[test]
fn wrong_commands_are_refused_with_what_to_do() {
    let rig = Rig::with(TASK);
    for arguments in [
        &["explain", "reports"][..],
        &["runs", "reports"],
        &["history", "reports"],
        &["log", "reports"],
        &["pause", "reports", "--reason", "x"],
        &["kill", "reports", "--reason", "x"],
        &["state", "get", "reports"],
        &["backfill", "reports", "--from", "2026-03-01", "--to", "2026-03-02", "--reason", "x"],
    ] {
        let said = rig.refused(1, arguments);
        assert!(said.contains("there is no task \"reports\""), "{arguments:?}: {said}");
        assert!(said.contains("\nhint: `torg tasks list` shows the tasks that there are"), "{said}");
    }
    for arguments in [
        &["run", "report"][..],
        &["pause", "report"],
        &["state", "set", "report", "sales.loaded_to", "now"],
        &["state", "delete", "report"],
        &["backfill", "report", "--from", "2026-03-01", "--to", "2026-03-02"],
        &["apply", "tasks.yaml"],
    ] {
        let said = rig.refused(2, arguments);
        assert!(said.contains("required") && said.contains("--reason <TEXT>"), "{arguments:?}: {said}");
    }
    for (code, arguments, part) in [
        (1, &["run", "report", "--reason", " "][..], "a reason is needed"),
        (1, &["run", "report", "--reason", &"x".repeat(1001)], "reason: at most 1000 characters"),
        (2, &["state", "set", "report", "sales.loaded_to", "soon", "--reason", "x"], "is no value"),
        (2, &["state", "set", "report", "sales", "now", "--reason", "x"], "there is no dot in it"),
        (1, &["log", "report", "--run", "7"], "has no run 7"),
        (2, &["log", "report", "--run", "0"], "0 is not in"),
        (2, &["list", "--standing", "asleep"], "possible values: idle, queued"),
        (1, &["apply", "nowhere.yaml", "--reason", "x"], "nowhere.yaml"),
        (1, &["log", "report"], "has no run"),
    ] {
        let said = rig.refused(code, arguments);
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
    let folder = tempfile::tempdir().unwrap();
    let nobody = run(torg(&folder, &["tasks", "list", "--server", "http://127.0.0.1:1"]));
    assert_eq!(nobody.code, Some(1));
    assert!(nobody.stderr.contains("hint: start `torg serve`"), "{}", nobody.stderr);
}

#[test]
fn files_with_mistakes_change_nothing_and_every_mistake_is_told_with_its_line() {
    let rig = Rig::with(TASK);
    rig.write(
        "wrong.yaml",
        "tasks:\n  report:\n    when: {new_dya: sales.loaded_to}\n    run: 'true'\n    pool: none\n",
    );
    for arguments in [&["apply", "wrong.yaml", "--reason", "x"][..], &["plan", "wrong.yaml"]] {
        let said = rig.refused(1, arguments);
        assert!(said.contains("wrong.yaml:3:12") && said.contains("new_day"), "{said}");
        assert!(
            said.contains("wrong.yaml:5:11") && said.contains("error: the task files have errors"),
            "{said}"
        );
    }
    let text = "tasks: {t: {when: {new_dya: a.b}, run: 'true'}, u: {when: {new_day: ab}, run: 'true'}}";
    let file = |name: &str, text: &str| json!({"name": name, "text": text});
    let request = json!({"files": [file("a.yaml", "tasks: {}"), file("b.yaml", text)], "dryRun": true});
    let (status, refused) = rig.call("ApplyTasks", &request);
    assert_eq!((status, &refused["code"]), (400, &json!("invalid_argument")));
    assert_eq!(refused["details"][0]["debug"]["reason"], "WRONG_TASK_FILES");
    let faults = refused["details"][1]["debug"]["fieldViolations"].as_array().unwrap();
    let of = |at: usize, key: &str| faults[at][key].as_str().unwrap();
    assert_eq!((of(0, "field"), of(0, "reason")), ("files[1].text", "UNKNOWN_CONDITION"));
    assert!(of(0, "description").contains("--> b.yaml:1:20"), "{}", of(0, "description"));
    assert_eq!((of(1, "field"), of(1, "reason")), ("files[1].text", "BAD_PARAMETER"));
    for (request, reason, field) in [
        (json!({"reason": "x"}), "REQUIRED", "files"),
        (json!({"files": [file("a.yaml", TASK)]}), "REQUIRED", "reason"),
        (json!({"files": [file("", TASK)], "reason": "x"}), "REQUIRED", "files[0].name"),
        (json!({"files": [file("a", TASK), file("a", TASK)], "reason": "x"}), "TWICE", "files[1].name"),
    ] {
        let expected = ("invalid_argument".to_owned(), reason.to_owned(), field.to_owned());
        assert_eq!(rig.reason("ApplyTasks", &request), expected, "{request}");
    }
    assert!(rig.done(&["files"]).starts_with("# deployment 1 "));
    assert!(rig.done(&["list"]).contains("report"));
}

#[test]
fn wrong_calls_name_their_field_and_calls_that_cannot_be_done_say_so() {
    let rig = Rig::with(TASK);
    let of = |more: Value| {
        let mut request = json!({"task": "report", "reason": "x"});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request
    };
    let invalid = "invalid_argument";
    let cannot = "failed_precondition";
    for (method, request, expected) in [
        ("PauseTask", json!({"reason": "x"}), (invalid, "REQUIRED", "task")),
        ("PauseTask", json!({"task": "report"}), (invalid, "REQUIRED", "reason")),
        ("PauseTask", json!({"task": "x".repeat(201), "reason": "x"}), (invalid, "LIMIT_EXCEEDED", "task")),
        ("RunTask", json!({"task": "reports", "reason": "x"}), ("not_found", "TASK_NOT_FOUND", "")),
        ("ExplainTask", json!({"task": "reports"}), ("not_found", "TASK_NOT_FOUND", "")),
        ("ListTasks", json!({"pageSize": 501}), (invalid, "LIMIT_EXCEEDED", "page_size")),
        ("ListTasks", json!({"standing": [0]}), (invalid, "UNKNOWN", "standing[0]")),
        ("ListTasks", json!({"standing": [99]}), (invalid, "UNKNOWN", "standing[0]")),
        (
            "ListRuns",
            json!({"task": "report", "before": u64::MAX.to_string()}),
            (invalid, "OUT_OF_RANGE", "before"),
        ),
        ("ReadLog", json!({"task": "report", "run": 5}), ("not_found", "RUN_NOT_FOUND", "")),
        ("SetRemembered", of(json!({"parameter": "sales.loaded_to"})), (invalid, "REQUIRED", "value")),
        (
            "SetRemembered",
            of(json!({"parameter": "a.b", "value": {"number": 5}})),
            (invalid, "NOT_OF_TRIGGER", "parameter"),
        ),
        ("SetRemembered", of(json!({"value": {"number": 5}})), (invalid, "REQUIRED", "parameter")),
        ("DeleteRemembered", of(json!({"parameter": "sales"})), (invalid, "WRONG_NAME", "parameter")),
        ("DeleteRemembered", of(json!({})), (cannot, "NOT_REMEMBERED", "")),
        ("ResumeTask", of(json!({})), (cannot, "NOT_PAUSED", "")),
        ("CancelTask", of(json!({})), (cannot, "NOT_QUEUED", "")),
        ("KillRun", of(json!({})), (cannot, "NOT_RUNNING", "")),
        ("ResumeBackfill", of(json!({})), (cannot, "NO_BACKFILL", "")),
        ("CancelBackfill", of(json!({})), (cannot, "NO_BACKFILL", "")),
    ] {
        let (code, reason, field) = rig.reason(method, &request);
        assert_eq!((&*code, &*reason, &*field), expected, "{method} {request}");
    }
}
