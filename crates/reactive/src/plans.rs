//! From the tasks of files to what the board knows of them.

use taskfile::{Task, TaskSet};

use crate::board::{Plan, Retry, SetTo, Settings};
use crate::limits::FAILING_AFTER;

/// All tasks of a set, by name.
#[must_use]
pub fn plans_of(set: &TaskSet) -> Vec<Plan> {
    set.tasks().map(|task| plan_of(task)).collect()
}

/// One task. `retry.attempts` of the file is the limit of attempts with the same values: after so many failures the task rests until
/// one of its parameters changes. Files do not say after how many failures a task is shown as failing, so that is
/// [`FAILING_AFTER`], or the limit of attempts if that is smaller.
#[must_use]
pub fn plan_of(task: &Task) -> Plan {
    let set_to = |to: &taskfile::SetTo| match to {
        taskfile::SetTo::Seen(parameter) => SetTo::Seen(parameter.clone()),
        taskfile::SetTo::Now => SetTo::Now,
        taskfile::SetTo::Number(number) => SetTo::Number(*number),
    };
    let taskfile::Retry { first, most, attempts } = task.retry;
    Plan {
        name: task.name.as_str().into(),
        trigger: task.trigger.clone(),
        calendar: task.calendar.clone(),
        priority: task.priority,
        pool: task.pool.clone(),
        sets: task.sets.iter().map(|(parameter, to)| (parameter.clone(), set_to(to))).collect(),
        produces: task.produces.clone(),
        hold_back: task.hold_back,
        retry: Retry { first, most, failing_after: FAILING_AFTER.min(attempts), limit: Some(attempts) },
        max_silence: task.max_silence,
        paused: task.paused,
    }
}

/// How much runs at the same time.
#[must_use]
pub fn settings_of(set: &TaskSet) -> Settings {
    let limits = set.limits();
    Settings { running: limits.running, pools: limits.pools.clone() }
}
