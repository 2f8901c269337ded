use std::collections::BTreeMap;

use super::answers::ended_visits;
use super::{Invariant, Seen, require};
use crate::tables::{Change, Commit, Tables};
use crate::world::{Call, What};

/// A request during a visit is not lost: the visit under way does not replace it.
#[derive(Default)]
pub(crate) struct Touches {
    /// The number of commits when each process began its last visit of an entity with a stage.
    began: BTreeMap<(String, String, String), u64>,
}

impl Invariant for Touches {
    fn name(&self) -> &'static str {
        "a touch during a visit is not lost"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let look = |(entity, stage, change): (&String, &String, &Change)| {
            let began = self.began.get(&(commit.actor.to_owned(), entity.clone(), stage.clone()));
            require(began.is_some_and(|began| change.written_before <= *began), || {
                let written = change.written_before;
                format!(
                    "the entry of {entity} in {stage} was rewritten by #{written}, the visit began after #{began:?}"
                )
            })
        };
        ended_visits(commit)
            .map(|((_, entity, stage), _, change)| look((entity, stage, change)))
            .reduce(Seen::and)
    }

    fn at_call(&mut self, call: &Call, _tables: &Tables) -> Option<Seen> {
        if call.what == What::Visit {
            let whose = (call.instance.clone(), call.thing.id.clone(), call.stage.to_owned());
            self.began.insert(whose, call.commits);
        }
        None
    }
}
