//! The world: sees everything that happens and asks the invariants.

mod views;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use bytes::Bytes;
use store::Batch;
use tokio::sync::watch;
use tokio::time::Instant;
use watcher::{Answer, Clock, Schedule, StageError, Time};

use crate::invariants::{End, Invariant, Seen, all_invariants};
use crate::scenario::Scenario;
use crate::tables::{Commit, Role, Tables};
use crate::thing::Thing;
use crate::trace::{Shown, Trace};

/// The clocks of a world start near this time.
pub(crate) const START_MS: i64 = 1_700_000_000_000;

/// A process with more store calls than this in one millisecond is in an endless loop.
const CALLS_IN_A_MS_MAX: u64 = 50_000;

/// A violated invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub invariant: &'static str,
    pub seen: String,
    /// In simulated milliseconds.
    pub at_ms: u64,
}

pub(crate) struct Actor {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) clock: Clock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A question.
    Ask,
    Visit,
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) instance: String,
    pub(crate) stage: &'static str,
    pub(crate) what: What,
    pub(crate) shard: u32,
    pub(crate) thing: Thing,
    pub(crate) version: u64,
    pub(crate) state: Bytes,
    /// By the caller's clock.
    pub(crate) now: Time,
    /// Simulated milliseconds.
    pub(crate) began_ms: u64,
    /// How old the rows that the caller read may be, in milliseconds.
    pub(crate) delay_ms: u64,
    /// The number of commits when it began.
    pub(crate) commits: u64,
}

/// The answer of a visit; `None` if the call timed out or panicked.
pub(crate) type Returned = Option<Result<Answer<Thing>, StageError>>;

/// A call of `on_saved`.
pub(crate) struct SavedCall<'a> {
    pub(crate) stage: &'static str,
    pub(crate) entity: &'a str,
    pub(crate) version: u64,
    /// Whether it is not repeated.
    pub(crate) heard: bool,
}

/// Cheap to clone; all clones are one world.
#[derive(Clone)]
pub(crate) struct World {
    began: Instant,
    inner: Arc<Mutex<Inner>>,
    failed: watch::Sender<bool>,
}

