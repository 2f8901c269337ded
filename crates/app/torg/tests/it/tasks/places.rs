//! The queue: pools, and priorities.

use serde_json::json;

use crate::tasks::rig::{Rig, until};

/// Waits until the test creates the file `go`.
const HELD: &str = "while [ ! -e go ]; do sleep 0.05; done";

#[test]
fn a_full_pool_keeps_others_waiting_in_their_order_and_the_queue_says_why() {
    let rig = Rig::with(&format!(
        r#"
limits: {{running: 4, pools: {{warehouse: 1}}}}
defaults: {{pool: warehouse}}
tasks:
  first: {{when: {{grew: {{of: shop.rows, by: 1}}}}, priority: 9, run: "echo first >> order.txt; {HELD}"}}
  second: {{when: {{grew: {{of: shop.rows, by: 1}}}}, priority: 5, run: "echo second >> order.txt"}}
  third: {{when: {{grew: {{of: shop.rows, by: 1}}}}, priority: 1, run: "echo third >> order.txt"}}
"#
    ));
    assert_eq!(rig.done(&["queue"]), "0 of 4 places are taken, 0 tasks wait\n");
    rig.set(&["shop.rows=1"]);
    let queue =
        until("two that wait", || Some(rig.json(&["queue"])).filter(|queue| queue["waitingCount"] == "2"));
    assert_eq!((&queue["runningMax"], &queue["runningCount"]), (&json!(4), &json!("1")));
    assert_eq!(
        (&queue["running"][0]["task"], &queue["running"][0]["pool"]),
        (&json!("first"), &json!("warehouse"))
    );
    let names: Vec<&str> =
        queue["waiting"].as_array().unwrap().iter().map(|one| one["task"].as_str().unwrap()).collect();
    assert_eq!(names, ["second", "third"]);
    let blocked = "the pool warehouse is full with 1: first runs";
    let shown = until("the reason", || Some(rig.done(&["queue"])).filter(|shown| shown.contains(blocked)));
    assert!(shown.starts_with("1 of 4 places are taken, 2 tasks wait\n"), "{shown}");
    let explained = rig.until_explained("third", "place 2 of 2");
    assert!(explained.contains(&format!("not started: {blocked}")), "{explained}");

    // A task that was cancelled in the queue waits until a parameter changes.
    assert_eq!(rig.done(&["cancel", "third", "--reason", "not today"]), "third is out of the queue\n");
    rig.until_explained("third", "by local (not today), until one of its parameters changes");
    rig.write("go", "");
    assert_eq!(rig.until_lines("order.txt", 2), ["first", "second"]);
    rig.until_ended("second", 1);
    assert!(rig.refused(1, &["cancel", "third", "--reason", "x"]).contains("the task is not queued"));
    rig.set(&["shop.rows=2"]);
    assert_eq!(rig.until_lines("order.txt", 5)[2..], ["first", "second", "third"]);
}

#[test]
fn a_place_is_kept_for_a_more_important_task_whose_data_is_being_made_and_that_is_told() {
    let rig = Rig::with(&format!(
        r#"
limits: {{running: 2}}
tasks:
  loader:
    when: {{grew: {{of: shop.rows, by: 1}}}}
    run: "{HELD}; echo loader >> order.txt"
    sets: {{sales.rows: shop.rows}}
  dashboard:
    when: {{grew: {{of: sales.rows, by: 1}}}}
    priority: 10
    hold_back: 10m
    run: echo dashboard >> order.txt
  archive:
    when: {{grew: {{of: archive.rows, by: 1}}}}
    run: echo archive >> order.txt
"#
    ));
    rig.set(&["shop.rows=1"]);
    rig.until_explained("loader", "run 1 is under way");
    rig.set(&["archive.rows=1"]);
    let explained = rig.until_explained("archive", "not started: held back for dashboard until 20");
    assert!(explained.contains("because loader runs and produces sales.rows"), "{explained}");
    assert!(rig.done(&["queue"]).contains("held back for dashboard until 20"));
    rig.until_explained("dashboard", "others are held back for it until 20");
    rig.write("go", "");
    let order = rig.until_lines("order.txt", 3);
    assert_eq!(order[0], "loader");
    rig.until_ended("archive", 1);
    rig.until_ended("dashboard", 1);
}
