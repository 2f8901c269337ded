use std::collections::BTreeMap;
use std::time::Duration;

use watcher::insight::{Control, RowKey};

use super::{Invariant, Seen, require};
use crate::tables::{Commit, Role, Stored, Tables};
use crate::world::{Call, What};

/// What was ordered is heard at the next beat; but the store may be slow, or fail, and the call
/// that is being prepared is still made. All that takes no longer than this, in milliseconds,
/// beside the lease time.
const SLOWNESS_MS: u64 = 6000;

/// A stage that is paused is not visited, as soon as the order may have reached the process.
pub(crate) struct Paused {
    lease_ms: u64,
    /// When each stage was paused.
    since: BTreeMap<String, u64>,
    /// When each process was first heard of.
    began: BTreeMap<String, u64>,
}

impl Paused {
    pub(crate) fn new(lease_time: Duration) -> Self {
        Self { lease_ms: lease_time.as_millis() as u64, since: BTreeMap::new(), began: BTreeMap::new() }
    }
}

impl Invariant for Paused {
    fn name(&self) -> &'static str {
        "a stage that is paused is not visited"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        if commit.role == Role::Instance {
            self.began.entry(commit.actor.to_owned()).or_insert(commit.now_ms);
        }
        let controls = commit.places(|place| match place {
            RowKey::Control { stage } => Some(stage),
            _ => None,
        });
        for (stage, change) in controls {
            if change.after.as_ref().map(Stored::read::<Control>).is_some_and(|control| control.paused) {
                self.since.entry(stage.clone()).or_insert(commit.now_ms);
            } else {
                self.since.remove(stage);
            }
        }
        None
    }

    fn at_call(&mut self, call: &Call, _tables: &Tables) -> Option<Seen> {
        let since = *self.since.get(call.stage).filter(|_| call.what == What::Visit)?;
        let since = since.max(self.began.get(&call.instance).copied().unwrap_or(call.began_ms));
        let heard = since + self.lease_ms + SLOWNESS_MS + call.delay_ms;
        Some(require(call.began_ms <= heard, || {
            format!("{} visits {}, which is paused since {since}", call.stage, call.thing.id)
        }))
    }
}
