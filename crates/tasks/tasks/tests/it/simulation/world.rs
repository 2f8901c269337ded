//! What is known of everything: every row as commits left it, every run as it really was, and what
//! was violated.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;
use tokio::time::Instant;
use wire::torg::tasks::v1 as proto;
use xxhash_rust::xxh3::Xxh3;

use crate::simulation::tasks::{Deck, Known, Seen};

/// A run: its task and its number.
pub(crate) type RunKey = (String, u64);

/// So many of the last lines are shown with a violation.
const LAST_LINES: usize = 200;

/// Everything. Cheap to clone; all clones are one.
#[derive(Clone)]
pub(crate) struct World {
    inside: Arc<Mutex<Inside>>,
    began: Instant,
    /// Something was violated.
    failed: Arc<Notify>,
    /// A run has begun or ended.
    pub(crate) moved: Arc<Notify>,
}

/// Somebody with a store of his own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Actor {
    /// Of a process, the name under which it holds leases.
    pub(crate) name: String,
    /// Where its runs are; empty if it has none.
    pub(crate) place: String,
}

#[derive(Default)]
pub(crate) struct Inside {
    /// Rows of tasks with their versions.
    pub(crate) tasks: BTreeMap<String, (u64, proto::Task)>,
    /// Rows of runs.
    pub(crate) runs: BTreeMap<RunKey, proto::TaskRun>,
    /// All values that a parameter ever had, by version.
    pub(crate) values: BTreeMap<String, Vec<Option<Known>>>,
    /// Who may decide.
    pub(crate) leader: String,
    /// The newest deployment, and the decks of all.
    pub(crate) newest: u64,
    pub(crate) decks: BTreeMap<u64, Deck>,
    /// Decks by their texts, before they are deployed.
    pub(crate) texts: BTreeMap<String, Deck>,
    /// What an actor has seen last: the versions of values when it looked for marks, and the newest
    /// deployment.
    pub(crate) looked: BTreeMap<String, BTreeMap<String, u64>>,
    pub(crate) read: BTreeMap<String, u64>,
    /// Runs as they really were.
    pub(crate) real: BTreeMap<RunKey, Real>,
    pub(crate) counts: BTreeMap<String, u64>,
    /// Places to which no process returns for a while do not count as alive.
    pub(crate) calm: bool,
    pub(crate) violations: Vec<String>,
    trace: Trace,
}

/// A run that was started.
#[derive(Clone, Debug)]
pub(crate) struct Real {
    pub(crate) place: String,
    pub(crate) end: Option<runs::End>,
    /// Whether it was asked to kill it.
    pub(crate) killed: bool,
}

#[derive(Default)]
struct Trace {
    hash: Xxh3,
    lines: u64,
    last: VecDeque<String>,
}

impl World {
    pub(crate) fn new() -> Self {
        let (inside, failed, moved) = (Arc::default(), Arc::default(), Arc::default());
        Self { inside, began: Instant::now(), failed, moved }
    }

    pub(crate) fn queries(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap()
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// Something has happened.
    pub(crate) fn note(&self, event: fmt::Arguments<'_>) {
        let now = self.now_ms();
        self.queries().trace.note(now, event);
    }

    pub(crate) fn count(&self, what: &str) {
        *self.queries().counts.entry(what.to_owned()).or_default() += 1;
    }

    /// Something must be so.
    pub(crate) fn must(&self, holds: bool, violation: impl FnOnce() -> String) {
        if !holds {
            self.violated(vec![violation()]);
        }
    }

    pub(crate) fn violated(&self, violations: Vec<String>) {
        for violation in violations {
            self.note(format_args!("VIOLATED: {violation}"));
            self.queries().violations.push(violation);
            self.failed.notify_one();
        }
    }

    /// Waits until something is violated.
    pub(crate) async fn failure(&self) {
        self.failed.notified().await;
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.queries().calm
    }

    pub(crate) fn trace(&self) -> (u64, u64, Vec<String>) {
        let trace = &self.queries().trace;
        (trace.hash.digest(), trace.lines, trace.last.iter().cloned().collect())
    }

    /// An actor looks for changed values: all that have changed so far stand before it.
    pub(crate) fn looks_for_marks(&self, actor: &Actor) {
        let mut inside = self.queries();
        let versions = inside.values.iter().map(|(of, values)| (of.clone(), values.len() as u64)).collect();
        inside.looked.insert(actor.name.clone(), versions);
    }

    /// An actor looks which deployment is the newest.
    pub(crate) fn reads_newest(&self, actor: &Actor) {
        let mut inside = self.queries();
        let newest = inside.newest;
        inside.read.insert(actor.name.clone(), newest);
    }
}

impl Trace {
    fn note(&mut self, now_ms: u64, event: fmt::Arguments<'_>) {
        let line = format!("{now_ms:>7} {event}");
        self.hash.update(line.as_bytes());
        self.lines += 1;
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }
}

impl Inside {
    /// The value of every parameter that has one.
    pub(crate) fn current(&self) -> Seen {
        let last = |(of, values): (&String, &Vec<Option<Known>>)| Some((of.clone(), (*values.last()?)?));
        self.values.iter().filter_map(last).collect()
    }

    /// The value that a parameter has.
    pub(crate) fn value(&self, of: &str) -> Option<Known> {
        *self.values.get(of)?.last()?
    }

    /// The decks that an actor may go by: the one that it has read, and those that were deployed
    /// since.
    pub(crate) fn decks_of(&self, actor: &Actor) -> Vec<&Deck> {
        let read = self.read.get(&actor.name).copied().unwrap_or_default();
        self.decks.range(read..=self.newest).map(|(_, deck)| deck).collect()
    }

    /// The runs of a task that are under way.
    pub(crate) fn under_way(&self, task: &str) -> Vec<u64> {
        let of_task = self.real.range((task.to_owned(), 0)..=(task.to_owned(), u64::MAX));
        of_task.filter(|(_, real)| real.end.is_none()).map(|((_, run), _)| *run).collect()
    }

    /// Tasks that have a run, as rows say.
    pub(crate) fn running(&self) -> BTreeSet<&String> {
        self.tasks.iter().filter(|(_, (_, task))| running(task).is_some()).map(|(name, _)| name).collect()
    }
}

/// The run that a row says is under way.
pub(crate) fn running(task: &proto::Task) -> Option<&proto::task_state::Running> {
    match task.state.as_option()?.phase.as_ref()? {
        proto::task_state::Phase::Running(running) => Some(running),
        _ => None,
    }
}
