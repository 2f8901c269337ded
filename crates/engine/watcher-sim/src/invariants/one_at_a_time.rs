use std::collections::BTreeMap;

use watcher::insight::RowKey;

use super::{Invariant, Seen, require};
use crate::tables::{Commit, Role, Tables, lease_of};
use crate::world::{Call, Returned, What};

/// One stage works on an entity at a time.
///
/// A process never has two stages visit one entity at the same time (a question is no visit), and
/// releases no shard while it calls a stage for an entity in it. A process that lost a shard
/// without knowing may still call stages; whatever it saves is refused ([`super::epochs`]).
#[derive(Default)]
pub(crate) struct OneAtATime {
    /// Calls under way: process and entity -> shard and stage.
    calls: BTreeMap<(String, String), (u32, &'static str)>,
}

impl Invariant for OneAtATime {
    fn name(&self) -> &'static str {
        "one stage at a time"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        if commit.role != Role::Instance {
            return None;
        }
        let given = commit.places(|place| match place {
            RowKey::Lease { shard } => Some(*shard),
            _ => None,
        });
        let given = given.filter(|(_, change)| lease_of(change.after.as_ref()).0.is_empty());
        let look = |(shard, _)| {
            let mut calls = self.calls.iter().filter(|((instance, _), _)| instance == commit.actor);
            let call = calls.find(|(_, (of, _))| *of == shard);
            require(call.is_none(), || format!("shard {shard} is given away during a call: {call:?}"))
        };
        given.map(look).reduce(Seen::and)
    }

    fn at_call(&mut self, call: &Call, _tables: &Tables) -> Option<Seen> {
        if call.what == What::Ask {
            return None;
        }
        let whose = (call.instance.clone(), call.thing.id.clone());
        let other = self.calls.insert(whose.clone(), (call.shard, call.stage));
        Some(require(other.is_none(), || format!("{whose:?} is with {} and with {other:?}", call.stage)))
    }

    fn at_return(&mut self, call: &Call, _answer: &Returned) -> Option<Seen> {
        if call.what == What::Visit {
            self.calls.remove(&(call.instance.clone(), call.thing.id.clone()));
        }
        None
    }
}
