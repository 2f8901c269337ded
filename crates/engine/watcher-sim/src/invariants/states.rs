use watcher::insight::RowKey;

use super::{Invariant, Seen, require};
use crate::stages::Kind;
use crate::tables::{Change, Commit, Role, entry_key};

/// A stage writes its own state only: beside a state, the batch has the entry of the same stage.
pub(crate) struct States;

impl Invariant for States {
    fn name(&self) -> &'static str {
        "a stage writes only its own state"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let states = commit.places(|place| match place {
            RowKey::State { shard, entity, stage } => Some((*shard, entity, stage)),
            _ => None,
        });
        let look = |((shard, entity, stage), _): ((u32, &String, &String), &Change)| {
            let is_own = commit.role == Role::Outside
                || commit.change(&entry_key(shard, entity, stage)).is_some_and(|entry| entry.after.is_some());
            require(is_own && Kind::of(stage).is_some(), || {
                format!("{} wrote a state of {stage} beside {entity}, without a visit", commit.actor)
            })
        };
        states.map(look).reduce(Seen::and)
    }
}
