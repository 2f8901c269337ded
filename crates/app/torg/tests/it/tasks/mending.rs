//! Failures, and values that were moved back: their explanations and their remedies.

use serde_json::json;

use crate::tasks::rig::{Rig, Service, until};

#[test]
fn a_command_that_fails_is_tried_again_and_explained_and_told_until_it_gives_up() {
    let hook = Service::start();
    let url = format!("http://{}/alerts", hook.address);
    let rig = Rig::start(&[("TORG_TASKS_WEBHOOK_URL", &url)]);
    rig.apply(
        r#"
tasks:
  brittle:
    when: {grew: {of: shop.rows, by: 1}}
    retry: {first: 1s, most: 1s, attempts: 2}
    run: |
      echo "attempt $TORG_ATTEMPT" >> tried.txt
      echo "no such table" >&2
      [ -e mended ]
"#,
    );
    rig.set(&["shop.rows=1"]);
    rig.until_lines("tried.txt", 2);
    let explained = rig.until_explained("brittle", "gave up at");
    assert!(explained.contains("failing: 2 attempts in a row failed"), "{explained}");
    assert!(explained.contains("last error: "), "{explained}");
    assert_eq!(rig.lines("tried.txt"), ["attempt 1", "attempt 2"]);
    let history = rig.done(&["history", "brittle", "--limit", "100"]);
    assert!(history.contains("run 1 failed") && history.contains("run 2 starts, attempt 2"), "{history}");
    assert!(history.contains("told: failing: 2 attempts in a row failed"), "{history}");
    assert_eq!(rig.done(&["log", "brittle", "--run", "2"]), "no such table\n");
    let listed = rig.done(&["list", "--standing", "failing"]);
    assert!(listed.contains("rests since") && listed.contains("failing (2 attempts)"), "{listed}");

    let kinds: Vec<String> = [hook.next(), hook.next()]
        .map(|heard| {
            assert_eq!(heard.body["task"], "brittle");
            assert!(!heard.header("idempotency-key").is_empty());
            heard.body["kind"].as_str().unwrap().to_owned()
        })
        .into();
    assert_eq!(kinds, ["failing", "gave_up"]);

    // The task waits until a parameter changes.
    rig.write("mended", "");
    rig.set(&["shop.rows=2"]);
    rig.until_lines("tried.txt", 3);
    assert_eq!(hook.next().body["kind"], "recovered");
    assert_eq!(rig.json(&["state", "get", "brittle"]), json!({"shop.rows": {"number": "2"}}));
}

#[test]
fn silence_that_lasts_too_long_is_told_once_and_its_end_too() {
    let hook = Service::start();
    let url = format!("http://{}/", hook.address);
    let rig = Rig::start(&[("TORG_TASKS_WEBHOOK_URL", &url)]);
    rig.apply("tasks: {quiet: {when: {new_day: shop.closed_to}, run: 'true', max_silence: 1s}}");
    let told = hook.next();
    assert_eq!((&told.body["task"], &told.body["kind"]), (&json!("quiet"), &json!("silent")));
    assert!(rig.explain("quiet").contains("which is too long: 1s is allowed"));
    assert!(rig.done(&["list", "--standing", "silent"]).contains("silent for too long"));
    rig.set(&["shop.closed_to=2026-03-25T08:00:00Z"]);
    assert_eq!(hook.next().body["kind"], "silence_ended");
}

#[test]
fn what_was_moved_back_is_mended_by_each_of_the_commands_that_are_printed() {
    let rig = Rig::with(
        r#"
tasks:
  report:
    when: {new_day: sales.loaded_to}
    run: echo "$TORG_VALUE_SALES_LOADED_TO" >> report.txt
  rows:
    when: {grew: {of: dwh/sales.rows, by: 1}}
    run: echo "$TORG_VALUE_DWH_SALES_ROWS" >> rows.txt
"#,
    );
    let mut runs = 0;
    for (round, verb) in ["state set", "state delete", "run"].into_iter().enumerate() {
        let day = 10 + round;
        rig.set(&[&format!("sales.loaded_to=2026-03-{day}T08:00:00Z"), &format!("dwh/sales.rows={day}")]);
        runs += 1;
        rig.until_lines("report.txt", runs);
        rig.until_lines("rows.txt", runs);
        rig.until_ended("report", runs);
        rig.until_ended("rows", runs);
        let back = ["set", "sales.loaded_to=2026-03-01T07:30:00Z", "dwh/sales.rows=-4", "--back"];
        rig.ctl(&[&back[..], &["--reason", "loaded in vain"]].concat());
        for task in ["report", "rows"] {
            let explained = rig.until_explained(task, "fix it with one of");
            let listed = until("the mark", || {
                Some(rig.done(&["list", task, "--standing", "regressed"]))
                    .filter(|list| list.contains("regressed: "))
            });
            assert!(listed.contains("sales."), "{listed}");
            let line = explained.lines().find(|line| line.trim().starts_with(&format!("torg tasks {verb}")));
            rig.paste(line.unwrap_or_else(|| panic!("no {verb} in {explained}")));
            until("the end of the regression", || (!rig.explain(task).contains("regressed")).then_some(()));
        }
        if verb != "state set" {
            // Both the deleted value and the recorded run cause a run.
            runs += 1;
            assert_eq!(rig.until_lines("report.txt", runs)[runs - 1], "2026-03-01T07:30:00Z");
            assert_eq!(rig.until_lines("rows.txt", runs)[runs - 1], "-4");
            rig.until_ended("report", runs);
            rig.until_ended("rows", runs);
        }
        rig.until_explained("report", "remembered 2026-03-01 07:30");
    }
    let history = rig.done(&["history", "report", "--limit", "100"]);
    assert!(history.contains("told: sales.loaded_to was moved back below what is remembered"), "{history}");
    assert!(history.contains("told: sales.loaded_to is no longer below what is remembered"), "{history}");
    assert!(history.contains("pasted from explain"), "{history}");
}
