//! Running a task for past chunks, in order.

use jiff::Timestamp;
use triggers::{Calendar, Scale, Trigger, Value};

use crate::actions::changed;
use crate::decision::Alert;
use crate::error::{Error, Result};
use crate::limits::BACKFILL_CHUNKS_MAX;
use crate::state::{Backfill, Cause, Chunk, Phase, TaskState};
use crate::{Plan, Planner, Seen, Signed, TaskId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackfillOrder {
    /// `None`: the chunks of the trigger.
    pub scale: Option<Scale>,
    /// From the chunk that contains this moment.
    pub from: Timestamp,
    /// Only chunks that begin before this.
    pub to: Timestamp,
    /// At most this many, the first ones.
    pub limit: u32,
    /// Whether a successful chunk advances the remembered values: of every parameter that is
    /// compared with them, up to the end of the chunk, and never beyond the value that the run saw.
    pub record: bool,
}

/// The chunks of a range in order, from the one that contains its beginning.
#[must_use]
pub fn chunks(calendar: &Calendar, scale: Scale, from: Timestamp, to: Timestamp, limit: u32) -> Vec<Chunk> {
    let mut next = from;
    let one = || {
        let chunk = chunk_of(calendar, scale, next, to)?;
        next = chunk.end;
        Some(chunk)
    };
    std::iter::from_fn(one).take(limit.min(BACKFILL_CHUNKS_MAX) as usize).collect()
}

/// The chunk size of a trigger, if all of its leaves with chunks agree.
pub fn scale_of(trigger: &Trigger) -> Result<Scale> {
    let mut scales: Vec<Scale> = trigger.leaves().filter_map(|(_, leaf)| leaf.check.scale()).collect();
    scales.sort_unstable();
    scales.dedup();
    match scales.as_slice() {
        [scale] => Ok(*scale),
        [] => Err(Error::NoScale { found: "none".to_owned() }),
        several => {
            let several: Vec<String> = several.iter().map(ToString::to_string).collect();
            Err(Error::NoScale { found: several.join(" and ") })
        }
    }
}

/// Runs chunks one after the other, before regular firings of the task. A failed chunk stops the
/// backfill.
pub fn start(state: &TaskState, plan: &Plan, order: &BackfillOrder, signed: &Signed) -> Result<TaskState> {
    if state.backfill.is_some() {
        return Err(Error::BackfillRunning);
    }
    if !(1..=BACKFILL_CHUNKS_MAX).contains(&order.limit) {
        return Err(Error::BackfillLimit);
    }
    let scale = order.scale.map_or_else(|| scale_of(&plan.trigger), Ok)?;
    if chunk_of(&plan.calendar, scale, order.from, order.to).is_none() {
        return Err(Error::EmptyRange);
    }
    let backfill = Backfill {
        scale,
        next: order.from,
        to: order.to,
        left: order.limit,
        done: 0,
        record: order.record,
        signed: signed.clone(),
        stopped: None,
    };
    changed(state, signed, |state| state.backfill = Some(backfill))
}

pub fn resume(state: &TaskState, signed: &Signed) -> Result<TaskState> {
    match &state.backfill {
        None => return Err(Error::NoBackfill("is under way")),
        Some(Backfill { stopped: None, .. }) => return Err(Error::NoBackfill("has stopped")),
        Some(_) => {}
    }
    changed(state, signed, |state| {
        if let Some(backfill) = &mut state.backfill {
            backfill.stopped = None;
        }
    })
}

/// Gives up the remaining chunks. A current run continues.
pub fn cancel(state: &TaskState, signed: &Signed) -> Result<TaskState> {
    if state.backfill.is_none() {
        return Err(Error::NoBackfill("is under way"));
    }
    changed(state, signed, |state| {
        state.backfill = None;
        if matches!(state.phase, Phase::Queued { cause: Cause::Chunk(_), .. }) {
            state.phase = Phase::Idle;
        }
    })
}

fn chunk_of(calendar: &Calendar, scale: Scale, at: Timestamp, to: Timestamp) -> Option<Chunk> {
    let index = calendar.index(at, scale);
    let (start, end) = (calendar.start_of(index, scale), calendar.start_of(index.checked_add(1)?, scale));
    (at < to && start < end).then_some(Chunk { start, end })
}

impl Planner {
    pub(crate) fn next_chunk(&self, task: TaskId) -> Option<Chunk> {
        let entry = &self.entries[task as usize];
        let backfill = entry.state.backfill.as_ref().filter(|backfill| backfill.stopped.is_none())?;
        let calendar = &entry.plan.as_ref()?.calendar;
        chunk_of(calendar, backfill.scale, backfill.next, backfill.to).filter(|_| backfill.left > 0)
    }

    pub(crate) fn chunk_succeeded(&mut self, task: TaskId, chunk: Chunk, seen: &Seen) {
        let entry = &mut self.entries[task as usize];
        let Some(backfill) = &mut entry.state.backfill else { return };
        backfill.next = chunk.end;
        backfill.left = backfill.left.saturating_sub(1);
        backfill.done += 1;
        let chunks = backfill.done;
        if backfill.record {
            for input in entry.inputs.iter().filter(|input| input.delta) {
                let Some(current @ Value::Time(_)) = seen.get(&*input.parameter).copied() else { continue };
                let done = Value::Time(chunk.end).min(current);
                let known = entry.state.remembered.entry((*input.parameter).clone()).or_insert(done);
                *known = done.max(*known);
            }
        }
        if self.next_chunk(task).is_none() && self.entries[task as usize].plan.is_some() {
            self.entries[task as usize].state.backfill = None;
            self.touch(task).alerts.push(Alert::BackfillDone { chunks });
        }
    }
}
