//! The environment of a planner: a store with optimistic locking, runs, operators, and crashes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::{SignedDuration, Timestamp};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use triggers::{Parameter, Value};

use super::generate::{self, PARAMETERS, is_time, parameter};
use crate::bugs::Bug;
use crate::{
    Act, Change, Decision, Limits, Outcome, Plan, Planner, Seen, Snapshot, Start, TaskName, TaskState,
};

/// A defect that an invariant should notice.
#[derive(Clone, Copy, Debug)]
pub(super) enum Flaw {
    None,
    Bug(Bug),
    /// The planner is given other limits than those that hold.
    LimitUnknown,
    PoolUnknown,
    /// Some changes of values are never reported.
    EventLost,
}

/// A run that was started.
#[derive(Clone, Debug)]
pub(super) struct Real {
    pub(super) seen: Seen,
    pub(super) ended: Option<(Outcome, Timestamp)>,
}

macro_rules! counts {
    ($($name:ident),+) => {
        /// How often things happened.
        #[derive(Clone, Debug, Default)]
        pub(super) struct Counts { $(pub(super) $name: u64),+ }

        impl Counts {
            pub(super) fn add(&mut self, other: &Self) { $(self.$name += other.$name;)+ }
            pub(super) fn all(&self) -> Vec<(&'static str, u64)> { vec![$((stringify!($name), self.$name)),+] }
        }
    };
}

counts!(
    starts,
    successes,
    failures,
    losses,
    conflicts,
    crashes,
    rechecks,
    held,
    regressions,
    silences,
    gave_up,
    chunks
);

pub(super) struct World {
    pub(super) dice: StdRng,
    pub(super) flaw: Flaw,
    pub(super) now: Timestamp,
    pub(super) limits: Limits,
    pub(super) plans: BTreeMap<TaskName, Plan>,
    /// Committed.
    pub(super) states: BTreeMap<TaskName, TaskState>,
    pub(super) values: Seen,
    /// Changes that are not reported yet, and the values reported so far.
    pub(super) feed: VecDeque<(Parameter, Option<Value>)>,
    pub(super) known: Seen,
    pub(super) planner: Planner,
    /// Returned and unanswered.
    pub(super) in_flight: Vec<Decision>,
    pub(super) runs: BTreeMap<(TaskName, u64), Real>,
    /// Tasks that may have changed their pool while they ran.
    pub(super) moved: BTreeSet<TaskName>,
    pub(super) counts: Counts,
    pub(super) violations: Vec<String>,
}

impl World {
    pub(super) fn new(seed: u64, flaw: Flaw) -> Self {
        let mut dice = StdRng::seed_from_u64(seed);
        let limits = generate::limits(&mut dice);
        let plans: BTreeMap<_, _> =
            generate::plans(&mut dice).into_iter().map(|plan| (plan.name.clone(), plan)).collect();
        let now = Timestamp::from_second(1_619_000_000).unwrap();
        let mut world = Self {
            dice,
            flaw,
            now,
            limits,
            plans,
            states: BTreeMap::new(),
            values: Seen::new(),
            feed: VecDeque::new(),
            known: Seen::new(),
            planner: Planner::new(Snapshot::default(), now),
            in_flight: Vec::new(),
            runs: BTreeMap::new(),
            moved: BTreeSet::new(),
            counts: Counts::default(),
            violations: Vec::new(),
        };
        world.build();
        world
    }

    pub(super) fn violated(&mut self, text: &str) {
        self.violations.push(format!("{}: {text}", self.now));
    }

    pub(super) fn violated_all(&mut self, texts: &[String]) {
        for text in texts {
            self.violated(text);
        }
    }

    /// A process starts with what is committed.
    fn build(&mut self) {
        let mut limits = self.limits.clone();
        match self.flaw {
            Flaw::LimitUnknown => limits.running = 100,
            Flaw::PoolUnknown => limits.pools.clear(),
            _ => {}
        }
        let plans = self.plans.values().cloned().collect();
        let (states, values) = (self.states.clone(), self.values.clone());
        let bug = match self.flaw {
            Flaw::Bug(bug) => Some(bug),
            _ => None,
        };
        self.planner = Planner::planted(Snapshot { limits, plans, states, values }, self.now, bug);
        self.feed.clear();
        self.known = self.values.clone();
        // Committed starts are executed, ends are reported.
        let running: Vec<(TaskName, u64, Seen)> =
            self.planner.running().map(|(name, run, seen)| (name.clone(), run, seen.clone())).collect();
        for (task, run, seen) in running {
            self.start(&task, run, &seen);
            self.tell_end(&task, run);
        }
    }

    pub(super) fn step(&mut self) {
        match self.dice.random_range(0..100) {
            0..20 => self.change_value(),
            20..35 => self.deliver(3),
            35..50 => self.pass_time(),
            50..65 => self.decide(),
            65..80 => self.answer(),
            80..90 => self.end_a_run(),
            90..95 => self.act(),
            95..97 => self.change_plan(),
            97..98 => self.crash(),
            _ => self.tell_again(),
        }
    }

    pub(super) fn change_value(&mut self) {
        let of = parameter(self.dice.random_range(0..PARAMETERS));
        let back = self.dice.random_bool(0.15);
        let by = if back { -self.dice.random_range(1..5_i64) } else { self.dice.random_range(1..5) };
        let value = match self.values.get(&of) {
            _ if self.dice.random_bool(0.04) => None,
            Some(Value::Number(last)) => Some(Value::Number(last + by)),
            Some(Value::Time(last)) => {
                let near = self.now - SignedDuration::from_mins(self.dice.random_range(-30..30));
                Some(Value::Time(if self.dice.random_bool(0.5) {
                    near
                } else {
                    *last + SignedDuration::from_mins(by * 7)
                }))
            }
            None if is_time(&of) => Some(Value::Time(self.now)),
            None => Some(Value::Number(self.dice.random_range(0..10))),
        };
        self.set_value(&of, value);
    }

    fn set_value(&mut self, of: &Parameter, value: Option<Value>) {
        match value {
            Some(value) => self.values.insert(of.clone(), value),
            None => self.values.remove(of),
        };
        if matches!(self.flaw, Flaw::EventLost) && self.dice.random_bool(0.2) {
            return;
        }
        self.feed.push_back((of.clone(), value));
    }

    fn deliver(&mut self, most: usize) {
        for _ in 0..most {
            let Some((of, value)) = self.feed.pop_front() else { return };
            self.planner.value_changed(&of, value);
            match value {
                Some(value) => self.known.insert(of, value),
                None => self.known.remove(&of),
            };
        }
    }

    fn pass_time(&mut self) {
        let next = self.planner.next_moment().filter(|next| *next > self.now);
        self.now = match next {
            Some(next) if self.dice.random_bool(0.5) => next,
            _ => self.now + SignedDuration::from_secs(self.dice.random_range(1..600)),
        };
    }

    pub(super) fn decide(&mut self) {
        let decisions = self.planner.decide(self.now);
        self.check_decisions(&decisions);
        self.in_flight.extend(decisions.iter().cloned());
        self.check_queue();
        self.check_kept(&decisions);
    }

    fn change_plan(&mut self) {
        let number = self.dice.random_range(0..9);
        let plan = generate::plan(&mut self.dice, number);
        let gone = self.dice.random_bool(0.3);
        let name = plan.name.clone();
        self.moved.insert(name.clone());
        if gone {
            self.plans.remove(&name);
            self.planner.plans_changed(None, vec![Change::Gone(name)], self.now);
        } else {
            self.plans.insert(name, plan.clone());
            self.planner.plans_changed(None, vec![Change::Put(Box::new(plan))], self.now);
        }
    }

    /// The process dies. Commits in flight may or may not apply, and their runs may or may not
    /// start.
    fn crash(&mut self) {
        self.counts.crashes += 1;
        let in_flight = std::mem::take(&mut self.in_flight);
        let mut late = Vec::new();
        for decision in in_flight {
            if self.dice.random_bool(0.5) && self.store(&decision) {
                if self.dice.random_bool(0.5)
                    && let Act::Start(Start { run, seen, .. }) = &decision.act
                {
                    self.start(&decision.task, *run, seen);
                }
                late.push(decision);
            }
        }
        self.build();
        // Committed decisions are committed again.
        for decision in late {
            if self.store(&decision) {
                self.violated(&format!("{} is committed twice", decision.task));
            }
            self.planner.commit(&decision);
            self.carry_out(&decision);
        }
    }

    /// Nothing fails any more and every run succeeds: in the end nothing is left to do.
    pub(super) fn come_to_rest(&mut self) {
        self.release_all();
        for _ in 0..3000 {
            self.deliver(usize::MAX);
            self.decide();
            let mut busy = !self.in_flight.is_empty();
            while !self.in_flight.is_empty() && self.violations.is_empty() {
                self.answer();
            }
            let open: Vec<_> = self.runs.iter().filter(|(_, real)| real.ended.is_none()).collect();
            let open: Vec<_> = open.into_iter().map(|(id, _)| id.clone()).collect();
            busy |= !open.is_empty();
            for id in open {
                self.end(&id, Outcome::success());
            }
            self.tell_again();
            if !self.violations.is_empty() {
                return;
            }
            if busy {
                continue;
            }
            // Effects of time are visible within a day; silence lasts forever.
            match self.planner.next_moment() {
                Some(next) if next < self.now + SignedDuration::from_hours(24) => {
                    self.now = self.now.max(next);
                }
                _ => return self.check_rest(),
            }
        }
        self.violated("it does not come to rest");
    }
}
