//! The calls of stages that are under way, and the entities that they are about.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::task::{self, JoinSet};
use tokio::time::Instant;

use crate::schedule::{Fit, Item, Line};
use crate::visit::Visited;
use clock::Time;

/// Entities under way, by shard and id.
pub(super) type Busy = BTreeMap<(u32, Arc<str>), Visiting>;

/// An entity in a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visiting {
    pub(super) stage: usize,
    /// The time of its queue row.
    pub(super) visit: Time,
    /// Whether that row was written again meanwhile.
    pub(super) rewritten: bool,
}

/// A call of a stage.
pub(super) struct Call {
    pub(super) stage: usize,
    pub(super) line: Line,
    pub(super) items: Vec<Item>,
    /// By the watcher's clock, which may jump.
    pub(super) began: Time,
    /// By a monotonic clock.
    pub(super) started: Instant,
}

#[derive(Default)]
pub(super) struct Calls {
    /// Entities that a stage visits.
    visiting: Busy,
    /// Entities about which stages are asked. They may be visited meanwhile.
    questioned: Busy,
    /// Entities that must be called alone: by stage, shard and id.
    pub(super) isolated: BTreeSet<(usize, u32, Arc<str>)>,
    pub(super) tasks: JoinSet<Visited>,
    pub(super) under_way: BTreeMap<task::Id, Call>,
}

impl Calls {
    /// What excludes entities from calls of a stage: visits exclude visits, questions exclude
    /// questions.
    pub(super) fn busy(&self, stage: usize) -> &Busy {
        if stage == 0 { &self.questioned } else { &self.visiting }
    }

    pub(super) fn busy_mut(&mut self, stage: usize) -> &mut Busy {
        if stage == 0 { &mut self.questioned } else { &mut self.visiting }
    }

    /// Whether something is under way in a shard.
    pub(super) fn is_busy(&self, shard: u32) -> bool {
        let first = |busy: &Busy| {
            busy.range((shard, Arc::from(""))..).next().is_some_and(|((of, _), _)| *of == shard)
        };
        first(&self.visiting) || first(&self.questioned)
    }

    pub(super) fn visitor(&self, shard: u32, entity: Arc<str>) -> Option<usize> {
        self.visiting.get(&(shard, entity)).map(|visiting| visiting.stage)
    }

    /// Whether an entity may be called now.
    pub(super) fn fit(&self, stage: usize, shard: u32, entity: &Arc<str>) -> Fit {
        if self.busy(stage).contains_key(&(shard, Arc::clone(entity))) && !planted!(BusyIgnored) {
            Fit::Busy
        } else if self.isolated.is_empty() || !self.isolated.contains(&(stage, shard, Arc::clone(entity))) {
            Fit::Free
        } else {
            Fit::Alone
        }
    }

    pub(super) fn start(&mut self, call: Call, task: impl Future<Output = Visited> + Send + 'static) {
        for item in &call.items {
            let visiting = Visiting { stage: call.stage, visit: item.visit, rewritten: false };
            self.busy_mut(call.stage).insert((item.shard, Arc::clone(&item.entity)), visiting);
        }
        self.under_way.insert(self.tasks.spawn(task).id(), call);
    }
}
