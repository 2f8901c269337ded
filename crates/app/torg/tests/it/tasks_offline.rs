//! `torg tasks` without a server: a data engineer's view of task files.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};

use crate::common::{Ended, run, torg};
use serde_json::Value;

const GOOD: &str = "tasks:\n  report:\n    when: {new_day: sales.loaded_to}\n    run: ./report.sh\n";
const WRONG: &str = "tasks:\n  report:\n    when: {new_dya: sales.loaded_to}\n    run: ./report.sh\n";
const LOG: &str = "time,parameter,value\n2026-03-25T08:00:00Z,sales.loaded_to,2026-03-25T07:00:00Z\n\
                   2026-03-26T08:00:00Z,sales.loaded_to,2026-03-26T07:00:00Z\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn warehouse() -> String {
    root().join("examples/warehouse").display().to_string()
}

/// Runs a command in a folder with these files.
fn tasks(files: &[(&str, &str)], arguments: &[&str]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    run(torg(&folder, &[&["tasks"], arguments].concat()))
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}{}", ended.stdout, ended.stderr))
}

#[test]
fn right_files_are_told_in_one_line() {
    let ended = tasks(&[], &["validate", &warehouse()]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(ended.stdout, "30 tasks in 5 files: the files are right\n");
}

#[test]
fn an_error_is_shown_with_its_line_and_ends_with_one() {
    let ended = tasks(&[("a.yaml", WRONG)], &["validate", "a.yaml"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stdout.contains("--> a.yaml:3:12"), "{}", ended.stdout);
    assert!(ended.stdout.contains("new_day"), "{}", ended.stdout);
    assert!(ended.stderr.starts_with("error: the task files have errors"), "{}", ended.stderr);
    let ended = tasks(&[("a.yaml", WRONG)], &["validate", "a.yaml", "--json"]);
    assert_eq!(ended.code, Some(1));
    let object = json(&ended);
    assert_eq!((&object["errors"][0]["line"], &object["tasks"]), (&3.into(), &0.into()));
}

#[test]
fn a_warning_is_shown_and_is_no_error() {
    let file = "tasks:\n  report:\n    when: {fresh: {of: sales.loaded_to, within: 1h}}\n    run: ./a.sh\n";
    let ended = tasks(&[("a.yaml", file)], &["validate", "a.yaml"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("warning[would_loop]"), "{}", ended.stdout);
    assert!(ended.stdout.ends_with("1 task in 1 file: the files are right\n"), "{}", ended.stdout);
    let object = json(&tasks(&[("a.yaml", file)], &["validate", "a.yaml", "--json"]));
    assert!(object["warnings"].as_array().unwrap().iter().any(|warning| warning["code"] == "would_loop"));
    assert_eq!(object["errors"], Value::Array(vec![]));
}

#[test]
fn files_that_are_not_there_are_named_by_every_command() {
    for arguments in [
        &["validate", "none.yaml"][..],
        &["graph", "none.yaml"],
        &["plan", "none.yaml", "a.yaml"],
        &["plan", "a.yaml", "none.yaml"],
        &["plan", "a.yaml", "a.yaml", "--values", "none.yaml"],
        &["simulate", "none.yaml", "--log", "log.csv"],
        &["simulate", "a.yaml", "--log", "none.yaml"],
        &["simulate", "a.yaml", "--log", "log.csv", "--compare", "none.yaml"],
    ] {
        let ended = tasks(&[("a.yaml", GOOD), ("log.csv", LOG)], arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{arguments:?}");
        assert!(ended.stderr.starts_with("error: none.yaml: "), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains("\nhint: "), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn wrong_usage_ends_with_two() {
    for arguments in [
        &["validate"][..],
        &["simulate", "a.yaml"],
        &["simulate", "a.yaml", "--log", "log.csv", "--duration", "5"],
        &["simulate", "a.yaml", "--log", "log.csv", "--from", "yesterday"],
        &["graph", "a.yaml", "--format", "png"],
    ] {
        let ended = tasks(&[("a.yaml", GOOD), ("log.csv", LOG)], arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn the_picture_in_the_documentation_is_made_of_the_graph_of_the_example() {
    let ended = tasks(&[], &["graph", &warehouse()]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout, std::fs::read_to_string(root().join("docs/images/warehouse.dot")).unwrap());
    let picture = std::fs::read_to_string(root().join("docs/images/warehouse.svg")).unwrap();
    for name in ["report_finance_monthly", "sales_euro.built_to"] {
        assert!(picture.contains(name), "{name}");
    }
}

#[test]
fn a_graph_is_printed_in_every_language_and_in_part() {
    let mermaid = tasks(&[], &["graph", &warehouse(), "--format", "mermaid"]);
    assert!(mermaid.stdout.starts_with("flowchart LR\n"), "{}", mermaid.stdout);
    let near = tasks(&[], &["graph", &warehouse(), "--format", "json", "--near", "margin", "--steps", "1"]);
    let near = json(&near);
    assert_eq!(near["tasks"], serde_json::json!(["margin"]));
    assert_eq!(
        near["parameters"],
        serde_json::json!(["margin.built_to", "products.made_to", "sales_euro.built_to"])
    );
    let nobody = tasks(&[], &["graph", &warehouse(), "--near", "nobody"]);
    assert_eq!(nobody.code, Some(1));
    assert!(
        nobody.stderr.starts_with("error: there is no task and no parameter \"nobody\""),
        "{}",
        nobody.stderr
    );
    let wrong = tasks(&[("a.yaml", WRONG)], &["graph", "a.yaml"]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(1), ""));
    assert!(wrong.stderr.contains("--> a.yaml:3:12"), "{}", wrong.stderr);
}

#[test]
fn the_schema_is_json() {
    let schema = json(&tasks(&[], &["schema"]));
    assert!(schema["properties"]["tasks"].is_object());
}

#[test]
fn a_simulation_prints_its_runs() {
    let files = [("a.yaml", GOOD), ("log.csv", LOG)];
    let ended = tasks(&files, &["simulate", "a.yaml", "--log", "log.csv", "--duration", "5m"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let first = "from 2026-03-25T08:00:00Z to 2026-03-26T09:00:00Z: 2 runs\n";
    assert!(ended.stdout.starts_with(first), "{}", ended.stdout);
    assert!(ended.stdout.contains("nothing was missed"), "{}", ended.stdout);
    let later = ["simulate", "a.yaml", "--log", "log.csv", "--from", "2026-03-25T12:00:00Z", "--json"];
    let object = json(&tasks(&files, &later));
    let starts: Vec<&Value> =
        object["firings"].as_array().unwrap().iter().map(|firing| &firing["at"]).collect();
    assert_eq!(starts, ["2026-03-25T12:00:00Z", "2026-03-26T08:00:00Z"]);
    assert_eq!(object["firings"][0]["seen"]["sales.loaded_to"], "2026-03-25T07:00:00Z");
}

#[test]
fn the_week_of_the_example_is_simulated_without_misses() {
    let log = format!("{}/week.csv", warehouse());
    let object = json(&tasks(&[], &["simulate", &warehouse(), "--log", &log, "--duration", "3m", "--json"]));
    assert!(object["firings"].as_array().unwrap().len() > 1000);
    for key in ["misses", "loops", "alerts"] {
        assert_eq!(object[key], Value::Array(vec![]), "{key}");
    }
}

#[test]
fn two_sets_of_files_are_compared_by_what_they_run() {
    let hourly = GOOD.replace("new_day", "new_hour");
    let log = format!("{LOG}2026-03-26T09:00:00Z,sales.loaded_to,2026-03-26T08:00:00Z\n");
    let files = [("a.yaml", GOOD), ("b.yaml", &hourly), ("log.csv", &log)];
    let ended = tasks(&files, &["simulate", "a.yaml", "--log", "log.csv", "--compare", "b.yaml"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stdout.starts_with("2 runs at the same time in both\n1 run only in the second"),
        "{}",
        ended.stdout
    );
    let compared = ["simulate", "a.yaml", "--log", "log.csv", "--compare", "b.yaml", "--json"];
    let object = json(&tasks(&files, &compared));
    assert_eq!((&object["same"], object["only_second"].as_array().unwrap().len()), (&2.into(), 1));
}

#[test]
fn a_wrong_log_is_refused_with_file_and_line() {
    for (log, said) in [
        ("time,parameter,value\nyesterday,a.b,1\n", "error: log.csv:2: \"yesterday\" is no time"),
        ("2026-03-25T08:00:00Z,a.b\n", "error: log.csv:1: time,parameter,value is expected"),
        ("# nothing\n", "error: log.csv: there is no change in the log"),
    ] {
        let ended = tasks(&[("a.yaml", GOOD), ("log.csv", log)], &["simulate", "a.yaml", "--log", "log.csv"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
        assert!(ended.stderr.starts_with(said), "{}", ended.stderr);
    }
    let turned = ["simulate", "a.yaml", "--log", "log.csv", "--to", "2026-03-01T00:00:00Z"];
    let ended = tasks(&[("a.yaml", GOOD), ("log.csv", LOG)], &turned);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("has to begin before it ends"), "{}", ended.stderr);
}

#[test]
fn a_plan_says_what_differs_and_what_fires_at_once() {
    let new = "tasks:\n  report:\n    when: {all: [{new_day: sales.loaded_to}, {new_day: rates.loaded_to}]}\n    \
               run: ./report.sh\n  more:\n    when: {new_day: sales.loaded_to}\n    run: ./more.sh\n  \
               waits:\n    when: {new_day: nothing.loaded_to}\n    run: ./waits.sh\n";
    let old = format!("{GOOD}  gone:\n    when: {{new_day: sales.loaded_to}}\n    run: ./gone.sh\n");
    let values =
        "parameter,value\nsales.loaded_to,2026-03-25T07:00:00Z\nrates.loaded_to,2026-03-25T07:00:00Z\n";
    let files = [("old.yaml", old.as_str()), ("new.yaml", new), ("values.csv", values)];
    let ended = tasks(&files, &["plan", "old.yaml", "new.yaml"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(
        ended.stdout,
        "+ more\n+ waits\n~ report: when\n- gone\nwhich tasks would fire at once is told with --values\n"
    );
    let with_values =
        ["plan", "old.yaml", "new.yaml", "--values", "values.csv", "--at", "2026-03-25T08:00:00Z"];
    let ended = tasks(&files, &with_values);
    assert!(ended.stdout.contains("\nfire at once: 1\nmore: "), "{}{}", ended.stdout, ended.stderr);
    let object = json(&tasks(&files, &[&with_values[..], &["--json"]].concat()));
    assert_eq!((&object["fires"][0]["task"], &object["fires"][0]["new"]), (&"more".into(), &true.into()));
    assert_eq!(object["gone"], serde_json::json!(["gone"]));
    let wrong =
        tasks(&[("a.yaml", GOOD), ("v.csv", "a.b,x\n")], &["plan", "a.yaml", "a.yaml", "--values", "v.csv"]);
    assert_eq!(wrong.code, Some(1));
    assert!(
        wrong.stderr.starts_with("error: v.csv:1: \"x\" is neither a whole number nor a time"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn a_plan_without_a_change_says_so() {
    let files = [("a.yaml", GOOD), ("b.yaml", GOOD), ("v.csv", "sales.loaded_to,2026-03-25T07:00:00Z\n")];
    let ended = tasks(&files, &["plan", "a.yaml", "b.yaml", "--values", "v.csv"]);
    assert_eq!(ended.stdout, "nothing changes\nno task fires at once because of it\n");
}
