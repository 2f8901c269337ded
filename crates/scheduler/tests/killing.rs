//! A run that somebody wants killed before it could be started.

mod common;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::{Runs, World, until};
use runs::{End, Piece, RunId, Spec};
use scheduler::{Carrier, CarryError, Scheduler, Setup};
use tokio::sync::watch;

/// Runs that begin when the test allows it, as on a machine that is busy.
#[derive(Clone)]
struct Late {
    runs: Runs,
    may_begin: watch::Receiver<bool>,
}

#[async_trait]
impl Carrier for Late {
    async fn start(&self, run: &RunId, spec: &Spec) -> Result<(), CarryError> {
        self.may_begin.clone().wait_for(|may| *may).await.unwrap();
        self.runs.start(run, spec).await
    }

    async fn wait(&self, run: &RunId) -> Result<End, CarryError> {
        self.runs.wait(run).await
    }

    async fn kill(&self, run: &RunId) -> Result<bool, CarryError> {
        if !self.runs.all().contains_key(run.as_str()) {
            return Err(CarryError::NotStarted("it was not started".to_owned()));
        }
        self.runs.kill(run).await
    }

    async fn log(&self, run: &RunId, offset: u64, bytes_max: usize) -> Result<Piece, CarryError> {
        self.runs.log(run, offset, bytes_max).await
    }

    async fn remove(&self, run: &RunId) -> Result<(), CarryError> {
        self.runs.remove(run).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_to_be_killed_before_it_could_be_started_is_killed_when_it_was() {
    let world = World::new();
    let (begin, may_begin) = watch::channel(false);
    let setup = Setup {
        store: &world.store,
        ctl: world.ctl.clone(),
        topic: None,
        clock: world.clock.clone(),
        carrier: Arc::new(Late { runs: world.runs.clone(), may_begin }),
        place: "here".to_owned(),
        variables: Arc::new(|_| None),
        webhook: None,
        lease_time: Duration::from_secs(3),
        seed: 1,
    };
    let scheduler = Scheduler::open(setup).await.unwrap();
    let (stop, stopped) = watch::channel(false);
    let runs = scheduler.clone();
    let running = tokio::spawn(async move { runs.run("process-1".to_owned(), stopped).await });
    world.apply(&scheduler, "tasks: {slow: {when: {grew: {of: sales.rows, by: 1}}, run: ./slow.sh}}").await;
    world.set("sales.rows", 1).await;
    until("the run is committed", async || {
        scheduler.get("slow").await.is_ok_and(|task| task.entity.state.running().is_some())
    })
    .await;
    let signed = scheduler.signed("anna", "it is not wanted").unwrap();
    assert_eq!(scheduler.kill("slow", &signed).await.unwrap(), 1);
    // Longer than it takes to look at what is wanted.
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert!(world.runs.all().is_empty());
    begin.send_replace(true);
    until("it is killed", async || world.runs.all().values().any(|run| run.killed)).await;
    until("it counts as failed", async || scheduler.get("slow").await.unwrap().entity.state.attempts == 1)
        .await;
    stop.send_replace(true);
    running.await.unwrap().unwrap();
}
