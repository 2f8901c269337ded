//! The evaluation of one task.

use jiff::Timestamp;
use triggers::fires;

use crate::Planner;
use crate::bugs::Bug;
use crate::decision::Step;
use crate::planner::TaskId;
use crate::state::{Cause, Phase};

impl Planner {
    /// Brings a task up to date. Without news it changes and allocates nothing.
    pub(crate) fn evaluate(&mut self, task: TaskId, now: Timestamp) {
        if !self.entries[task as usize].is_sealed() && !self.end_run(task, now) {
            self.introduce(task);
            self.watch(task, now);
            self.settle(task, now);
        }
        self.refresh_hold(task, now);
        self.refresh_timer(task, now);
    }

    /// A new task is always committed, so that the time since it is known is durable.
    fn introduce(&mut self, task: TaskId) {
        let entry = &self.entries[task as usize];
        if entry.fresh && entry.pending.is_none() {
            let pending = self.touch(task);
            pending.forced = true;
            pending.why.push(Step::FirstKnown);
        }
    }

    fn settle(&mut self, task: TaskId, now: Timestamp) {
        let entry = &self.entries[task as usize];
        if entry.state.resumed && entry.plan.as_ref().is_some_and(|plan| !plan.paused) {
            self.touch(task).why.push(Step::PauseDropped);
            self.entries[task as usize].state.resumed = false;
        }
        let entry = &self.entries[task as usize];
        match &entry.state.phase {
            Phase::Idle => self.fire(task, now, None),
            Phase::Waiting { until } if *until <= now && !self.has(Bug::NoRetry) => {
                self.fire(task, now, Some(Step::PauseOver));
            }
            Phase::Waiting { .. } if entry.state.manual.is_some() => self.fire(task, now, None),
            Phase::Resting { seen, .. } => {
                if entry.sees(seen, &self.parameters) {
                    self.fire(task, now, None);
                } else {
                    self.leave_rest(task, now);
                }
            }
            Phase::Queued { cause, .. } => {
                let why = match cause {
                    _ if entry.plan.is_none() => Step::Gone,
                    Cause::Manual(_) => return,
                    _ if entry.state.manual.is_some() => return self.promote_to_manual(task),
                    _ if entry.is_paused() && !self.has(Bug::PauseIgnored) => Step::Paused,
                    Cause::Chunk(_) if self.next_chunk(task).is_none() => Step::BackfillOver,
                    _ => return,
                };
                self.touch(task).why.push(why);
                self.set_phase(task, Phase::Idle);
                self.mark_dirty(task);
            }
            Phase::Running { .. } if self.has(Bug::CheckedWhileRunning) => self.fire(task, now, None),
            Phase::Waiting { .. } | Phase::Running { .. } => {}
        }
    }

    /// A changed value ends a rest, and failures with the old values no longer count.
    fn leave_rest(&mut self, task: TaskId, now: Timestamp) {
        self.touch(task).why.push(Step::WokenByValue);
        self.entries[task as usize].state.attempts = 0;
        self.set_phase(task, Phase::Idle);
        self.fire(task, now, None);
    }

    /// Queues a task if there is a cause; otherwise it becomes idle if its wait is over.
    fn fire(&mut self, task: TaskId, now: Timestamp, over: Option<Step>) {
        let Some(cause) = self.cause(task, now) else {
            if let Some(over) = over {
                self.touch(task).why.push(over);
                self.set_phase(task, Phase::Idle);
            }
            return;
        };
        let seen = self.entries[task as usize].seen(&self.parameters);
        let pending = self.touch(task);
        pending.why.extend(over);
        pending.why.push(match cause {
            Cause::Trigger => Step::Fired,
            Cause::Manual(_) => Step::Requested,
            Cause::Chunk(_) => Step::ChunkDue,
        });
        let entry = &mut self.entries[task as usize];
        match cause {
            Cause::Manual(_) => entry.state.manual = None,
            Cause::Trigger => entry.hold_began = None,
            Cause::Chunk(_) => {}
        }
        self.set_phase(task, Phase::Queued { since: now, seen, cause });
    }

    /// Why the task should be queued: requested runs first, then chunks, then its trigger.
    fn cause(&self, task: TaskId, now: Timestamp) -> Option<Cause> {
        let entry = &self.entries[task as usize];
        let plan = entry.plan.as_ref()?;
        if let Some(manual) = &entry.state.manual {
            return Some(Cause::Manual(manual.clone()));
        }
        if entry.is_paused() && !self.has(Bug::PauseIgnored) {
            return None;
        }
        if let Some(chunk) = self.next_chunk(task) {
            return Some(Cause::Chunk(chunk));
        }
        if matches!(entry.state.phase, Phase::Resting { .. }) {
            return None;
        }
        fires(&plan.trigger, &entry.view(&self.parameters), now, &plan.calendar).then_some(Cause::Trigger)
    }

    /// A requested run takes the task's place in the queue.
    fn promote_to_manual(&mut self, task: TaskId) {
        self.touch(task).why.push(Step::Requested);
        let entry = &mut self.entries[task as usize];
        if let (Some(manual), Phase::Queued { cause, .. }) =
            (entry.state.manual.take(), &mut entry.state.phase)
        {
            *cause = Cause::Manual(manual);
        }
    }

    pub(crate) fn set_phase(&mut self, task: TaskId, phase: Phase) {
        self.unqueue(task);
        self.entries[task as usize].state.phase = phase;
        self.enqueue(task);
        self.sync_slot(task);
    }

    fn refresh_timer(&mut self, task: TaskId, now: Timestamp) {
        let entry = &self.entries[task as usize];
        let own = || {
            let plan = entry.plan.as_ref().filter(|_| !entry.is_sealed())?;
            let wait = match &entry.state.phase {
                Phase::Waiting { until } => Some(*until),
                Phase::Idle if !entry.is_paused() && !self.has(Bug::NoWake) => {
                    entry.view(&self.parameters).wake(plan, now)
                }
                _ => None,
            };
            wait.into_iter().chain(self.silent_from(task)).min()
        };
        let moment = entry.hold_recheck.into_iter().chain(own()).filter(|moment| *moment > now).min();
        let entry = &mut self.entries[task as usize];
        self.timers.shift(task, entry.timer, moment);
        entry.timer = moment;
    }
}
