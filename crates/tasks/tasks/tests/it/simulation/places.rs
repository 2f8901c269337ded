//! Places where runs are. Runs and their supervisors outlive processes: whatever happens to those,
//! a run goes on, and is stopped when its time is over.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::Clock;
use runs::{End, LogChunk, Reason, RunId, Spec, Values};
use tasks::{ExecuteError, Executor};

use crate::simulation::bugs::Bug;
use crate::simulation::dice::{Dice, seed_of};
use crate::simulation::gate::{Gate, State};
use crate::simulation::tasks::{Known, Seen, output_name, seen};
use crate::simulation::world::{Real, RunKey, World, running};

/// A place, as a process of it has it.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) world: World,
    pub(crate) clock: Clock,
    pub(crate) gate: Gate,
    pub(crate) dice: Arc<Dice>,
    pub(crate) bug: Option<Bug>,
    pub(crate) seed: u64,
}

/// The task and the number of a run.
fn key_of(id: &RunId) -> RunKey {
    let mut parts = id.as_str().split('.');
    let task = parts.next().unwrap().to_owned();
    (task, parts.next_back().unwrap().parse().unwrap())
}

impl Place {
    fn is_calm(&self) -> bool {
        self.world.is_calm()
    }

    /// What a run is going to come to, and when.
    fn fate(&self, spec: &Spec) -> (Duration, Reason) {
        if self.is_calm() {
            return (self.dice.ms(50..2000), Reason::Done);
        }
        let (time, reason) = match self.dice.within(0..100) {
            0..62 => (self.dice.ms(10..15_000), Reason::Done),
            62..78 => (self.dice.ms(10..8000), Reason::Failed),
            78..86 => (self.dice.ms(10..8000), Reason::Died),
            _ => (Duration::MAX, Reason::Done),
        };
        if time < spec.timeout { (time, reason) } else { (spec.timeout, Reason::TimedOut) }
    }

    /// A run begins, and everything is looked at that must be so.
    fn begin(&self, key: &RunKey, spec: &Spec) {
        let mut wrong = Vec::new();
        {
            let mut inside = self.world.queries();
            let under_way = inside.under_way(&key.0);
            if !under_way.is_empty() {
                wrong.push(format!(
                    "{key:?} begins at {}, and {under_way:?} are under way: two at once",
                    self.name
                ));
            }
            let decided = inside.tasks.get(&key.0).filter(|(_, task)| task.place == self.name);
            let decided = decided.and_then(|(_, task)| running(task)).filter(|run| run.run == key.1);
            match decided {
                None => wrong.push(format!("{key:?} begins at {} though no row says so", self.name)),
                Some(run) if seen(&run.seen) != reported(&spec.values) => {
                    wrong.push(format!("{key:?} is told {:?}", spec.values));
                }
                Some(_) => {}
            }
            inside.real.insert(key.clone(), Real { place: self.name.clone(), end: None, killed: false });
            *inside.counts.entry("runs".to_owned()).or_default() += 1;
        }
        self.world.note(format_args!("{key:?} begins at {}", self.name));
        self.world.violated(wrong);
        let (time, reason) = self.fate(spec);
        let time =
            if self.bug == Some(Bug::NoTimeout) && reason == Reason::TimedOut { Duration::MAX } else { time };
        let (place, key, began) = (self.clone(), key.clone(), self.clock.now());
        let own = (self.dice.percent(10), self.dice.number(0..200));
        self.world.moved.notify_waiters();
        tokio::spawn(async move {
            tokio::time::sleep(time).await;
            let sets = match own {
                (true, number) if reason == Reason::Done => {
                    Values::from([(output_name(9), triggers::Value::Number(number))])
                }
                _ => Values::new(),
            };
            place.end(&key, reason, began, sets);
        });
    }

    fn end(&self, key: &RunKey, reason: Reason, began: clock::Time, sets: Values) {
        let ended = self.clock.now();
        let mut inside = self.world.queries();
        let real = inside.real.get_mut(key).filter(|real| real.end.is_none());
        if let Some(real) = real {
            let (code, signal, detail) = (None, None, String::new());
            real.end = Some(End { reason, code, signal, detail, began, ended, sets });
            drop(inside);
            self.world.note(format_args!("{key:?} ends: {reason:?}"));
            self.world.count(&format!("ends: {reason}"));
            self.world.moved.notify_waiters();
        }
    }

    /// What happens to a process in the midst of a call: frozen, it finds that nothing has come of
    /// it; killed, it never knows.
    async fn hold_up(&self, time: Duration) -> Result<(), ExecuteError> {
        let was_open = self.gate.state() == State::Open;
        tokio::time::sleep(time).await;
        let is_open = self.gate.state() == State::Open;
        self.gate.pass().await;
        if was_open && is_open {
            Ok(())
        } else {
            Err(ExecuteError::Transient("the process was held up".to_owned()))
        }
    }

