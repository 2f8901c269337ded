//! A store in memory, runs that the test ends itself, and processes that can be killed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use clock::{Clock, Time};
use ctl::{Change, Ctl};
use runs::{End, LogChunk, Reason, RunId, Spec};
use store::engine::Engine;
use store::{Memory, Schema, Store, StoreOptions};
use tasks::{ExecuteError, Executor, Setup, Tasks};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use triggers::{Parameter, Value};

pub(crate) const START: Time = Time::from_seconds(1_700_000_000);

pub(crate) fn schema() -> Schema {
    let tables = watcher::tables().into_iter().chain(ctl::tables()).chain(tasks::tables());
    Schema::new(1, tables).unwrap()
}

/// Runs that go on until a test ends them, whatever happens to the process that started them.
#[derive(Clone, Default)]
pub(crate) struct Runs(Arc<Inside>);

#[derive(Default)]
struct Inside {
    runs: Mutex<BTreeMap<String, Run>>,
    changed: Notify,
    /// Nothing can be started.
    refuses: AtomicBool,
}

#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) spec: Spec,
    pub(crate) end: Option<End>,
    /// How often it was asked to start.
    pub(crate) asked: u32,
    pub(crate) killed: bool,
}

impl Runs {
    /// From now on nothing can be started, or all can again.
    pub(crate) fn refuse(&self, refuses: bool) {
        self.0.refuses.store(refuses, Ordering::Relaxed);
    }

    pub(crate) fn all(&self) -> BTreeMap<String, Run> {
        self.0.runs.lock().unwrap().clone()
    }

    /// The runs of a task that are under way, by id.
    pub(crate) fn under_way(&self, task: &str) -> Vec<String> {
        let runs = self.0.runs.lock().unwrap();
        let of_task = runs.iter().filter(|(_, run)| run.spec.task == task && run.end.is_none());
        of_task.map(|(id, _)| id.clone()).collect()
    }

    /// Waits until a task has a run under way: its id and what it was told. Gives up after a day of
    /// virtual time.
    pub(crate) async fn started(&self, task: &str) -> (String, Spec) {
        let started = async {
            loop {
                let changed = self.0.changed.notified();
                if let Some(id) = self.under_way(task).pop() {
                    let spec = self.all()[&id].spec.clone();
                    return (id, spec);
                }
                changed.await;
            }
        };
        let within = tokio::time::timeout(Duration::from_secs(86_400), started).await;
        within.unwrap_or_else(|_| panic!("{task} is never started: {:?}", self.all().keys()))
    }

    pub(crate) fn end(&self, id: &str, reason: Reason, sets: runs::Values) {
        let mut runs = self.0.runs.lock().unwrap();
        let run = runs.get_mut(id).unwrap();
        assert!(run.end.is_none(), "{id} has ended already");
        let (code, signal, detail) = (None, None, String::new());
        run.end = Some(End { reason, code, signal, detail, began: START, ended: START, sets });
        drop(runs);
        self.0.changed.notify_waiters();
    }

    pub(crate) fn succeed(&self, id: &str) {
        self.end(id, Reason::Done, runs::Values::new());
    }
}

#[async_trait]
impl Executor for Runs {
    async fn start(&self, run: &RunId, spec: &Spec) -> Result<(), ExecuteError> {
        spec.check().map_err(|error| ExecuteError::Permanent(error.to_string()))?;
        if self.0.refuses.load(Ordering::Relaxed) {
            return Err(ExecuteError::Transient("the machine is busy".to_owned()));
        }
        let mut runs = self.0.runs.lock().unwrap();
        let new = || Run { spec: spec.clone(), end: None, asked: 0, killed: false };
        runs.entry(run.to_string()).or_insert_with(new).asked += 1;
        drop(runs);
        self.0.changed.notify_waiters();
        Ok(())
    }

    async fn wait(&self, run: &RunId) -> Result<End, ExecuteError> {
        loop {
            let changed = self.0.changed.notified();
            match self.0.runs.lock().unwrap().get(run.as_str()) {
                None => return Err(ExecuteError::NotStarted("it was not started".to_owned())),
                Some(Run { end: Some(end), .. }) => return Ok(end.clone()),
                Some(_) => {}
            }
            changed.await;
        }
    }

