//! Runs that cannot be started at once: whatever becomes of them, there are never two, and what
//! people want of them is not forgotten.

use std::time::Duration;

use crate::common::{World, until};
use tasks::Tasks;

const REPORT: &str = "
tasks:
  report:
    when: {grew: {of: sales.rows, by: 1}}
    run: {shell: ./report.sh, timeout: 1m}
    retry: {first: 1s, most: 1s}
";
const NOTHING: &str = "tasks: {}\n";

async fn has_leader(tasks: &Tasks, run: u64) {
    until("a run is decided", async || {
        let listed = tasks.get("report").await;
        listed.is_ok_and(|task| task.entity.state.running().is_some_and(|(number, _)| number == run))
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_run_is_counted_from_its_decision_so_that_others_know_when_it_is_over() {
    let world = World::new();
    let first = world.with(REPORT).await;
    world.runs.refuse(true);
    world.set("sales.rows", 1).await;
    has_leader(&first.tasks, 1).await;
    first.kill().await;
    tokio::time::sleep(Duration::from_secs(70)).await;
    world.runs.refuse(false);
    let second = world.start("here").await;
    let (id, spec) = world.runs.started("report").await;
    assert!(id.ends_with(".1"), "{id}");
    // Another process would take it for lost two minutes after its decision.
    assert!(spec.timeout <= Duration::from_secs(20), "{:?}", spec.timeout);
    world.runs.succeed(&id);
    // One whose time is over before anything was started has failed, and is not started any more.
    world.runs.refuse(true);
    world.set("sales.rows", 2).await;
    has_leader(&second.tasks, 2).await;
    second.kill().await;
    tokio::time::sleep(Duration::from_secs(100)).await;
    world.runs.refuse(false);
    let third = world.start("here").await;
    let (id, spec) = world.runs.started("report").await;
    assert!(id.ends_with(".3") && spec.timeout == Duration::from_secs(60), "{id}: {:?}", spec.timeout);
    let runs = third.tasks.runs("report", None, 10).await.unwrap();
    let failed = runs.iter().find(|run| run.number == 2).unwrap();
    assert!(failed.error.contains("its time was over"), "{failed:?}");
    third.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_end_was_told_is_not_started_by_a_process_that_begins_to_decide() {
    let world = World::new();
    let first = world.start("there").await;
    world.apply(&first.tasks, REPORT).await;
    world.runs.refuse(true);
    world.set("sales.rows", 1).await;
    has_leader(&first.tasks, 1).await;
    first.kill().await;
    // As long as what is left of the process in this test still tries.
    tokio::time::sleep(Duration::from_secs(10)).await;
    // Its task is gone when its place comes back: it is told to have failed. Then the task is there
    // again.
    let office = world.open("office").await;
    world.apply(&office, NOTHING).await;
    let second = world.start("there").await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(!second.tasks.is_leader());
    world.apply(&office, REPORT).await;
    world.runs.refuse(false);
    world.runs.started("report").await;
    let started: Vec<String> = world.runs.all().into_keys().collect();
    assert!(started.len() == 1 && started[0].ends_with(".2"), "{started:?}");
    second.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_to_be_killed_before_it_could_be_started_is_killed_when_it_is() {
    let world = World::new();
    let process = world.with(REPORT).await;
    world.runs.refuse(true);
    world.set("sales.rows", 1).await;
    has_leader(&process.tasks, 1).await;
    let signed = process.tasks.signed("anna", "a mistake").unwrap();
    assert_eq!(process.tasks.kill("report", &signed).await.unwrap(), 1);
    tokio::time::sleep(Duration::from_secs(3)).await;
    world.runs.refuse(false);
    until("it is killed", async || {
        world.runs.all().iter().any(|(id, run)| id.ends_with(".1") && run.killed && run.end.is_some())
    })
    .await;
    process.stop().await;
}
