//! Evaluates a trigger.

use jiff::Timestamp;

use crate::calendar::Calendar;
use crate::leaf::evaluate;
use crate::next_change::{next_change, next_of_leaf};
use crate::trigger::{Aggregate, Group, Leaf, Path, Trigger};
use crate::value::Values;
use crate::verdict::{LeafVerdict, Verdict};

/// Whether a task should run now. Agrees with [`check`] without explaining: it stops at the
/// deciding leaf and allocates nothing (except the calendar, on its first use of a chunk size).
///
/// An empty aggregate never holds.
#[must_use]
pub fn fires(
    trigger: &Trigger,
    values: &(impl Values + ?Sized),
    now: Timestamp,
    calendar: &Calendar,
) -> bool {
    let holds = |leaf: &Leaf| evaluate(leaf, values, now, calendar).reason.holds();
    match trigger {
        Trigger::Leaf(leaf) => holds(leaf),
        Trigger::All(groups) => {
            !groups.is_empty() && groups.iter().all(|group| group.leaves().iter().any(holds))
        }
        Trigger::Any(groups) => groups.iter().any(|group| match group {
            Group::Leaf(leaf) => holds(leaf),
            Group::Of(leaves) => !leaves.is_empty() && leaves.iter().all(holds),
        }),
    }
}

/// Whether a task should run now, the verdict of each leaf, the values to remember if the run
/// succeeds, and when time alone changes the answer.
#[must_use]
pub fn check(
    trigger: &Trigger,
    values: &(impl Values + ?Sized),
    now: Timestamp,
    calendar: &Calendar,
) -> Verdict {
    let ask = |(path, leaf)| ask(path, leaf, values, now, calendar);
    let leaves: Vec<LeafVerdict> = trigger.leaves().map(ask).collect();
    let fires = joined(trigger, &leaves);
    let current = |of| values.current(of).map(|value| (of.clone(), value));
    let seen = trigger.parameters().into_iter().filter_map(current).collect();
    let next = next_change(trigger, values, now, calendar);
    Verdict { fires, leaves, seen, next, until: next.filter(|_| fires) }
}

fn ask(
    path: Path,
    leaf: &Leaf,
    values: &(impl Values + ?Sized),
    now: Timestamp,
    calendar: &Calendar,
) -> LeafVerdict {
    let evaluated = evaluate(leaf, values, now, calendar);
    LeafVerdict {
        path,
        leaf: leaf.clone(),
        current: values.current(&leaf.of),
        remembered: values.remembered(&leaf.of),
        reference: leaf.reference().and_then(|with| values.current(with)),
        difference: evaluated.difference,
        threshold: leaf.threshold(),
        holds: evaluated.reason.holds(),
        reason: evaluated.reason,
        next: next_of_leaf(leaf, values, now, calendar),
    }
}

fn joined(trigger: &Trigger, leaves: &[LeafVerdict]) -> bool {
    let (how, groups) = match trigger {
        Trigger::Leaf(_) => return leaves.iter().any(|leaf| leaf.holds),
        Trigger::All(groups) => (Aggregate::All, groups),
        Trigger::Any(groups) => (Aggregate::Any, groups),
    };
    let mut rest = leaves;
    let members: Vec<bool> = groups
        .iter()
        .map(|group| {
            let (own, others) = rest.split_at(group.leaves().len());
            rest = others;
            let own: Vec<bool> = own.iter().map(|leaf| leaf.holds).collect();
            how.inner().joins(&own)
        })
        .collect();
    how.joins(&members)
}

impl Aggregate {
    /// Whether the aggregate holds; one of nothing never does.
    #[must_use]
    pub fn joins(self, members: &[bool]) -> bool {
        match self {
            Self::All => !members.is_empty() && members.iter().all(|holds| *holds),
            Self::Any => members.iter().any(|holds| *holds),
        }
    }
}