struct Inner {
    trace: Trace,
    tables: Tables,
    invariants: Vec<Box<dyn Invariant>>,
    /// How often each invariant was checked.
    checks: BTreeMap<&'static str, u64>,
    violations: Vec<Violation>,
    /// Violations of other invariants do not end the world.
    looking_for: Option<&'static str>,
    faults: BTreeMap<String, u64>,
    calls: u64,
    /// Visits under way: entity and stage.
    visits: Vec<(String, &'static str)>,
    calm: bool,
    /// The current millisecond and its store calls.
    busy: (u64, u64),
}

impl World {
    pub(crate) fn new(scenario: &Scenario, keep_trace: bool, looking_for: Option<&'static str>) -> Self {
        let inner = Inner {
            trace: Trace::new(keep_trace),
            tables: Tables::default(),
            invariants: all_invariants(scenario),
            checks: BTreeMap::new(),
            violations: Vec::new(),
            looking_for,
            faults: BTreeMap::new(),
            calls: 0,
            visits: Vec::new(),
            calm: false,
            busy: (0, 0),
        };
        let (failed, _) = watch::channel(false);
        Self { began: Instant::now(), inner: Arc::new(Mutex::new(inner)), failed }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    /// Simulated milliseconds.
    pub(crate) fn now_ms(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// A clock with this error.
    pub(crate) fn clock(&self, ahead_ms: i64) -> Clock {
        let began = self.began;
        Clock::new(move || Time::from_ms(START_MS + ahead_ms) + began.elapsed())
    }

    /// Records an event that no invariant checks.
    pub(crate) fn event(&self, event: fmt::Arguments<'_>) {
        self.inner().trace.note(self.now_ms(), event);
    }

    pub(crate) fn fault(&self, kind: &str, who: &str, what: fmt::Arguments<'_>) {
        let mut inner = self.inner();
        *inner.faults.entry(kind.to_owned()).or_default() += 1;
        inner.trace.note(self.now_ms(), format_args!("{who} suffers: {kind}{what}"));
    }

    /// From now on nothing fails.
    pub(crate) fn calm(&self) {
        self.inner().calm = true;
        self.event(format_args!("calm"));
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.inner().calm
    }

    pub(crate) fn committed(&self, actor: &Actor, batch: &Batch) {
        let now_ms = self.now_ms();
        let mut inner = self.inner();
        let changes = inner.tables.apply(batch);
        let number = inner.tables.commits();
        inner.trace.note(now_ms, format_args!("{} commits #{number}: {}", actor.name, Shown(batch)));
        let Inner { invariants, tables, .. } = &mut *inner;
        let commit = Commit {
            actor: &actor.name,
            role: actor.role,
            clock_ms: actor.clock.now().as_ms(),
            now_ms,
            batch,
            changes: &changes,
            tables,
        };
        let seen = look(invariants, |invariant| invariant.at_commit(&commit));
        self.judge(&mut inner, now_ms, seen);
    }

    pub(crate) fn refused(&self, actor: &Actor, keys: &[store::Key]) {
        self.event(format_args!("{} is refused: {keys:?}", actor.name));
    }

    /// A stage is called. The call ends when the ticket is finished or dropped.
    pub(crate) fn call(&self, mut call: Call) -> Ticket {
        let now_ms = self.now_ms();
        let mut inner = self.inner();
        (call.began_ms, call.commits) = (now_ms, inner.tables.commits());
        inner.calls += 1;
        if call.what == What::Visit {
            inner.visits.push((call.thing.id.clone(), call.stage));
        }
        inner.trace.note(
            now_ms,
            format_args!(
                "{} {:?} {} {} v{} state {:?}",
                call.instance, call.what, call.stage, call.thing.id, call.version, call.state
            ),
        );
        let Inner { invariants, tables, .. } = &mut *inner;
        let seen = look(invariants, |invariant| invariant.at_call(&call, tables));
        self.judge(&mut inner, now_ms, seen);
        Ticket { world: self.clone(), call: Some(call) }
    }

    /// Visits under way: entity and stage.
    pub(crate) fn visits(&self) -> Vec<(String, &'static str)> {
        self.inner().visits.clone()
    }

    fn returned(&self, call: &Call, answer: &Returned) {
        let now_ms = self.now_ms();
        let mut inner = self.inner();
        let Call { instance, what, stage, thing, .. } = call;
        let ended = inner.visits.iter().position(|visit| (&*visit.0, visit.1) == (&*thing.id, *stage));
        ended.filter(|_| *what == What::Visit).map(|ended| inner.visits.remove(ended));
        inner.trace.note(now_ms, format_args!("{instance} {what:?} {stage} {} -> {answer:?}", thing.id));
        let seen = look(&mut inner.invariants, |invariant| invariant.at_return(call, answer));
        self.judge(&mut inner, now_ms, seen);
    }

    fn wished(&self, call: &Call, schedule: Schedule) {
        let now_ms = self.now_ms();
        let mut inner = self.inner();
        let Inner { invariants, tables, .. } = &mut *inner;
        let seen = look(invariants, |invariant| invariant.at_schedule(call, schedule, tables));
        self.judge(&mut inner, now_ms, seen);
    }

    pub(crate) fn saved(&self, instance: &str, saved: &SavedCall<'_>) {
        let now_ms = self.now_ms();
        let mut inner = self.inner();
        let SavedCall { stage, entity, version, heard } = saved;
        inner.trace.note(now_ms, format_args!("{instance} tells {stage} {entity} v{version}: heard {heard}"));
        let seen = look(&mut inner.invariants, |invariant| invariant.at_saved(saved));
        self.judge(&mut inner, now_ms, seen);
    }

    /// The end of the simulation.
    pub(crate) fn ended(&self, exported: &[(String, u64)]) {
        let now_ms = self.now_ms();
        let mut inner = self.inner();
        let Inner { invariants, tables, .. } = &mut *inner;
        let end = End { tables, now_ms, exported };
        let seen = look(invariants, |invariant| invariant.at_end(&end));
        self.judge(&mut inner, now_ms, seen);
    }

    /// All processes have ended in order.
    pub(crate) fn left(&self) {
        let now_ms = self.now_ms();
        let mut inner = self.inner();
        let Inner { invariants, tables, .. } = &mut *inner;
        let seen = look(invariants, |invariant| invariant.at_rest(tables));
        self.judge(&mut inner, now_ms, seen);
    }

    /// Whether a process calls the store in an endless loop.
    pub(crate) fn is_spinning(&self, actor: &Actor) -> bool {
        let now_ms = self.now_ms();
        let mut inner = self.inner();
        let (then_ms, calls) = inner.busy;
        inner.busy = if then_ms == now_ms { (then_ms, calls + 1) } else { (now_ms, 0) };
        let is_spinning = inner.busy.1 > CALLS_IN_A_MS_MAX;
        if is_spinning {
            let seen = format!("{} calls the store without end", actor.name);
            self.judge(&mut inner, now_ms, vec![("time goes on", Err(seen))]);
        }
        is_spinning
    }

    /// An actor has checked an invariant itself.
    pub(crate) fn looked_at(&self, invariant: &'static str, seen: Seen) {
        let now_ms = self.now_ms();
        self.judge(&mut self.inner(), now_ms, vec![(invariant, seen)]);
    }

    /// A failure that no invariant covers.
    pub(crate) fn broken(&self, invariant: &'static str, what: String) {
        let now_ms = self.now_ms();
        self.judge(&mut self.inner(), now_ms, vec![(invariant, Err(what))]);
    }

    fn judge(&self, inner: &mut Inner, at_ms: u64, seen: Vec<(&'static str, Seen)>) {
        for (invariant, seen) in seen {
            *inner.checks.entry(invariant).or_default() += 1;
            let Err(seen) = seen else { continue };
            if *self.failed.borrow() || inner.violations.iter().any(|known| known.invariant == invariant) {
                continue;
            }
            inner.trace.note(at_ms, format_args!("VIOLATION of {invariant:?}: {seen}"));
            inner.violations.push(Violation { invariant, seen, at_ms });
            if inner.looking_for.is_none_or(|looking_for| looking_for == invariant) {
                inner.trace.end();
                self.failed.send_replace(true);
            }
        }
    }

    /// Waits until an invariant is violated.
    pub(crate) async fn failure(&self) {
        // It cannot fail: the sender is part of the world.
        let _ = self.failed.subscribe().wait_for(|failed| *failed).await;
    }

    pub(crate) fn summary(&self) -> Summary {
        let mut inner = self.inner();
        Summary {
            violations: inner.violations.clone(),
            checks: inner.checks.clone(),
            faults: inner.faults.clone(),
            commits: inner.tables.commits(),
            calls: inner.calls,
            events: inner.trace.events(),
            hash: inner.trace.hash(),
            last: inner.trace.last(),
            trace: inner.trace.take_all(),
        }
    }
}

pub(crate) struct Summary {
    pub(crate) violations: Vec<Violation>,
    pub(crate) checks: BTreeMap<&'static str, u64>,
    pub(crate) faults: BTreeMap<String, u64>,
    pub(crate) commits: u64,
    pub(crate) calls: u64,
    pub(crate) events: u64,
    pub(crate) hash: u64,
    pub(crate) last: Vec<String>,
    pub(crate) trace: Option<Vec<String>>,
}

fn look(
    invariants: &mut [Box<dyn Invariant>],
    mut ask: impl FnMut(&mut dyn Invariant) -> Option<Seen>,
) -> Vec<(&'static str, Seen)> {
    let mut seen = Vec::new();
    for invariant in invariants {
        let name = invariant.name();
        seen.extend(ask(&mut **invariant).map(|seen| (name, seen)));
    }
    seen
}

/// A call of a stage that is under way.
pub(crate) struct Ticket {
    world: World,
    call: Option<Call>,
}

impl Ticket {
    /// The stage answered a question.
    pub(crate) fn schedule(self, schedule: Schedule) {
        if let Some(call) = &self.call {
            self.world.wished(call, schedule);
        }
    }

    pub(crate) fn finish(mut self, answer: &Returned) {
        if let Some(call) = self.call.take() {
            self.world.returned(&call, answer);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            self.world.returned(&call, &None);
        }
    }
}
