use std::collections::BTreeSet;

use watcher::Entity;
use watcher::insight::RowKey;

use super::{Invariant, Seen, require};
use crate::tables::{Commit, Role};
use crate::thing::Thing;

/// An operation from outside is applied once, however often it is tried.
#[derive(Default)]
pub(crate) struct Operations {
    applied: BTreeSet<u64>,
}

impl Invariant for Operations {
    fn name(&self) -> &'static str {
        "an operation is applied once at most"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        if commit.role != Role::Outside {
            return None;
        }
        let saved = commit.places(|place| matches!(place, RowKey::Entity { .. }).then_some(()));
        let things = saved.filter_map(|((), change)| Thing::decode(&change.after.as_ref()?.value).ok());
        let ops: Vec<u64> = things.map(|thing| thing.op).collect();
        let again = ops.iter().find(|op| !self.applied.insert(**op));
        (!ops.is_empty())
            .then(|| require(again.is_none(), || format!("operation {again:?} was applied again")))
    }
}
