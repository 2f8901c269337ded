//! Everybody may be killed at any time.

use std::process::Stdio;

use runs::{Error, Options, Reason, Runner, Status, Verb};
use rustix::process::{Pid, Signal, kill_process};

use crate::common::{PROGRAM, Place, eventually, id, open, pid_of, processes_of, shell};

fn kill(pid: u32) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).unwrap();
}

/// A command that counts how often it was started, and goes on when it may.
fn counted(place: &Place) -> runs::Spec {
    let (count, go) = (place.file("count"), place.file("go"));
    let line = format!("echo x >> {}; cat {}; echo gone on", count.display(), go.display());
    rustix::fs::mkfifoat(rustix::fs::CWD, &go, rustix::fs::Mode::RWXU).unwrap();
    shell(line)
}

fn let_go(place: &Place) {
    std::fs::write(place.file("go"), "").unwrap();
}

fn starts(place: &Place) -> String {
    std::fs::read_to_string(place.file("count")).unwrap_or_default()
}

#[tokio::test]
async fn a_run_goes_on_when_its_process_is_killed_and_another_one_picks_it_up() {
    let place = Place::new();
    let spec = counted(&place);
    place.starter("start", "r1", &spec).kill();
    let handle = place.runner.start(&id("r1"), &spec).await.unwrap();
    assert!(!handle.is_first);
    pid_of(&place.runner, "r1").await;
    let_go(&place);
    let end = handle.wait().await.unwrap();
    assert_eq!((end.reason, starts(&place)), (Reason::Done, "x\n".to_owned()));
    assert_eq!(place.log("r1").await, "gone on\n");
}

#[tokio::test]
async fn wherever_a_process_is_killed_no_run_is_lost_or_doubled() {
    for started in [0, 1, 2, 5, 9, 13, 19, 20] {
        let place = Place::new();
        let spec = shell(format!("echo $TORG_RUN >> {}", place.file("count").display()));
        let runs: Vec<String> = (10..30).map(|number| format!("r{number}")).collect();
        place.starter_of_many("start", &runs.join(","), &spec, started).kill();
        // The next one is killed too, wherever it came to.
        place.starter_of_many("start", &runs.join(","), &spec, started / 2).kill();
        for run in &runs {
            assert_eq!(place.execute(run, &spec).await.reason, Reason::Done);
        }
        let counted = starts(&place);
        let mut counted: Vec<&str> = counted.lines().collect();
        counted.sort_unstable();
        assert_eq!(counted, runs, "killed after {started}");
    }
}

#[tokio::test]
async fn a_run_of_a_killed_process_can_be_killed_by_another_one() {
    let place = Place::new();
    let starter = place.starter("start", "r1", &shell("echo ready; exec sleep 1000"));
    place.until_said("r1", "ready").await;
    starter.kill();
    assert!(place.runner.kill(&id("r1")).await.unwrap());
    assert_eq!(place.runner.wait(&id("r1")).await.unwrap().reason, Reason::Killed);
}

#[tokio::test]
async fn a_run_that_ended_while_nobody_looked_is_found_ended() {
    let place = Place::new();
    let spec = counted(&place);
    let starter = place.starter("start", "r1", &spec);
    eventually("it was started", async || (!starts(&place).is_empty()).then_some(())).await;
    starter.kill();
    let_go(&place);
    let end = place.folder_of("r1").join("end.json");
    eventually("it has ended", async || end.exists().then_some(())).await;
    let Status::Ended(end) = open(&place.runs()).status(&id("r1")).await.unwrap() else {
        panic!("not ended")
    };
    assert_eq!(end.reason, Reason::Done);
}

