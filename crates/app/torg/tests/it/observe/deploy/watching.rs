//! The alerts, their runbooks in the guide of operations, and the dashboard.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{all, measures, read, yaml};

/// The panels of the dashboard.
fn panels() -> Vec<Value> {
    let dashboard: Value = serde_json::from_str(&read("deploy/grafana/torg.json")).unwrap();
    dashboard["panels"].as_array().unwrap().clone()
}

/// The expression of each alert.
fn alerts() -> BTreeMap<String, String> {
    let file = yaml("deploy/prometheus/alerts.yml");
    let rules = file["groups"][0]["rules"].as_array().unwrap();
    let text = |rule: &Value, key: &str| rule[key].as_str().unwrap().to_owned();
    rules.iter().map(|rule| (text(rule, "alert"), text(rule, "expr"))).collect()
}

/// Every problem that a process reports, with its measure and its alert. A note is intended by an
/// operator; it has an alert only where it may be forgotten.
const PROBLEMS: [(&str, &str, &str); 24] = [
    ("consumer_stuck", "torg_consumers_stuck", "TorgConsumersStuck"),
    ("export_late", "torg_export_lag_seconds", "TorgExportLate"),
    ("feed_unreachable", "torg_feeds_failing", "TorgFeedsUnreachable"),
    ("feeds_unserved", "torg_feed_shards_unserved", "TorgFeedsUnserved"),
    ("load_stuck", "torg_feed_loads_stuck", "TorgLoadsStuck"),
    ("load_waits", "torg_feed_loads", "TorgLoadsWait"),
    ("not_ready", "torg_problems", "TorgProblems"),
    ("photos_missing", "torg_photos_missing", "TorgPhotosMissing"),
    ("process_gone", "up", "TorgGone"),
    ("queue_late", "torg_stage_oldest_due_seconds", "TorgQueueLate"),
    ("shard_unserved", "torg_shards_unserved", "TorgPartsUnserved"),
    ("stage_down", "torg_stage_down", "TorgStageDown"),
    ("stage_parked", "torg_stage_parked", "TorgVisitsParked"),
    ("stage_paused", "torg_stage_paused_since_seconds", "TorgStagePausedLong"),
    ("store_away", "torg_store_answers", "TorgStoreAway"),
    ("store_damaged", "torg_store_damaged", "TorgStoreDamaged"),
    ("store_failed", "torg_store_takes_writes", "TorgStoreTakesNoWrites"),
    ("store_full", "torg_store_takes_writes", "TorgStoreTakesNoWrites"),
    ("store_read_only", "torg_store_takes_writes", "TorgStoreTakesNoWrites"),
    ("task_failing", "torg_tasks_failing", "TorgTasksFailing"),
    ("task_regressed", "torg_tasks_regressed", "TorgTasksRegressed"),
    ("task_silent", "torg_tasks_silent", "TorgTasksSilent"),
    ("tasks_undecided", "torg_tasks_undecided", "TorgTasksUndecided"),
    ("topics_away", "torg_topics_answers", "TorgTopicsAway"),
];

/// Problems without an alert: those that pass by themselves, and those that have no measure because
/// a process cannot see them in itself.
const WITHOUT_ALERT: [&str; 4] = ["figures_full", "looks_fail", "stopping", "time_moves"];

