//! Starting queued tasks.

use jiff::Timestamp;
use triggers::fires;

use crate::Planner;
use crate::bugs::Bug;
use crate::decision::{Act, Start, Step};
use crate::limits::DECISIONS_MAX;
use crate::planner::TaskId;
use crate::state::{Cause, Phase};

impl Planner {
    /// Starts what can start, in queue order. A task whose queue entry is being committed blocks
    /// the ones after it.
    pub(crate) fn start_ready(&mut self, now: Timestamp) {
        while let Some(key) = self.queue.next() {
            let task = key.task;
            if self.entries[task as usize].is_sealed() || self.touched.len() >= DECISIONS_MAX {
                return;
            }
            self.dequeue(task, now);
            self.evaluate_dirty(now);
            if !self.dirty.is_empty() {
                return;
            }
        }
    }

    /// A task leaves the queue: its trigger is checked again with the current values. If it no
    /// longer holds, the task is idle again; otherwise a success is remembered by what this check
    /// saw.
    fn dequeue(&mut self, task: TaskId, now: Timestamp) {
        let entry = &self.entries[task as usize];
        let (Phase::Queued { cause, .. }, Some(plan)) = (&entry.state.phase, &entry.plan) else { return };
        let holds = || fires(&plan.trigger, &entry.view(&self.parameters), now, &plan.calendar);
        let cause = match cause {
            Cause::Manual(manual) => Ok(Cause::Manual(manual.clone())),
            Cause::Chunk(_) => self.next_chunk(task).map(Cause::Chunk).ok_or(Step::BackfillOver),
            Cause::Trigger if self.has(Bug::NoRecheck) || holds() => Ok(Cause::Trigger),
            Cause::Trigger => Err(Step::NoLongerHolds),
        };
        match cause {
            Ok(cause) => self.start(task, cause, now),
            Err(why) => {
                self.touch(task).why.push(why);
                self.set_phase(task, Phase::Idle);
                self.mark_dirty(task);
            }
        }
    }

    fn start(&mut self, task: TaskId, cause: Cause, now: Timestamp) {
        let entry = &self.entries[task as usize];
        let seen = entry.seen(&self.parameters);
        let run = entry.state.runs + 1;
        let attempt = match cause {
            Cause::Trigger => entry.state.attempts + 1,
            Cause::Manual(_) | Cause::Chunk(_) => 1,
        };
        let pending = self.touch(task);
        pending.why.push(Step::TurnCame);
        pending.act = Act::Start(Start { run, seen: seen.clone(), attempt, cause: cause.clone() });
        pending.sealed = true;
        self.started.push(task);
        let state = &mut self.entries[task as usize].state;
        state.runs = run;
        state.last_run = Some(now);
        self.set_phase(task, Phase::Running { run, since: now, seen, cause });
        self.mark_dirty(task);
    }
}