#[tokio::test]
async fn a_run_whose_supervisor_is_killed_has_died_and_nothing_of_it_is_left() {
    let place = Place::new();
    let line = "sleep 1000 & setsid sleep 1000 & echo ready; wait";
    let handle = place.runner.start(&id("r1"), &shell(line)).await.unwrap();
    place.until_said("r1", "ready").await;
    kill(pid_of(&place.runner, "r1").await);
    let end = handle.wait().await.unwrap();
    assert_eq!(end.reason, Reason::Died);
    assert_eq!(processes_of(&place.folder_of("r1")), Vec::<String>::new());
    let status = place.runner.status(&id("r1")).await.unwrap();
    assert!(matches!(status, Status::Died { noticed, .. } if noticed == end.ended), "{status:?}");
    // It is not started again, whoever tries; it can be removed, and its log is there until then.
    let again = place.runner.start(&id("r1"), &shell("true")).await.unwrap();
    assert_eq!(again.wait().await.unwrap().reason, Reason::Died);
    assert_eq!(place.log("r1").await, "ready\n");
    place.runner.remove(&id("r1")).await.unwrap();
}

#[tokio::test]
async fn the_command_dies_with_its_supervisor_before_anybody_looks() {
    let place = Place::new();
    place.runner.start(&id("r1"), &shell("echo ready; exec sleep 1000")).await.unwrap();
    place.until_said("r1", "ready").await;
    kill(pid_of(&place.runner, "r1").await);
    eventually("it is gone", async || processes_of(&place.folder_of("r1")).is_empty().then_some(())).await;
}

#[tokio::test]
async fn a_crash_between_claim_and_start_leads_neither_to_two_runs_nor_to_none() {
    let place = Place::new();
    let spec = counted(&place);
    place.starter("claim", "r1", &spec).kill();
    assert!(place.folder_of("r1").join("spec.json").exists());
    assert_eq!(place.runner.status(&id("r1")).await.unwrap(), Status::NotStarted);
    assert!(matches!(place.runner.wait(&id("r1")).await, Err(Error::NotStarted(_))));
    let handle = place.runner.start(&id("r1"), &spec).await.unwrap();
    assert!(!handle.is_first);
    let_go(&place);
    assert_eq!(handle.wait().await.unwrap().reason, Reason::Done);
    assert_eq!(starts(&place), "x\n");
}

#[tokio::test]
async fn of_many_supervisors_one_starts_the_command_also_if_they_come_late() {
    let place = Place::new();
    let spec = counted(&place);
    place.starter("claim", "r1", &spec).kill();
    let supervisor = || {
        let mut command = std::process::Command::new(PROGRAM);
        command.arg("supervise").arg(place.folder_of("r1")).stdin(Stdio::null()).spawn().unwrap()
    };
    let mut supervisors: Vec<_> = (0..8).map(|_| supervisor()).collect();
    eventually("it was started", async || (!starts(&place).is_empty()).then_some(())).await;
    let_go(&place);
    for supervisor in &mut supervisors {
        assert!(supervisor.wait().unwrap().success());
    }
    assert!(supervisor().wait().unwrap().success());
    assert_eq!(starts(&place), "x\n");
    assert_eq!(place.runner.wait(&id("r1")).await.unwrap().reason, Reason::Done);
}

#[tokio::test]
async fn a_supervisor_that_cannot_begin_is_told_and_the_run_can_be_started_later() {
    let place = Place::new();
    let broken = |program: &str| {
        let (folder, supervisor, clock) =
            (place.runs(), Verb::of(program, "--no-such-verb"), clock::Clock::system());
        Runner::open(Options { folder, supervisor, callbacks: None, clock }).unwrap()
    };
    let refused = broken("/nowhere/torg").start(&id("r1"), &shell("true")).await;
    assert!(matches!(refused, Err(Error::Machine { .. })));
    let failed = broken("/bin/ls").start(&id("r1"), &shell("true")).await.unwrap().wait().await;
    assert!(
        matches!(&failed, Err(Error::Supervisor { output, .. }) if output.contains("no-such-verb")),
        "{failed:?}"
    );
    assert_eq!(place.execute("r1", &shell("true")).await.reason, Reason::Done);
}
