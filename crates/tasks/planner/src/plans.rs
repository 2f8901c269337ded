//! Plans from task files.

use taskfile::{SetTo, Task, TaskSet};
use triggers::{Check, Group, Leaf, Parameter, Trigger};

use crate::limits::FAILING_AFTER;
use crate::{Plan, Retry};
use ctl::canonical;

#[must_use]
pub fn plans_of(set: &TaskSet) -> Vec<Plan> {
    set.tasks().map(|task| plan_of(task)).collect()
}

/// One task, with its parameters in [canonical](ctl::canonical) form. `retry.attempts` of the file
/// limits the attempts with the same values: after that many failures the task rests until one of
/// its parameters changes. Files do not say after how many failures a task counts as failing: that
/// is [`FAILING_AFTER`], or the limit if that is smaller.
#[must_use]
pub fn plan_of(task: &Task) -> Plan {
    let set_to = |to: &SetTo| match to {
        SetTo::Seen(parameter) => SetTo::Seen(same(parameter)),
        other => other.clone(),
    };
    let (sets, produces) = (task.sets.iter(), task.produces.iter());
    let taskfile::Retry { first, most, attempts } = task.retry;
    Plan {
        name: task.name.as_str().into(),
        trigger: same_names(&task.trigger),
        calendar: task.calendar.clone(),
        priority: task.priority,
        pool: task.pool.clone(),
        sets: sets.map(|(parameter, to)| (same(parameter), set_to(to))).collect(),
        produces: produces.map(same).collect(),
        hold_back: task.hold_back,
        retry: Retry { first, most, failing_after: FAILING_AFTER.min(attempts), limit: Some(attempts) },
        max_silence: task.max_silence,
        paused: task.paused,
    }
}

/// Every parameter of a task that values cannot have, with the reason.
pub fn refused_parameters(task: &Task) -> impl Iterator<Item = ctl::Error> {
    let seen = task.sets.values().filter_map(|to| match to {
        SetTo::Seen(parameter) => Some(parameter),
        SetTo::Now | SetTo::Number(_) => None,
    });
    let all = task.trigger.parameters().into_iter().chain(task.outputs()).chain(seen);
    all.filter_map(|parameter| canonical(parameter).err())
}

/// The canonical form. An invalid parameter stays as it is: [`refused_parameters`] reports it.
fn same(parameter: &Parameter) -> Parameter {
    canonical(parameter).unwrap_or_else(|_| parameter.clone())
}

fn same_names(trigger: &Trigger) -> Trigger {
    let leaf = |leaf: &Leaf| {
        let mut check = leaf.check.clone();
        if let Check::RefDelay { with, .. } | Check::ChunkRefDelay { with, .. } = &mut check {
            *with = same(with);
        }
        Leaf { of: same(&leaf.of), check }
    };
    let group = |group: &Group| match group {
        Group::Leaf(one) => Group::Leaf(leaf(one)),
        Group::Of(leaves) => Group::Of(leaves.iter().map(leaf).collect()),
    };
    match trigger {
        Trigger::Leaf(one) => Trigger::Leaf(leaf(one)),
        Trigger::All(groups) => Trigger::All(groups.iter().map(group).collect()),
        Trigger::Any(groups) => Trigger::Any(groups.iter().map(group).collect()),
    }
}
