//! Whose turn it is.

use jiff::Timestamp;
use triggers::fires;

use super::bugs::Bug;
use super::decision::{Act, Start, Why};
use super::state::{Cause, Phase};
use super::{Board, TaskId};
use crate::limits::DECISIONS_MAX;

impl Board {
    /// Starts what can be started, in the order of the queue. A task whose place in the queue is being written is waited for:
    /// nobody overtakes it.
    pub(super) fn start_ready(&mut self, now: Timestamp) {
        while let Some(key) = self.queue.next() {
            let task = key.task;
            // Who is left goes on when what is handed out is committed.
            if self.entries[task as usize].is_sealed() || self.touched.len() >= DECISIONS_MAX {
                return;
            }
            self.take_turn(task, now);
            self.look_at_dirty(now);
            if !self.dirty.is_empty() {
                return;
            }
        }
    }

    /// A task leaves the queue: its trigger is checked again with the values of this moment. If it no longer holds the task is idle
    /// again; if it does, what this check saw is what the success will be remembered by.
    fn take_turn(&mut self, task: TaskId, now: Timestamp) {
        let entry = &self.entries[task as usize];
        let (Phase::Queued { cause, .. }, Some(plan)) = (&entry.state.phase, &entry.plan) else { return };
        let holds = || fires(&plan.trigger, &entry.view(&self.catalogue), now, &plan.calendar);
        let cause = match cause {
            Cause::Manual(manual) => Ok(Cause::Manual(manual.clone())),
            Cause::Chunk(_) => self.next_chunk(task).map(Cause::Chunk).ok_or(Why::BackfillOver),
            Cause::Trigger if self.has(Bug::NoRecheck) || holds() => Ok(Cause::Trigger),
            Cause::Trigger => Err(Why::NoLongerHolds),
        };
        match cause {
            Ok(cause) => self.start(task, cause, now),
            Err(why) => {
                self.touch(task).why.push(why);
                self.set_phase(task, Phase::Idle);
                self.mark(task);
            }
        }
    }

    fn start(&mut self, task: TaskId, cause: Cause, now: Timestamp) {
        let entry = &self.entries[task as usize];
        let seen = entry.seen(&self.catalogue);
        let run = entry.state.runs + 1;
        let attempt = match cause {
            Cause::Trigger => entry.state.attempts + 1,
            Cause::Manual(_) | Cause::Chunk(_) => 1,
        };
        let pending = self.touch(task);
        pending.why.push(Why::TurnCame);
        pending.act = Act::Start(Start { run, seen: seen.clone(), attempt, cause: cause.clone() });
        pending.sealed = true;
        self.started.push(task);
        let state = &mut self.entries[task as usize].state;
        state.runs = run;
        state.last_run = Some(now);
        self.set_phase(task, Phase::Running { run, since: now, seen, cause });
        self.mark(task);
    }
}
