//! Values that no successful run has seen.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use triggers::{Calendar, Check, Parameter, Scale, Value};

use super::Miss;
use crate::limits::MISSES_LISTED;
use crate::{Plan, Planner, Seen, TaskName, TaskState};

/// The chunks of a parameter, for one task that runs for every new one of them.
struct Track {
    task: TaskName,
    scale: Scale,
    calendar: Calendar,
    /// Chunks in which no successful run has seen it.
    unseen: BTreeSet<i64>,
    seen: BTreeSet<i64>,
}

/// Values over time, and what successful runs have seen of them.
pub(super) struct Tracks {
    by_parameter: BTreeMap<Parameter, Vec<Track>>,
    since: BTreeMap<Parameter, Timestamp>,
    from: Timestamp,
}

impl Tracks {
    pub(super) fn new(
        plans: &[Plan],
        states: &BTreeMap<TaskName, TaskState>,
        values: &Seen,
        from: Timestamp,
    ) -> Self {
        let mut tracks = Self { by_parameter: BTreeMap::new(), since: BTreeMap::new(), from };
        for plan in plans {
            for (_, leaf) in plan.trigger.leaves() {
                let Check::ChunkDelta { scale, by: None | Some(1) } = leaf.check else { continue };
                let remembered = states.get(&plan.name).and_then(|state| state.remembered.get(&leaf.of));
                let mut track = Track {
                    task: plan.name.clone(),
                    scale,
                    calendar: plan.calendar.clone(),
                    unseen: BTreeSet::new(),
                    seen: BTreeSet::new(),
                };
                track.seen.extend(remembered.and_then(|value| track.index(*value)));
                tracks.by_parameter.entry(leaf.of.clone()).or_default().push(track);
            }
        }
        for (parameter, value) in values {
            tracks.note(parameter, *value);
        }
        tracks
    }

    pub(super) fn changed(&mut self, parameter: &Parameter, value: Option<Value>, at: Timestamp) {
        self.since.insert(parameter.clone(), at);
        if let Some(value) = value {
            self.note(parameter, value);
        }
    }

    fn note(&mut self, parameter: &Parameter, value: Value) {
        for track in self.by_parameter.get_mut(parameter).into_iter().flatten() {
            if let Some(index) = track.index(value)
                && !track.seen.contains(&index)
            {
                track.unseen.insert(index);
            }
        }
    }

    pub(super) fn succeeded(&mut self, task: &TaskName, seen: &Seen) {
        for (parameter, value) in seen {
            let tracks = self.by_parameter.get_mut(parameter).into_iter().flatten();
            for track in tracks.filter(|track| track.task == *task) {
                if let Some(index) = track.index(*value) {
                    track.unseen.remove(&index);
                    track.seen.insert(index);
                }
            }
        }
    }

    /// What is left at the end, and how much more is not listed.
    pub(super) fn misses(&self, planner: &Planner, plans: &[Plan], to: Timestamp) -> (Vec<Miss>, usize) {
        let mut misses = Vec::new();
        let mut latest: BTreeSet<(&TaskName, Parameter)> = BTreeSet::new();
        for plan in plans {
            let verdict = planner.explain(&plan.name, to).ok().and_then(|explanation| explanation.verdict);
            for leaf in verdict.into_iter().flat_map(|verdict| verdict.leaves) {
                let (true, true, Some(value)) = (leaf.holds, leaf.leaf.check.is_delta(), leaf.current) else {
                    continue;
                };
                let parameter = leaf.leaf.of;
                if latest.insert((&plan.name, parameter.clone())) {
                    let since = self.since.get(&parameter).copied().unwrap_or(self.from);
                    misses.push(Miss::Change { task: plan.name.clone(), parameter, value, since });
                }
            }
        }
        for (parameter, tracks) in &self.by_parameter {
            for track in tracks {
                let current = planner.value(parameter).and_then(|value| track.index(value));
                let is_latest = latest.contains(&(&track.task, parameter.clone()));
                for index in track.unseen.iter().filter(|index| !is_latest || current != Some(**index)) {
                    misses.push(Miss::Chunk {
                        task: track.task.clone(),
                        parameter: parameter.clone(),
                        scale: track.scale,
                        start: track.calendar.start_of(*index, track.scale),
                    });
                }
            }
        }
        let more = misses.len().saturating_sub(MISSES_LISTED);
        misses.truncate(MISSES_LISTED);
        (misses, more)
    }
}

impl Track {
    fn index(&self, value: Value) -> Option<i64> {
        match value {
            Value::Time(at) => Some(self.calendar.index(at, self.scale)),
            Value::Number(_) => None,
        }
    }
}