    /// Whether this is one of the minutes in which nothing can be started here.
    fn is_away(&self) -> bool {
        let minute = format!("{} {}", self.name, self.world.now_ms() / 60_000);
        !self.is_calm() && seed_of(self.seed, &minute).is_multiple_of(6)
    }

    fn fault(&self, chance: u64) -> bool {
        !self.is_calm() && self.dice.percent(chance)
    }
}

/// The values that a run is told.
fn reported(values: &Values) -> Seen {
    let known = |value: &triggers::Value| match value {
        triggers::Value::Number(number) => Known::Number(*number),
        triggers::Value::Time(time) => Known::Moment(time.as_millisecond()),
    };
    values.iter().map(|(of, value)| (of.clone(), known(value))).collect::<BTreeMap<_, _>>()
}

#[async_trait]
impl Executor for Place {
    async fn start(&self, run: &RunId, spec: &Spec) -> Result<(), ExecuteError> {
        let key = key_of(run);
        let time = if self.is_calm() { Duration::ZERO } else { self.dice.ms(0..400) };
        self.hold_up(time).await?;
        let is_new = !self.world.queries().real.contains_key(&key);
        // What can never be can never be: it does not depend on who tries, or when.
        if is_new && seed_of(self.seed, run.as_str()).is_multiple_of(40) {
            self.world.count("start: lasting");
            return Err(ExecuteError::Permanent("there is no such program".to_owned()));
        }
        if is_new && self.fault(8) {
            self.world.count("start: not started");
            return Err(ExecuteError::NotStarted("there is no memory".to_owned()));
        }
        if self.fault(8) || (is_new && self.is_away()) {
            self.world.count("start: passing");
            return Err(ExecuteError::Transient("the disk is away".to_owned()));
        }
        if is_new || (self.bug == Some(Bug::StartsTwice) && self.world.queries().under_way(&key.0) == [key.1])
        {
            self.begin(&key, spec);
        }
        if self.fault(8) {
            self.world.count("start: passing, and started");
            return Err(ExecuteError::Transient("the disk is away now".to_owned()));
        }
        Ok(())
    }

    async fn wait(&self, run: &RunId) -> Result<End, ExecuteError> {
        let key = key_of(run);
        loop {
            let moved = self.world.moved.notified();
            self.gate.pass().await;
            if self.fault(1) {
                return Err(ExecuteError::Transient("the disk is away".to_owned()));
            }
            let real = self.world.queries().real.get(&key).filter(|real| real.place == self.name).cloned();
            let Some(real) = real else {
                return Err(ExecuteError::NotStarted("it was not started".to_owned()));
            };
            let (code, signal, detail, now) = (None, None, String::new(), self.clock.now());
            let invented = End {
                reason: Reason::Done,
                code,
                signal,
                detail,
                began: now,
                ended: now,
                sets: Values::new(),
            };
            match (real.end, self.bug) {
                (Some(end), Some(Bug::FailureIsDone)) => return Ok(End { reason: Reason::Done, ..end }),
                (Some(end), Some(Bug::SilentDeath)) if end.reason == Reason::Died => {}
                (Some(end), _) => return Ok(end),
                (None, Some(Bug::EarlyEnd)) if self.dice.percent(10) => return Ok(invented),
                (None, Some(Bug::UnderWayIsNothing)) => {
                    return Err(ExecuteError::NotStarted("it was not started".to_owned()));
                }
                (None, _) => {}
            }
            moved.await;
        }
    }

    async fn kill(&self, run: &RunId) -> Result<bool, ExecuteError> {
        self.gate.pass().await;
        let key = key_of(run);
        if self.fault(20) {
            return Err(ExecuteError::Transient("the disk is away".to_owned()));
        }
        let under_way = match self.world.queries().real.get_mut(&key) {
            None => return Err(ExecuteError::NotStarted("it was not started".to_owned())),
            Some(real) => {
                real.killed = true;
                real.end.is_none()
            }
        };
        if under_way {
            let (place, time, began) = (self.clone(), self.dice.ms(0..2000), self.clock.now());
            tokio::spawn(async move {
                tokio::time::sleep(time).await;
                place.end(&key, Reason::Killed, began, Values::new());
            });
        }
        Ok(under_way)
    }

    async fn log(&self, _: &RunId, _: u64, _: usize) -> Result<LogChunk, ExecuteError> {
        Ok(LogChunk { left_out: 0, offset: 0, bytes: Vec::new(), total: 0 })
    }

    async fn remove(&self, _: &RunId) -> Result<(), ExecuteError> {
        Ok(())
    }
}