    async fn kill(&self, run: &RunId) -> Result<bool, ExecuteError> {
        let under_way = {
            let mut runs = self.0.runs.lock().unwrap();
            let not_started = || ExecuteError::NotStarted("it was not started".to_owned());
            let run = runs.get_mut(run.as_str()).ok_or_else(not_started)?;
            run.killed = true;
            run.end.is_none()
        };
        if under_way {
            self.end(run.as_str(), Reason::Killed, runs::Values::new());
        }
        Ok(under_way)
    }

    async fn log(&self, _: &RunId, _: u64, _: usize) -> Result<LogChunk, ExecuteError> {
        Ok(LogChunk { left_out: 0, offset: 0, bytes: b"said".to_vec(), total: 4 })
    }

    async fn remove(&self, run: &RunId) -> Result<(), ExecuteError> {
        self.0.runs.lock().unwrap().remove(run.as_str());
        Ok(())
    }
}

/// A process that decides, until it is killed or stopped.
pub(crate) struct Process {
    pub(crate) tasks: Tasks,
    stop: watch::Sender<bool>,
    running: JoinHandle<tasks::Result<()>>,
}

impl Process {
    /// As `kill -9`: nothing is given back.
    pub(crate) async fn kill(self) {
        self.running.abort();
        let _ = self.running.await;
    }

    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        self.running.await.unwrap().unwrap();
    }
}

/// One store and one place for runs, which outlive processes.
pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) runs: Runs,
    pub(crate) ctl: Ctl,
    processes: Mutex<u32>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::over(Arc::new(Memory::new(schema())))
    }

    pub(crate) fn over(engine: Arc<dyn Engine>) -> Self {
        let store = Store::over(engine, &StoreOptions::default());
        let clock = Clock::starting_at(START);
        let ctl = Ctl::new(store.clone(), clock.clone(), ctl::Settings::default());
        Self { store, clock, runs: Runs::default(), ctl, processes: Mutex::default() }
    }

    pub(crate) async fn open(&self, place: &str) -> Tasks {
        let setup = Setup {
            store: &self.store,
            ctl: self.ctl.clone(),
            topic: None,
            clock: self.clock.clone(),
            executor: Arc::new(self.runs.clone()),
            place: place.to_owned(),
            variables: Arc::new(|name| (name == "TOKEN").then(|| "t0ken".to_owned())),
            webhook: None,
            lease_time: Duration::from_secs(3),
            seed: 1,
        };
        Tasks::open(setup).await.unwrap()
    }

    pub(crate) async fn start(&self, place: &str) -> Process {
        let tasks = self.open(place).await;
        let number = {
            let mut processes = self.processes.lock().unwrap();
            *processes += 1;
            *processes
        };
        let (stop, stopped) = watch::channel(false);
        let runs = tasks.clone();
        let running = tokio::spawn(async move { runs.run(format!("process-{number}"), stopped).await });
        Process { tasks, stop, running }
    }

    /// A process with these tasks at work.
    pub(crate) async fn with(&self, text: &str) -> Process {
        let process = self.start("here").await;
        self.apply(&process.tasks, text).await;
        process
    }

    pub(crate) async fn apply(&self, tasks: &Tasks, text: &str) {
        let signed = tasks.signed("anna", "a test").unwrap();
        tasks.apply(vec![("tasks.yaml".into(), text.into())], Some(&signed)).await.unwrap();
    }

    pub(crate) async fn set(&self, parameter: &str, number: i64) {
        let change = Change::set(parameter.parse().unwrap(), Value::Number(number)).moving_back();
        self.ctl.set(vec![change], "loader", "").await.unwrap();
    }

    pub(crate) async fn value(&self, parameter: &str) -> Option<Value> {
        self.ctl.get(&parameter.parse().unwrap()).await.unwrap().map(|current| current.value)
    }
}

pub(crate) fn parameter(text: &str) -> Parameter {
    text.parse().unwrap()
}

/// Waits until something is so, in virtual time; gives up after an hour of it.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut so: impl FnMut() -> F) {
    for _ in 0..36_000 {
        if so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it never came to be: {what}");
}
