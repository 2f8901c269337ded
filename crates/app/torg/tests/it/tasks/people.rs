//! Manual actions: each has a reason, and each is in the history.

use serde_json::json;

use crate::tasks::rig::{Rig, squeezed, until};

const LOADER: &str = r#"
tasks:
  loader:
    when: {grew: {of: shop.rows, by: 10}}
    retry: {first: 1s, most: 1s}
    run: echo "$TORG_VALUE_SHOP_ROWS" >> loaded.txt
"#;

#[test]
fn a_task_is_paused_and_resumed_and_run_by_hand() {
    let rig = Rig::with(LOADER);
    assert_eq!(rig.done(&["pause", "loader", "--reason", "the shop moves"]), "loader is paused\n");
    let said = rig.refused(1, &["pause", "loader", "--reason", "again"]);
    assert!(said.contains("paused already, by local: the shop moves"), "{said}");
    assert!(said.contains("hint: `torg tasks explain TASK`"), "{said}");
    rig.set(&["shop.rows=5"]);
    let paused = rig.until_explained("loader", "trigger: fires");
    assert!(paused.starts_with("loader: idle, because it is paused\npaused by local at 20"), "{paused}");
    let listed = rig.done(&["list", "--standing", "paused"]);
    assert!(listed.contains("paused by local"), "{listed}");
    assert!(rig.done(&["list", "--standing", "running,queued"]).starts_with("no task is so"));

    // A manual run starts anyway, and its values are not remembered unless the user asks for that.
    rig.done(&["run", "loader", "--reason", "look"]);
    assert_eq!(rig.until_lines("loaded.txt", 1), ["5"]);
    rig.until_ended("loader", 1);
    assert!(rig.done(&["state", "get", "loader"]).starts_with("nothing is remembered"));
    rig.done(&["run", "loader", "--record", "--reason", "and remember"]);
    rig.until_lines("loaded.txt", 2);
    rig.until_ended("loader", 2);
    assert_eq!(rig.json(&["state", "get", "loader"]), json!({"shop.rows": {"number": "5"}}));

    assert_eq!(rig.done(&["resume", "loader", "--reason", "moved"]), "loader goes on\n");
    assert!(rig.refused(1, &["resume", "loader", "--reason", "twice"]).contains("is not paused"));
    rig.set(&["shop.rows=14"]);
    rig.set(&["shop.rows=15"]);
    assert_eq!(rig.until_lines("loaded.txt", 3)[2], "15");
    rig.until_ended("loader", 3);

    let history = squeezed(&rig.done(&["history", "loader", "--limit", "100"]));
    for (what, reason) in [
        ("paused", "the shop moves"),
        ("a run was requested", "look"),
        ("a run was requested, and its success is to be remembered", "and remember"),
        ("resumed", "moved"),
    ] {
        assert!(history.contains(&format!(" local {what} {reason}\n")), "{reason}: {history}");
    }
    let causes: Vec<bool> =
        rig.until_ended("loader", 3).iter().map(|run| run["cause"]["manual"].is_object()).collect();
    assert_eq!(causes, [false, true, true]);
}

#[test]
fn what_is_remembered_is_shown_set_and_deleted() {
    let rig = Rig::with(LOADER);
    rig.set(&["shop.rows=100"]);
    rig.until_lines("loaded.txt", 1);
    rig.until_ended("loader", 1);
    let shown = rig.done(&["state", "get", "loader"]);
    let row: Vec<&str> = shown.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row, ["shop.rows", "100", "100"]);

    let set = ["state", "set", "loader", "shop.rows", "-5", "--reason", "load all again"];
    assert_eq!(rig.done(&set), "loader remembers -5 of shop.rows\n");
    assert_eq!(rig.until_lines("loaded.txt", 2)[1], "100", "it has grown by more than ten since then");
    rig.until_ended("loader", 2);
    let delete = ["state", "delete", "loader", "default/shop.rows", "--reason", "and again"];
    assert_eq!(rig.done(&delete), "loader does not remember shop.rows any more\n");
    rig.until_lines("loaded.txt", 3);
    rig.until_ended("loader", 3);
    rig.done(&["state", "delete", "loader", "--reason", "all of it"]);
    rig.until_lines("loaded.txt", 4);
    rig.until_ended("loader", 4);

    let said = rig.refused(1, &["state", "set", "loader", "other.rows", "5", "--reason", "x"]);
    assert!(said.contains("does not read other.rows: it reads shop.rows"), "{said}");
    let said = rig.refused(1, &["state", "delete", "loader", "other.rows", "--reason", "x"]);
    assert!(said.contains("nothing is remembered of other.rows"), "{said}");
}

#[test]
fn a_run_is_killed_and_counts_as_failed() {
    let rig = Rig::with(
        r"
tasks:
  slow:
    when: {grew: {of: shop.rows, by: 1}}
    retry: {first: 1s, most: 1s}
    run: |
      echo begun
      echo $$ >> pids.txt
      [ -e quick ] || sleep 1000
",
    );
    let said = rig.refused(1, &["kill", "slow", "--reason", "x"]);
    assert!(said.contains("slow is not running"), "{said}");
    rig.set(&["shop.rows=1"]);
    let pid = rig.until_lines("pids.txt", 1).remove(0);
    let log = until("what it said", || Some(rig.done(&["log", "slow"])).filter(|log| !log.is_empty()));
    assert_eq!(log, "begun\n");
    rig.write("quick", "");
    let said = rig.done(&["kill", "slow", "--reason", "it hangs"]);
    assert_eq!(said, "run 1 of slow is being killed: it counts as failed\n");
    until("the end of the process", || {
        (!std::path::Path::new(&format!("/proc/{pid}")).exists()).then_some(())
    });
    let runs = rig.until_ended("slow", 2);
    assert_eq!((&runs[1]["outcome"], &runs[1]["attempt"]), (&json!("OUTCOME_FAILED"), &json!(1)));
    assert!(runs[1]["error"].as_str().unwrap().contains("kill"), "{}", runs[1]);
    assert_eq!((&runs[0]["outcome"], &runs[0]["attempt"]), (&json!("OUTCOME_SUCCEEDED"), &json!(2)));
    let history = rig.done(&["history", "slow", "--limit", "100"]);
    assert!(squeezed(&history).contains(" local a kill of run 1 was requested it hangs\n"), "{history}");
}
