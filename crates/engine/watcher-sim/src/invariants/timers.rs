use std::collections::BTreeMap;

use watcher::insight::{Ended, RowKey};

use super::answers::ended_visits;
use super::{End, GRACE_MS, Invariant, Seen, require};
use crate::tables::Commit;
use crate::world::{Call, Returned, START_MS, What};

/// A visit that a stage requested is made, unless the entity is gone: every timer has fired or is
/// in the future.
#[derive(Default)]
pub(crate) struct Timers {
    /// The visit that each process was asked for with the last answer.
    asked: BTreeMap<(String, String, String), Option<i64>>,
    /// The timers of each entity and stage that are saved and have not fired.
    armed: BTreeMap<(String, String), i64>,
}

impl Invariant for Timers {
    fn name(&self) -> &'static str {
        "every timer fires"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        for ((_, entity, stage), ended, _) in ended_visits(commit) {
            let whose = (entity.clone(), stage.clone());
            self.armed.remove(&whose);
            let asked = self.asked.get(&(commit.actor.to_owned(), entity.clone(), stage.clone()));
            if let (true, Some(Some(time))) = (ended != Ended::ENDED_FAILED, asked) {
                self.armed.insert(whose, *time);
            }
        }
        let removed = commit.places(|place| match place {
            RowKey::Entity { entity, .. } => Some(entity.clone()),
            _ => None,
        });
        for (entity, _) in removed.filter(|(_, change)| change.after.is_none()) {
            self.armed.retain(|(of, _), _| *of != entity);
        }
        None
    }

    fn at_return(&mut self, call: &Call, answer: &Returned) -> Option<Seen> {
        if call.what != What::Visit {
            return None;
        }
        let next = answer.as_ref().and_then(|answer| answer.as_ref().ok()?.next);
        let whose = (call.instance.clone(), call.thing.id.clone(), call.stage.to_owned());
        self.asked.insert(whose, next.map(watcher::Time::as_ms));
        None
    }

    fn at_end(&mut self, end: &End<'_>) -> Option<Seen> {
        let late = START_MS + end.now_ms.saturating_sub(GRACE_MS).cast_signed();
        let missed = self.armed.iter().find(|(_, time)| **time < late);
        Some(require(missed.is_none(), || format!("a timer has not fired: {missed:?}")))
    }
}
