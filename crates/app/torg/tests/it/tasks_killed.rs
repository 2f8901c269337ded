//! `kill -9` of the process that decides on tasks, again and again, with active runs: each is
//! picked up, none is lost, none is doubled.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{PATIENCE, Server};
use serde_json::{Value, json};

/// Tasks that wait for values from outside, and one that waits for all of them.
const TASKS: [&str; 4] = ["cars", "flats", "jobs", "pets"];
const ROUNDS: i64 = 8;

/// Each run records its start and its end; a concurrent second run of a task finds the lock of the
/// first.
const SCRIPT: &str = r#"
      mkdir "lock.$TORG_TASK" || echo "$TORG_RUN" >> doubled
      echo "$TORG_RUN $SEEN" >> "began.$TORG_TASK"
      sleep 0.4
      echo "$TORG_RUN" >> "ended.$TORG_TASK"
      rmdir "lock.$TORG_TASK"
"#;

fn task_file() -> String {
    let mut parts = vec!["limits: {running: 8}\ntasks:\n".to_owned()];
    for task in TASKS {
        parts.push(format!(
            "  {task}:\n    when: {{grew: {{of: {task}.rows, by: 1}}}}\n    sets: {{report.{task}: {task}.rows}}\n    \
             retry: {{first: 1s, most: 1s, attempts: 100}}\n    run:\n     shell: |\n      \
             SEEN=$TORG_VALUE_{}_ROWS{SCRIPT}",
            task.to_uppercase()
        ));
    }
    let all: Vec<String> =
        TASKS.iter().map(|task| format!("{{grew: {{of: report.{task}, by: 1}}}}")).collect();
    parts.push(format!(
        "  all:\n    when: {{any: [{}]}}\n    retry: {{first: 1s, most: 1s, attempts: 100}}\n    run:\n     shell: |\n      \
         SEEN=$(echo $TORG_VALUE_REPORT_CARS $TORG_VALUE_REPORT_FLATS $TORG_VALUE_REPORT_JOBS $TORG_VALUE_REPORT_PETS){SCRIPT}",
        all.join(", ")
    ));
    parts.concat()
}

fn lines(folder: &Path, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn set_all(server: &Server, number: i64) {
    let change =
        |task: &&str| json!({"parameter": format!("{task}.rows"), "value": {"number": number.to_string()}});
    let request = json!({"changes": TASKS.iter().map(change).collect::<Vec<_>>()});
    let answer = server.post_json("/torg.tasks.v1.CtlService/SetValues", &request.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
}

fn until(what: &str, mut so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE * 2;
    while !so() {
        assert!(Instant::now() < until, "it never came to be: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_scheduler_picks_up_its_runs_again_and_none_is_lost_or_doubled() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let place = folder.path();
    std::fs::write(place.join("tasks.yaml"), task_file()).unwrap();
    let environment = [("TORG_TASKS_PATH", "tasks.yaml"), ("TORG_TASKS_LEASE_MS", "1000")];
    let mut server = Server::start_in(&folder, &environment);
    for round in 1..=ROUNDS {
        set_all(&server, round);
        // Another moment every time: before the start of the runs, while they run, after their end.
        let began = lines(place, "began.cars").len();
        if round % 2 == 0 {
            until("a run began", || lines(place, "began.cars").len() > began);
        }
        if round % 4 == 0 {
            until("a run ended", || lines(place, "ended.cars").len() > began);
        }
        server.signal("KILL");
        server.wait();
        server = Server::start_in(&folder, &environment);
    }
    let last = ROUNDS.to_string();
    let expected: String = [last.as_str(); TASKS.len()].join(" ");
    until("the last values were seen by everybody", || {
        let seen = |task: &str, what: &str| {
            lines(place, &format!("began.{task}"))
                .last()
                .is_some_and(|line| line.ends_with(&format!(" {what}")))
        };
        TASKS.iter().all(|task| seen(task, &last)) && seen("all", &expected)
    });
    until("everything has ended", || {
        TASKS.iter().chain(&["all"]).all(|task| {
            lines(place, &format!("ended.{task}")).len() == lines(place, &format!("began.{task}")).len()
        })
    });
    until("the last success is remembered", || {
        let parameters: Vec<String> = TASKS.iter().map(|task| format!("report.{task}")).collect();
        let request = json!({"parameters": parameters});
        let answer = server.post_json("/torg.tasks.v1.CtlService/GetValues", &request.to_string()).json();
        answer["values"].as_array().is_some_and(|values| values.iter().all(|value| number(value) == last))
    });
    assert_eq!(lines(place, "doubled"), [] as [String; 0], "two runs of a task at the same time");
    for task in TASKS.iter().chain(&["all"]) {
        let began: Vec<String> = lines(place, &format!("began.{task}"));
        let ids: Vec<&str> = began.iter().map(|line| line.split(' ').next().unwrap()).collect();
        let ended: BTreeSet<String> = lines(place, &format!("ended.{task}")).into_iter().collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(unique.len(), ids.len(), "{task}: a run began twice: {ids:?}");
        assert!(ids.iter().all(|id| ended.contains(*id)), "{task}: a run was lost: {ids:?} {ended:?}");
    }
    for task in TASKS {
        // Every run has seen another value: no successful run was repeated.
        let seen: Vec<String> = lines(place, &format!("began.{task}"));
        let seen: BTreeMap<&str, &str> = seen.iter().map(|line| line.split_once(' ').unwrap()).collect();
        let values: BTreeSet<&&str> = seen.values().collect();
        assert_eq!(values.len(), seen.len(), "{task}: {seen:?}");
    }
    server.stop();
}

fn number(value: &Value) -> String {
    value["value"]["number"].as_str().unwrap_or_default().to_owned()
}
