//! Decisions on a store in memory, with runs that the test ends itself, in virtual time.

use std::time::Duration;

use crate::common::{World, parameter, until};
use planner::Phase;
use runs::{Reason, Values};
use store::{Batch, Read as _};
use tasks::{Filter, TaskEntity};
use triggers::Value;

const REPORT: &str = "
tasks:
  report:
    when: {grew: {of: sales.rows, by: 10}}
    run: ./report.sh
    sets: {report.made_of: sales.rows}
    retry: {first: 1m, most: 1h, attempts: 3}
";

#[tokio::test(start_paused = true)]
async fn a_change_is_followed_by_one_run_whose_success_is_remembered_with_what_it_sets() {
    let world = World::new();
    let process = world.with(REPORT).await;
    world.set("sales.rows", 5).await;
    let (id, spec) = world.runs.started("report").await;
    assert_eq!(spec.values, Values::from([("sales.rows".to_owned(), triggers::Value::Number(5))]));
    // What changes meanwhile is not what this run has seen.
    world.set("sales.rows", 11).await;
    assert_eq!(process.tasks.get("report").await.unwrap().entity.state.remembered, [].into());
    world.runs.succeed(&id);
    let remembers = async |number| {
        let state = process.tasks.get("report").await.unwrap().entity.state;
        state.remembered == [(parameter("sales.rows"), Value::Number(number))].into()
    };
    until("the first run is remembered", || remembers(5)).await;
    assert_eq!(world.value("report.made_of").await, Some(Value::Number(5)));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.runs.all().len(), 1, "six more are not ten");
    world.set("sales.rows", 15).await;
    let (id, _) = world.runs.started("report").await;
    world.runs.succeed(&id);
    until("the second run is remembered", || remembers(15)).await;
    let runs = process.tasks.runs("report", None, 10).await.unwrap();
    assert_eq!(runs.iter().map(|run| run.number).collect::<Vec<_>>(), [2, 1]);
    let events = process.tasks.events("report", None, 10).await.unwrap();
    assert!(events[0].what.contains(&"run 2 succeeded".to_owned()), "{:?}", events[0]);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_run_is_tried_again_after_a_pause_and_remembered_only_when_it_succeeds() {
    let world = World::new();
    let process = world.with(REPORT).await;
    world.set("sales.rows", 5).await;
    for attempt in 1..=2 {
        let (id, spec) = world.runs.started("report").await;
        assert_eq!(spec.attempt, attempt);
        world.runs.end(&id, Reason::Failed, Values::new());
        until("the failure is noted", async || {
            let state = process.tasks.get("report").await.unwrap().entity.state;
            state.attempts == attempt && state.remembered.is_empty()
        })
        .await;
    }
    let (id, _) = world.runs.started("report").await;
    world.runs.succeed(&id);
    until("the success is remembered", async || {
        !process.tasks.get("report").await.unwrap().entity.state.remembered.is_empty()
    })
    .await;
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_ends_while_no_process_is_there_is_noticed_and_one_that_goes_on_is_not_started_again() {
    let world = World::new();
    let two =
        format!("{REPORT}  stock:\n    when: {{grew: {{of: stock.rows, by: 1}}}}\n    run: ./stock.sh\n");
    let process = world.with(&two).await;
    world.set("sales.rows", 5).await;
    world.set("stock.rows", 1).await;
    let (report, _) = world.runs.started("report").await;
    let (stock, _) = world.runs.started("stock").await;
    process.kill().await;
    world.runs.succeed(&report);
    let process = world.start("here").await;
    until("the run that ended is remembered", async || {
        !process.tasks.get("report").await.unwrap().entity.state.remembered.is_empty()
    })
    .await;
    assert_eq!(world.runs.under_way("stock"), std::slice::from_ref(&stock));
    assert_eq!(world.runs.all().len(), 2);
    world.runs.succeed(&stock);
    until("the run that went on is remembered", async || {
        !process.tasks.get("stock").await.unwrap().entity.state.remembered.is_empty()
    })
    .await;
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn another_process_decides_when_one_is_killed_and_waits_for_the_runs_of_its_place() {
    let world = World::new();
    let first = world.start("there").await;
    world.apply(&first.tasks, REPORT).await;
    world.set("sales.rows", 5).await;
    let (id, _) = world.runs.started("report").await;
    first.kill().await;
    let second = world.start("here").await;
    until("the second process decides", async || second.tasks.is_leader()).await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(world.runs.all().len(), 1, "a run at another place may still be under way");
    world.runs.succeed(&id);
    // Whoever comes back to that place tells.
    let third = world.start("there").await;
    until("the end is remembered", async || {
        !second.tasks.get("report").await.unwrap().entity.state.remembered.is_empty()
    })
    .await;
    assert!(second.tasks.is_leader() && !third.tasks.is_leader());
    // No process returns to that place: its run counts as lost when its time is over.
    world.set("sales.rows", 50).await;
    let (_, spec) = world.runs.started("report").await;
    second.kill().await;
    until("the third process decides", async || third.tasks.is_leader()).await;
    tokio::time::sleep(spec.timeout / 2).await;
    assert_eq!(world.runs.all().len(), 2);
    tokio::time::sleep(spec.timeout).await;
    until("it is tried again", async || world.runs.all().len() == 3).await;
    third.stop().await;
}

#[tokio::test(start_paused = true)]
async fn people_pause_run_and_mend_with_a_reason_that_stands_in_the_history() {
    let world = World::new();
    let process = world.with(REPORT).await;
    let tasks = &process.tasks;
    until("the task is taken up", async || tasks.get("report").await.is_ok()).await;
    assert!(tasks.signed("anna", " ").unwrap_err().to_string().contains("a reason is needed"));
    let signed = tasks.signed("anna", "the disk is full").unwrap();
    tasks.pause("report", &signed).await.unwrap();
    world.set("sales.rows", 5).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(world.runs.all().is_empty());
    let explained = tasks.explain("report").await.unwrap().to_string();
    assert!(explained.contains("paused by anna") && explained.contains("the disk is full"), "{explained}");
    let again = tasks.pause("report", &signed).await.unwrap_err().to_string();
    assert!(again.contains("paused already"), "{again}");
    tasks.run_now("report", true, &signed).await.unwrap();
    let (id, _) = world.runs.started("report").await;
    world.runs.succeed(&id);
    until("the run is remembered", async || {
        !tasks.get("report").await.unwrap().entity.state.remembered.is_empty()
    })
    .await;
    tasks.delete_remembered("report", None, &signed).await.unwrap();
    tasks.resume("report", &signed).await.unwrap();
    let (_, spec) = world.runs.started("report").await;
    assert_eq!(spec.values.len(), 1);
    assert_eq!(tasks.kill("report", &signed).await.unwrap(), 2);
    until("the killed run has failed", async || {
        tasks.get("report").await.unwrap().entity.state.attempts == 1
    })
    .await;
    let events = tasks.events("report", None, 100).await.unwrap();
    let by_anna = events.iter().filter(|event| event.author == "anna" && event.reason == "the disk is full");
    let what: Vec<&str> = by_anna.map(|event| event.what[0].as_str()).collect();
    assert_eq!(
        what,
        [
            "a kill of run 2 was requested",
            "resumed",
            "all that was remembered is forgotten",
            "a run was requested, and its success is to be remembered",
            "paused"
        ]
    );
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn other_task_files_take_the_place_of_the_old_ones_and_a_wrong_file_changes_nothing() {
    let world = World::new();
    let process = world.with(REPORT).await;
    let tasks = &process.tasks;
    world.set("sales.rows", 5).await;
    let (id, _) = world.runs.started("report").await;
    let signed = tasks.signed("anna", "a test").unwrap();
    let wrong = "tasks:\n  stock:\n    when: {grow: {of: a.b, by: 1}}\n    run: x\n";
    let error = tasks.apply(vec![("w.yaml".into(), wrong.into())], Some(&signed)).await.unwrap_err();
    assert!(error.to_string().contains("w.yaml:3"), "{error}");
    assert_eq!(tasks.definitions().await.unwrap().number, 1);
    let other = "tasks:\n  stock:\n    when: {grew: {of: sales.rows, by: 1}}\n    run: ./stock.sh\n";
    let asked = tasks.apply(vec![("o.yaml".into(), other.into())], None).await.unwrap();
    assert_eq!(asked.planned.to_string().lines().next(), Some("tasks: 1 new, 0 changed, 1 gone"));
    assert_eq!(asked.planned.fires.len(), 1);
    world.apply(tasks, other).await;
    let (stock, _) = world.runs.started("stock").await;
    world.runs.succeed(&stock);
    world.runs.succeed(&id);
    until("the run of the task that is gone has its end", async || {
        tasks.runs("report", None, 1).await.unwrap()[0].end_time.is_set()
    })
    .await;
    let listed = tasks.list(&Filter { limit: 10, ..Filter::default() }, |_| true).await.unwrap();
    let names: Vec<(&str, bool)> =
        listed.iter().map(|task| (&*task.entity.name, task.definition.is_none())).collect();
    assert_eq!(names, [("report", true), ("stock", false)]);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn tasks_are_listed_in_pages_by_the_beginning_of_their_names() {
    let world = World::new();
    let file = |names: &[&str]| {
        let task = |name: &&str| format!("  {name}: {{when: {{grew: {{of: sales.rows, by: 1}}}}, run: x}}\n");
        format!("tasks:\n{}", names.iter().map(task).collect::<String>())
    };
    let process = world.with(&file(&["a", "b1", "b2", "b4", "c"])).await;
    let tasks = &process.tasks;
    // One is gone and still known, and new ones stand between those that were known before.
    world.apply(tasks, &file(&["a", "b", "b1", "b3", "b4", "b5", "c", "d"])).await;
    let page = async |prefix: &str, after: Option<&str>, limit| {
        let filter = Filter { prefix: prefix.into(), after: after.map(str::to_owned), limit };
        let listed = tasks.list(&filter, |task| *task.entity.name != *"b4").await.unwrap();
        listed.iter().map(|task| task.entity.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(page("b", None, 3).await, ["b", "b1", "b2"]);
    assert_eq!(page("b", Some("b2"), 3).await, ["b3", "b5"]);
    assert_eq!(page("", Some("b5"), 1).await, ["c"]);
    assert_eq!(page("", Some("c"), 1).await, ["d"]);
    assert_eq!(page("", None, 100).await, ["a", "b", "b1", "b2", "b3", "b5", "c", "d"]);
    assert!(page("b", Some("c"), 9).await.is_empty());
    assert!(page("x", None, 9).await.is_empty());
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_fires_at_the_very_moment_at_which_time_alone_makes_its_trigger_hold() {
    let world = World::new();
    let due =
        "tasks:\n  due:\n    when: {all: [{new_day: plan.made_for}, {today: plan.made_for}]}\n    run: x\n";
    let process = world.with(due).await;
    let tomorrow = Value::Time("2023-11-15T05:00:00Z".parse().unwrap());
    let change = ctl::Change::set(parameter("plan.made_for"), tomorrow);
    world.ctl.set(vec![change], "planner", "").await.unwrap();
    until("the planner knows", async || {
        let explained = process.tasks.explain("due").await;
        explained.is_ok_and(|explained| explained.verdict.is_some_and(|verdict| verdict.next.is_some()))
    })
    .await;
    assert!(world.runs.all().is_empty());
    world.runs.started("due").await;
    let midnight = "2023-11-15T00:00:00Z".parse::<jiff::Timestamp>().unwrap();
    let late = world.clock.now().as_ms() - midnight.as_millisecond();
    assert!((0..100).contains(&late), "{late} ms after midnight");
    let explained = process.tasks.explain("due").await.unwrap();
    assert!(matches!(explained.phase, Some(Phase::Running { run: 1, .. })), "{explained}");
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_run_needs_and_is_not_there_is_the_error_of_the_run() {
    let world = World::new();
    let call = "tasks:\n  call:\n    when: {grew: {of: a.b, by: 1}}\n    run:\n      http: {url: 'http://x.example/', headers: {authorization: 'Bearer ${NOT_THERE}'}}\n";
    let process = world.with(call).await;
    world.set("a.b", 1).await;
    until("the run has failed", async || {
        let listed = process.tasks.get("call").await;
        listed.is_ok_and(|task| task.entity.state.error.is_some_and(|error| error.contains("NOT_THERE")))
    })
    .await;
    assert!(world.runs.all().is_empty());
    let state = process.tasks.get("call").await.unwrap().entity.state;
    assert!(matches!(state.phase, Phase::Waiting { .. }), "{:?}", state.phase);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_row_cannot_be_read_holds_up_no_other() {
    let world = World::new();
    let two =
        format!("{REPORT}  stock:\n    when: {{grew: {{of: stock.rows, by: 1}}}}\n    run: ./stock.sh\n");
    let process = world.with(&two).await;
    world.set("sales.rows", 5).await;
    let (id, _) = world.runs.started("report").await;
    world.runs.succeed(&id);
    until("the run has its end", async || {
        !process.tasks.get("report").await.unwrap().entity.state.remembered.is_empty()
    })
    .await;
    process.kill().await;
    let key = <TaskEntity as watcher::Entity>::key(0, &"report".to_owned());
    let mut batch = Batch::new();
    let row = world.store.get_one(&key).await.unwrap().unwrap();
    batch.put(key, row.version + 1, b"\xff\xff".to_vec());
    assert!(world.store.commit(batch).await.unwrap().is_applied());
    let process = world.start("here").await;
    world.set("sales.rows", 50).await;
    world.set("stock.rows", 1).await;
    let (id, _) = world.runs.started("stock").await;
    world.runs.succeed(&id);
    let error = process.tasks.explain("report").await.unwrap_err().to_string();
    assert!(error.contains("report"), "{error}");
    assert_eq!(world.runs.all().len(), 2);
    process.stop().await;
}