/// Another test checks that such an alert has a runbook.
#[test]
fn every_problem_has_an_alert_by_a_measure_that_the_dashboard_shows() {
    // Every text in the form of a code, where problems are created, is a code.
    let made = read("crates/app/node/src/figures/problems.rs");
    let is_code = |text: &&str| {
        text.contains('_') && text.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
    };
    let codes: BTreeSet<&str> = made.split('"').filter(is_code).chain(["stopping"]).collect();
    let known = PROBLEMS.iter().map(|(code, ..)| *code).chain(WITHOUT_ALERT);
    assert_eq!(known.collect::<BTreeSet<_>>(), codes);

    let (alerts, panels, mut shown) = (alerts(), Value::Array(panels()), Vec::new());
    all(&panels, "expr", &mut shown);
    let shown: BTreeSet<String> = shown.into_iter().flat_map(measures).collect();
    // Measures of faults have known suffixes, also those without a problem.
    let names = read("crates/app/node/src/figures/names.rs");
    let ends = ["_damaged", "_failing", "_missing", "_stuck", "_undecided", "_unserved"];
    let wrong = names.split('"').filter(|name| ends.iter().any(|end| name.ends_with(end)));
    let wrong: BTreeSet<String> = wrong.map(|name| format!("torg_{name}")).collect();
    assert!(wrong.contains("torg_store_damaged") && wrong.len() >= 7, "{wrong:?}");
    for measure in &wrong {
        let told = alerts.values().any(|expression| measures(expression).contains(measure));
        assert!(told && shown.contains(measure), "{measure} has no alert or no panel");
    }
    for (code, measure, alert) in PROBLEMS {
        let expression = alerts.get(alert).unwrap_or_else(|| panic!("{code}: there is no alert {alert}"));
        // Whether a process is up is a measure of Prometheus.
        if measure == "up" {
            assert!(expression.starts_with("up{"), "{code}: {expression}");
            continue;
        }
        assert!(measures(expression).contains(measure), "{code}: no {measure} in {expression}");
        let of_paused = measure == "torg_stage_paused_since_seconds" && shown.contains("torg_stage_paused");
        assert!(shown.contains(measure) || of_paused, "{code}: the dashboard does not show {measure}");
    }
    assert_eq!(alerts["TorgProblems"], "torg_problems{severity=\"error\"} > 0");
}

#[test]
fn a_number_of_the_dashboard_is_of_now_and_has_a_colour_for_how_bad_it_is_and_a_text_for_not_known() {
    let panels = panels();
    let numbers: Vec<&Value> = panels.iter().filter(|panel| panel["type"] == "stat").collect();
    assert!(numbers.len() >= 12, "{}", numbers.len());
    for panel in numbers {
        let title = panel["title"].as_str().unwrap();
        for target in panel["targets"].as_array().unwrap() {
            assert!(target["instant"] == true && target["range"] == false, "{title}: {target}");
        }
        let defaults = &panel["fieldConfig"]["defaults"];
        assert!(defaults["noValue"].as_str().is_some_and(|text| !text.is_empty()), "{title}");
        assert_eq!(defaults["color"]["mode"], "thresholds", "{title}");
        assert_eq!(defaults["thresholds"]["mode"], "absolute", "{title}");
        let steps = defaults["thresholds"]["steps"].as_array().unwrap();
        assert!(steps[0]["value"].is_null(), "{title}: the first colour is for all below");
        if title == "Version" {
            assert_eq!(panel["options"]["textMode"], "name", "a number of processes is no version");
            continue;
        }
        // All counts here are good at zero, or at one and more.
        assert!(steps.len() == 2 && steps[1]["value"] == 1, "{title}: {steps:?}");
        assert_ne!(steps[0]["color"], steps[1]["color"], "{title}");
    }
}

#[test]
fn no_panel_of_the_dashboard_lies_on_another() {
    let (mut taken, mut ids) = (BTreeMap::new(), BTreeSet::new());
    for panel in panels() {
        let at = |key: &str| panel["gridPos"][key].as_u64().unwrap();
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{}", panel["title"]);
        assert!(at("x") + at("w") <= 24, "{}", panel["title"]);
        let (across, down) = (at("x")..at("x") + at("w"), at("y")..at("y") + at("h"));
        for place in across.flat_map(|x| down.clone().map(move |y| (x, y))) {
            let under = taken.insert(place, panel["title"].clone());
            assert_eq!(under, None, "{} lies on it", panel["title"]);
        }
    }
}

#[test]
fn every_alert_says_what_to_do_in_the_guide_of_operations() {
    let (alerts, guide) = (yaml("deploy/prometheus/alerts.yml"), read("docs/operations.md"));
    let (mut names, mut runbooks) = (Vec::new(), Vec::new());
    all(&alerts, "alert", &mut names);
    all(&alerts, "runbook", &mut runbooks);
    assert!(names.len() > 10 && names.len() == runbooks.len(), "{names:?}");
    for (name, runbook) in names.iter().zip(runbooks) {
        assert_eq!(runbook, format!("docs/operations.md#{}", name.to_lowercase()));
        assert!(guide.contains(&format!("\n### {name}\n")), "{name} is not in the guide");
    }
    let headings = guide.lines().filter_map(|line| line.strip_prefix("### Torg"));
    for heading in headings {
        assert!(names.contains(&&*format!("Torg{heading}")), "there is no alert Torg{heading} any more");
    }
}
