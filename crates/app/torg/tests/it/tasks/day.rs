//! A whole day with two tasks.

use serde_json::json;

use crate::tasks::rig::Rig;

const TASKS: &str = r#"
tasks:
  report:
    about: Daily report
    when: {new_day: sales.loaded_to}
    run: |
      echo "made for $TORG_VALUE_SALES_LOADED_TO"
      echo "$TORG_VALUE_SALES_LOADED_TO" >> report.txt
    sets: {report.made_to: sales.loaded_to}
  mail:
    when: {new_day: report.made_to}
    run: echo "$TORG_TASK $TORG_ATTEMPT" >> mail.txt
"#;

const MORE: &str = r#"
tasks:
  report:
    about: Daily report
    when: {new_day: sales.loaded_to}
    run: echo "$TORG_VALUE_SALES_LOADED_TO again" >> report.txt
    sets: {report.made_to: sales.loaded_to}
  hourly:
    when: {new_hour: sales.loaded_to}
    run: echo hour >> hourly.txt
"#;

#[test]
fn a_day_from_the_first_file_to_the_next_release_and_a_restart() {
    let rig = Rig::start(&[]);
    assert_eq!(rig.done(&["list"]), "there is no task yet: torg tasks apply FILES --reason WHY\n");
    assert!(rig.done(&["files"]).starts_with("no task files are at work"));
    rig.write("tasks.yaml", TASKS);
    let planned = rig.done(&["plan", "tasks.yaml"]);
    assert_eq!(planned, "+ mail\n+ report\nno task fires at once because of it\n");
    assert!(rig.done(&["list"]).starts_with("there is no task yet"), "a plan changes nothing");
    let applied = rig.apply(TASKS);
    assert!(applied.ends_with("\ndeployment 1 of 2 tasks is at work\n"), "{applied}");

    let before = rig.explain("report");
    assert!(before.starts_with("report: idle, because its trigger does not hold\n"), "{before}");
    assert!(before.contains("sales.loaded_to came into a new day: there is no value"), "{before}");

    rig.set(&["sales.loaded_to=2026-03-25T08:00:00Z"]);
    assert_eq!(rig.until_lines("report.txt", 1), ["2026-03-25T08:00:00Z"]);
    assert_eq!(rig.until_lines("mail.txt", 1), ["mail 1"], "what one sets starts the other");
    assert_eq!(rig.value("report.made_to").as_deref(), Some("2026-03-25T08:00:00Z"));
    rig.until_ended("mail", 1);

    let after = rig.until_explained("report", "remembered 2026-03-25 08:00");
    assert!(
        after.contains("report: idle") && after.contains("not yet: 1 calendar day more is needed"),
        "{after}"
    );
    let leaf = &rig.json(&["explain", "report"])["leaves"][0];
    assert_eq!(leaf["parameter"], "sales.loaded_to");
    assert_eq!(leaf["leaf"], "sales.loaded_to came into a new day");
    assert_eq!(leaf["current"], json!({"time": "2026-03-25T08:00:00Z"}));
    assert_eq!(leaf["remembered"], leaf["current"]);
    assert_eq!((&leaf["difference"], &leaf["threshold"]), (&json!("0 calendar days"), &json!("a new day")));
    assert_eq!((leaf.get("holds"), &leaf["why"]), (None, &json!("not yet: 1 calendar day more is needed")));

    assert_eq!(rig.done(&["log", "report"]), "made for 2026-03-25T08:00:00Z\n");
    assert_eq!(rig.done(&["log", "report", "--run", "1", "--follow"]), "made for 2026-03-25T08:00:00Z\n");
    let runs = rig.done(&["runs", "report"]);
    let row: Vec<&str> = runs.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!((row[0], &row[3..]), ("1", &["succeeded", "1", "its", "trigger", "holds"][..]), "{runs}");
    let history = rig.done(&["history", "report"]);
    assert!(history.contains("run 1 starts, attempt 1: its trigger holds"), "{history}");
    assert!(history.contains("run 1 succeeded"), "{history}");
    assert_eq!(rig.done(&["history", "report", "--limit", "1"]).lines().count(), 2);
    let listed = rig.done(&["list"]);
    let names: Vec<&str> = listed.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["mail", "report"]);

    // Another hour of the same day starts nothing; the next day does.
    rig.set(&["sales.loaded_to=2026-03-25T23:00:00Z"]);
    rig.set(&["sales.loaded_to=2026-03-26T01:00:00Z"]);
    assert_eq!(rig.until_lines("report.txt", 2)[1], "2026-03-26T01:00:00Z");
    rig.until_lines("mail.txt", 2);
    rig.until_ended("mail", 2);

    rig.write("more.yaml", MORE);
    let planned = rig.done(&["plan", "more.yaml"]);
    assert!(
        planned.starts_with("+ hourly\n~ report: run\n- mail\nfire at once: 1\nhourly: fires"),
        "{planned}"
    );
    let plan = rig.json(&["plan", "more.yaml"]);
    assert_eq!(plan["fires"][0]["firstSeen"], json!(["sales.loaded_to"]));
    assert_eq!(plan["changed"], json!({"report": {"aspects": ["run"]}}));
    assert_eq!((&plan["gone"], plan.get("deployment")), (&json!(["mail"]), None));
    rig.done(&["apply", "more.yaml", "--reason", "hours, too"]);
    rig.until_lines("hourly.txt", 1);
    rig.until_ended("hourly", 1);
    let gone = rig.done(&["list", "--standing", "gone"]);
    assert!(gone.lines().nth(1).unwrap().starts_with("mail  gone"), "{gone}");
    assert!(rig.explain("mail").starts_with("mail: its definition is gone"));

    let rig = rig.restarted(&[]);
    let files = rig.done(&["files"]);
    assert!(
        files.starts_with("# deployment 2 by local at 20") && files.contains(": hours, too\n# more.yaml\n")
    );
    assert!(files.trim_end().ends_with(MORE.trim()), "{files}");
    rig.set(&["sales.loaded_to=2026-03-27T01:00:00Z"]);
    assert_eq!(rig.until_lines("report.txt", 3)[2], "2026-03-27T01:00:00Z again");
    rig.until_lines("hourly.txt", 2);
}

#[test]
fn files_of_the_configuration_are_put_to_work_at_the_start() {
    let rig = Rig::start(&[]);
    rig.write("tasks.yaml", TASKS);
    let rig = rig.restarted(&[("TORG_TASKS_PATH", "tasks.yaml")]);
    rig.set(&["sales.loaded_to=2026-03-25T08:00:00Z"]);
    rig.until_lines("mail.txt", 1);
    rig.until_ended("mail", 1);
    let rig = rig.restarted(&[("TORG_TASKS_PATH", "tasks.yaml")]);
    assert!(
        rig.done(&["files"]).starts_with("# deployment 1 by configuration"),
        "the same files are no change"
    );
    rig.set(&["sales.loaded_to=2026-03-26T08:00:00Z"]);
    assert_eq!(rig.until_lines("report.txt", 2).len(), 2);
}
