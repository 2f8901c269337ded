//! A planner whose decisions are committed at once, and short ways to write tasks.

use jiff::{SignedDuration, Timestamp};
use triggers::{Amount, Check, Group, Leaf, Parameter, Scale, Trigger, Value, parse_duration};

use crate::{
    Act, Decision, Limits, Outcome, Plan, Planner, Seen, Signed, Snapshot, Start, TaskName, TaskState,
};

pub(super) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(super) fn parameter(text: &str) -> Parameter {
    text.parse().unwrap()
}

pub(super) fn time(text: &str) -> Value {
    Value::Time(at(text))
}

pub(super) fn duration(text: &str) -> SignedDuration {
    parse_duration(text).unwrap()
}

pub(super) fn leaf(of: &str, check: Check) -> Leaf {
    Leaf { of: parameter(of), check }
}

pub(super) fn grew(of: &str, by: i64) -> Leaf {
    leaf(of, Check::Delta { by: Amount::Number(by) })
}

pub(super) fn new_day(of: &str) -> Leaf {
    leaf(of, Check::ChunkDelta { scale: Scale::Day, by: None })
}

pub(super) fn fresh(of: &str, within: &str) -> Leaf {
    leaf(of, Check::Delay { within: duration(within) })
}

pub(super) fn today(of: &str) -> Leaf {
    leaf(of, Check::ChunkDelay { scale: Scale::Day, within: None })
}

pub(super) fn all(leaves: &[Leaf]) -> Trigger {
    Trigger::All(leaves.iter().cloned().map(Group::Leaf).collect())
}

/// A task that runs when a number has grown.
pub(super) fn counts(name: &str, of: &str) -> Plan {
    Plan::new(name, Trigger::Leaf(grew(of, 1)))
}

pub(super) fn signed() -> Signed {
    Signed::new("ann", "to see what happens", at("2021-04-25T00:00:00Z")).unwrap()
}

pub(super) struct Kit {
    pub(super) planner: Planner,
    pub(super) now: Timestamp,
}

impl Kit {
    pub(super) fn new(running: u32, plans: Vec<Plan>) -> Self {
        Self::with(Limits { running, ..Limits::default() }, plans)
    }

    pub(super) fn with(limits: Limits, plans: Vec<Plan>) -> Self {
        let now = at("2021-04-25T10:00:00Z");
        let input = Snapshot { limits, plans, ..Snapshot::default() };
        let mut kit = Self { planner: Planner::new(input, now), now };
        kit.settle();
        kit
    }

    /// Commits decisions until there are no more.
    pub(super) fn settle(&mut self) -> Vec<Decision> {
        let mut all = Vec::new();
        loop {
            let decisions = self.planner.decide(self.now);
            if decisions.is_empty() {
                return all;
            }
            self.planner.commit_all(&decisions);
            all.extend(decisions);
        }
    }

    pub(super) fn put(&mut self, of: &str, value: Value) {
        self.planner.value_changed(&parameter(of), Some(value));
    }

    /// Sets a number, and returns the tasks that start.
    pub(super) fn set(&mut self, of: &str, number: i64) -> Vec<String> {
        self.put(of, Value::Number(number));
        self.starts()
    }

    /// Sets a moment, and returns the tasks that start.
    pub(super) fn set_time(&mut self, of: &str, moment: &str) -> Vec<String> {
        self.put(of, time(moment));
        self.starts()
    }

    pub(super) fn starts(&mut self) -> Vec<String> {
        started(&self.settle()).into_iter().map(|(task, _)| task.to_string()).collect()
    }

    pub(super) fn pass(&mut self, time: &str) -> Vec<String> {
        self.now += duration(time);
        self.starts()
    }

    pub(super) fn end(&mut self, task: &str, outcome: Outcome) -> Vec<Decision> {
        let (run, _) = self.state(task).running().unwrap();
        assert!(self.planner.run_ended(task, run, outcome, self.now));
        self.settle()
    }

    /// Lets the run of a task succeed, and returns the tasks that start.
    pub(super) fn succeed(&mut self, task: &str) -> Vec<String> {
        started(&self.end(task, Outcome::success())).into_iter().map(|(task, _)| task.to_string()).collect()
    }

    pub(super) fn fail(&mut self, task: &str) -> Vec<Decision> {
        self.end(task, Outcome::Failed { error: "exit code 1".to_owned() })
    }

    pub(super) fn state(&self, task: &str) -> &TaskState {
        self.planner.state(task).unwrap()
    }

    /// A manual action.
    pub(super) fn act(&mut self, task: &str, action: impl FnOnce(&TaskState) -> crate::Result<TaskState>) {
        let changed = action(self.state(task)).unwrap();
        self.planner.state_changed(&TaskName::from(task), changed);
    }

    pub(super) fn remembered(&self, task: &str) -> Seen {
        self.state(task).remembered.clone()
    }

    pub(super) fn explained(&self, task: &str) -> String {
        self.planner.explain(task, self.now).unwrap().to_string()
    }
}

pub(super) fn started(decisions: &[Decision]) -> Vec<(&str, &Start)> {
    let start = |decision: &'_ Decision| matches!(decision.act, Act::Start(_));
    decisions
        .iter()
        .filter(|decision| start(decision))
        .filter_map(|decision| match &decision.act {
            Act::Start(start) => Some((&*decision.task, start)),
            _ => None,
        })
        .collect()
}

pub(super) fn seen(values: &[(&str, Value)]) -> Seen {
    values.iter().map(|(of, value)| (parameter(of), *value)).collect()
}
