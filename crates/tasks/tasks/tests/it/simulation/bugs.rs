//! Promises that are broken on purpose, to see that it would be noticed.

use store::{Batch, Key, Write};

use crate::simulation::dice::Dice;
use crate::simulation::world::Actor;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    /// Decisions are committed without the lease.
    NoFence,
    /// Marks of values are forgotten without the lease.
    NoFenceForMarks,
    /// A mark is forgotten though its value has changed again.
    MarkOfLater,
    /// Changes of one value are never heard of.
    Unheard,
    /// Rows of runs get lost.
    NoRow,
    /// What a success sets is not written.
    NothingSet,
    /// Who starts a run again starts another one.
    StartsTwice,
    /// The end of a run is told before it has ended.
    EarlyEnd,
    /// A run that has failed is told to be done.
    FailureIsDone,
    /// A run that is under way is told not to have been started.
    UnderWayIsNothing,
    /// Nobody stops a run whose time is over.
    NoTimeout,
    /// A run that died is never told.
    SilentDeath,
}

impl Bug {
    /// Every bug, and how it shows.
    pub(crate) const ALL: [(Self, &[&str]); 12] = [
        (Self::NoFence, &["without the lease"]),
        (Self::NoFenceForMarks, &["forgets marks without the lease"]),
        (Self::MarkOfLater, &["that no process has seen"]),
        (Self::Unheard, &["saw an old value", "has missed a change"]),
        (Self::NoRow, &["has no row"]),
        (Self::NothingSet, &["does not set what it should"]),
        (Self::StartsTwice, &["two at once"]),
        (Self::EarlyEnd, &["it is under way"]),
        (Self::FailureIsDone, &["it is not done"]),
        (Self::UnderWayIsNothing, &["it is under way"]),
        (Self::NoTimeout, &["it is under way"]),
        (Self::SilentDeath, &["does not come to rest"]),
    ];

    /// The batch as it arrives.
    pub(crate) fn tamper(bug: Option<Self>, batch: &Batch, actor: &Actor, dice: &Dice) -> Batch {
        let writes = |table: &str| batch.writes().iter().any(|(key, _)| key.table().name == table);
        let forgets =
            batch.writes().iter().any(|(key, write)| is(key, "ctl_changed") && *write == Write::Delete);
        let decides = writes("watcher_entities") && !actor.place.is_empty();
        let drops_check = |key: &Key| match bug {
            Some(Self::NoFence) => decides && is(key, "watcher_leases"),
            Some(Self::NoFenceForMarks) => forgets && is(key, "watcher_leases"),
            Some(Self::MarkOfLater) => forgets && is(key, "ctl_changed"),
            _ => false,
        };
        let loses_row = bug == Some(Self::NoRow) && decides && dice.percent(10);
        let drops_write = |key: &Key| match bug {
            Some(Self::NoRow) => loses_row && is(key, "task_runs"),
            Some(Self::NothingSet) => decides && key.table().name.starts_with("ctl_"),
            _ => false,
        };
        let mut arrives = batch.id().map_or_else(Batch::new, Batch::with_id);
        for (key, version) in batch.checks().iter().filter(|(key, _)| !drops_check(key)) {
            arrives.check(key.clone(), *version);
        }
        for (key, write) in batch.writes().iter().filter(|(key, _)| !drops_write(key)) {
            match write {
                Write::Put { version, value } => arrives.put(key.clone(), *version, value.clone()),
                Write::Delete => arrives.delete(key.clone()),
                Write::Add(delta) => arrives.add(key.clone(), *delta),
            };
        }
        arrives
    }
}

fn is(key: &Key, table: &str) -> bool {
    key.table().name == table
}
