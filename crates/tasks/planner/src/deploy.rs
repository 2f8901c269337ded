//! What a new configuration would start at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;
use triggers::{Calendar, Parameter, Reason, Verdict};

use crate::{Limits, Phase, Plan, Planner, Seen, Snapshot, Step, TaskName, TaskState};

/// The effects of new definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployment {
    /// Tasks that would fire at once, and would not with the old definitions.
    pub fires: Vec<AtOnce>,
    pub new: Vec<TaskName>,
    /// Tasks whose definition changed, and what changed.
    pub changed: BTreeMap<TaskName, Vec<&'static str>>,
    pub gone: Vec<TaskName>,
    /// Removed tasks with a current run, which continues.
    pub gone_running: Vec<TaskName>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtOnce {
    pub task: TaskName,
    pub is_new: bool,
    /// Parameters without a remembered value: the task or the parameter in its trigger is new.
    pub first_seen: BTreeSet<Parameter>,
    pub verdict: Verdict,
    /// In whose zone moments are shown.
    pub calendar: Calendar,
}

/// Returns which tasks would fire at once if the new definitions replaced the old ones now, and
/// why. Ignores limits: tasks that would have to wait for a slot are included.
#[must_use]
pub fn plan(
    old: &[Plan],
    states: &BTreeMap<TaskName, TaskState>,
    new: &[Plan],
    values: &Seen,
    now: Timestamp,
) -> Deployment {
    let before: BTreeMap<&TaskName, &Plan> = old.iter().map(|plan| (&plan.name, plan)).collect();
    let after: BTreeMap<&TaskName, &Plan> = new.iter().map(|plan| (&plan.name, plan)).collect();
    let planner = |plans: &[Plan]| {
        let limits = Limits { running: u32::MAX, pools: BTreeMap::new() };
        Planner::new(
            Snapshot { limits, plans: plans.to_vec(), states: states.clone(), values: values.clone() },
            now,
        )
    };
    let fired_before = fired(planner(old), now);
    let now_board = planner(new);
    let explained = |task: &TaskName| {
        let explanation = now_board.explain(task, now).ok()?;
        let verdict = explanation.verdict?;
        let first = verdict.leaves.iter().filter(|leaf| leaf.reason == Reason::FirstRun);
        Some(AtOnce {
            task: task.clone(),
            is_new: !before.contains_key(task),
            first_seen: first.map(|leaf| leaf.leaf.of.clone()).collect(),
            calendar: explanation.calendar,
            verdict,
        })
    };
    let fired_after = fired(planner(new), now);
    let gone: Vec<TaskName> =
        before.keys().filter(|task| !after.contains_key(*task)).map(|task| (*task).clone()).collect();
    let runs =
        |task: &TaskName| states.get(task).is_some_and(|state| matches!(state.phase, Phase::Running { .. }));
    let changes = |(task, plan): (&&TaskName, &&Plan)| {
        let what = differences(before.get(*task)?, plan);
        (!what.is_empty()).then(|| ((*task).clone(), what))
    };
    Deployment {
        fires: fired_after.difference(&fired_before).filter_map(explained).collect(),
        new: after.keys().filter(|task| !before.contains_key(*task)).map(|task| (*task).clone()).collect(),
        changed: after.iter().filter_map(changes).collect(),
        gone_running: gone.iter().filter(|task| runs(task)).cloned().collect(),
        gone,
    }
}

fn fired(mut planner: Planner, now: Timestamp) -> BTreeSet<TaskName> {
    let mut fired = BTreeSet::new();
    loop {
        let decisions = planner.decide(now);
        if decisions.is_empty() {
            return fired;
        }
        for decision in decisions {
            planner.commit(&decision);
            if decision.why.contains(&Step::Fired) {
                fired.insert(decision.task);
            }
        }
    }
}

fn differences(old: &Plan, new: &Plan) -> Vec<&'static str> {
    [
        ("trigger", old.trigger != new.trigger),
        ("calendar", old.calendar != new.calendar),
        ("priority", old.priority != new.priority),
        ("pool", old.pool != new.pool),
        ("sets", old.sets != new.sets),
        ("produces", old.produces != new.produces),
        ("hold back", old.hold_back != new.hold_back),
        ("retry", old.retry != new.retry),
        ("max silence", old.max_silence != new.max_silence),
        ("paused", old.paused != new.paused),
    ]
    .into_iter()
    .filter_map(|(what, differs)| differs.then_some(what))
    .collect()
}

/// New, changed and removed tasks, then what fires at once and why. No line feed at the end.
impl fmt::Display for Deployment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [(self.new.len(), "new"), (self.changed.len(), "changed"), (self.gone.len(), "gone")];
        let counts = counts.map(|(count, what)| format!("{count} {what}"));
        write!(out, "tasks: {}", counts.join(", "))?;
        for task in &self.new {
            write!(out, "\n  new: {task}")?;
        }
        for (task, what) in &self.changed {
            write!(out, "\n  changed: {task} ({})", what.join(", "))?;
        }
        for task in &self.gone {
            let runs = if self.gone_running.contains(task) { ", its run goes on" } else { "" };
            write!(out, "\n  gone: {task}{runs}")?;
        }
        if self.fires.is_empty() {
            return out.write_str("\nno task fires at once because of it");
        }
        write!(out, "\nfire at once: {}", self.fires.len())?;
        for fires in &self.fires {
            write!(out, "\n{}: {}", fires.task, fires.calendar.show(&fires.verdict))?;
            if !fires.first_seen.is_empty() {
                let first: Vec<String> = fires.first_seen.iter().map(ToString::to_string).collect();
                let why = if fires.is_new { "the task is new" } else { "this is new in its trigger" };
                write!(out, "\n    nothing is remembered of {}: {why}", first.join(", "))?;
            }
        }
        Ok(())
    }
}
