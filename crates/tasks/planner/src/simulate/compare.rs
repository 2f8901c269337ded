//! Comparison of two simulations.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;

use super::{Firing, Simulation};
use crate::{Seen, TaskName};

/// How two simulations differ. Runs of one task that saw the same values are matched in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Runs that only the first has.
    pub only_first: Vec<Firing>,
    /// Runs that only the second has.
    pub only_second: Vec<Firing>,
    pub moved: Vec<Moved>,
    /// Runs that start at the same time in both.
    pub same: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub task: TaskName,
    pub seen: Seen,
    pub first: Timestamp,
    pub second: Timestamp,
}

impl Comparison {
    #[must_use]
    pub const fn is_same(&self) -> bool {
        self.only_first.is_empty() && self.only_second.is_empty() && self.moved.is_empty()
    }
}

#[must_use]
pub fn compare(first: &Simulation, second: &Simulation) -> Comparison {
    let mut open: BTreeMap<(&TaskName, &Seen), VecDeque<&Firing>> = BTreeMap::new();
    for firing in &second.firings {
        open.entry((&firing.task, &firing.seen)).or_default().push_back(firing);
    }
    let mut comparison = Comparison::default();
    for firing in &first.firings {
        match open.get_mut(&(&firing.task, &firing.seen)).and_then(VecDeque::pop_front) {
            None => comparison.only_first.push(firing.clone()),
            Some(other) if other.at == firing.at => comparison.same += 1,
            Some(other) => comparison.moved.push(Moved {
                task: firing.task.clone(),
                seen: firing.seen.clone(),
                first: firing.at,
                second: other.at,
            }),
        }
    }
    comparison.only_second = open.into_values().flatten().cloned().collect();
    comparison.only_second.sort_by(|a, b| (a.at, &a.task, a.run).cmp(&(b.at, &b.task, b.run)));
    comparison
}
