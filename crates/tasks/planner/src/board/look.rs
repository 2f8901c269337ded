//! What becomes of one task when it is looked at.

use jiff::Timestamp;
use triggers::fires;

use super::bugs::Bug;
use super::decision::Why;
use super::state::{Cause, Phase};
use super::{Board, TaskId};

impl Board {
    /// Brings a task up to date. If nothing is new this changes nothing and allocates nothing.
    pub(super) fn look(&mut self, task: TaskId, now: Timestamp) {
        if !self.entries[task as usize].is_sealed() && !self.end_run(task, now) {
            self.introduce(task);
            self.watch(task, now);
            self.settle(task, now);
        }
        self.refresh_hold(task, now);
        self.refresh_timer(task, now);
    }

    /// A task that is new is committed whatever becomes of it, so that it is known since when it is known.
    fn introduce(&mut self, task: TaskId) {
        let entry = &self.entries[task as usize];
        if entry.fresh && entry.pending.is_none() {
            let pending = self.touch(task);
            pending.forced = true;
            pending.why.push(Why::FirstKnown);
        }
    }

    fn settle(&mut self, task: TaskId, now: Timestamp) {
        let entry = &self.entries[task as usize];
        if entry.state.resumed && entry.plan.as_ref().is_some_and(|plan| !plan.paused) {
            self.touch(task).why.push(Why::PauseDropped);
            self.entries[task as usize].state.resumed = false;
        }
        let entry = &self.entries[task as usize];
        match &entry.state.phase {
            Phase::Idle => self.fire(task, now, None),
            Phase::Waiting { until } if *until <= now && !self.has(Bug::NoRetry) => {
                self.fire(task, now, Some(Why::PauseOver));
            }
            Phase::Waiting { .. } if entry.state.manual.is_some() => self.fire(task, now, None),
            Phase::Resting { seen, .. } => {
                if entry.sees(seen, &self.catalogue) {
                    self.fire(task, now, None);
                } else {
                    self.wake_up(task, now);
                }
            }
            Phase::Queued { cause, .. } => {
                let why = match cause {
                    _ if entry.plan.is_none() => Why::Gone,
                    Cause::Manual(_) => return,
                    _ if entry.state.manual.is_some() => return self.ask_in_queue(task),
                    _ if entry.is_paused() && !self.has(Bug::PauseIgnored) => Why::Paused,
                    Cause::Chunk(_) if self.next_chunk(task).is_none() => Why::BackfillOver,
                    _ => return,
                };
                self.touch(task).why.push(why);
                self.set_phase(task, Phase::Idle);
                self.mark(task);
            }
            Phase::Running { .. } if self.has(Bug::CheckedWhileRunning) => self.fire(task, now, None),
            Phase::Waiting { .. } | Phase::Running { .. } => {}
        }
    }

    /// Another value ends a rest, and the attempts that have failed with the old ones no longer count.
    fn wake_up(&mut self, task: TaskId, now: Timestamp) {
        self.touch(task).why.push(Why::Woken);
        self.entries[task as usize].state.attempts = 0;
        self.set_phase(task, Phase::Idle);
        self.fire(task, now, None);
    }

    /// Puts a task into the queue if there is a cause; otherwise it is idle if what it waited for is over.
    fn fire(&mut self, task: TaskId, now: Timestamp, over: Option<Why>) {
        let Some(cause) = self.cause(task, now) else {
            if let Some(over) = over {
                self.touch(task).why.push(over);
                self.set_phase(task, Phase::Idle);
            }
            return;
        };
        let seen = self.entries[task as usize].seen(&self.catalogue);
        let pending = self.touch(task);
        pending.why.extend(over);
        pending.why.push(match cause {
            Cause::Trigger => Why::Fired,
            Cause::Manual(_) => Why::Asked,
            Cause::Chunk(_) => Why::ChunkDue,
        });
        let entry = &mut self.entries[task as usize];
        match cause {
            Cause::Manual(_) => entry.state.manual = None,
            Cause::Trigger => entry.hold_began = None,
            Cause::Chunk(_) => {}
        }
        self.set_phase(task, Phase::Queued { since: now, seen, cause });
    }

    /// Why the task should be queued: what people want comes first, then chunks, then its trigger.
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
        fires(&plan.trigger, &entry.view(&self.catalogue), now, &plan.calendar).then_some(Cause::Trigger)
    }

    /// A run that somebody wants takes the place in the queue that the task has.
    fn ask_in_queue(&mut self, task: TaskId) {
        self.touch(task).why.push(Why::Asked);
        let entry = &mut self.entries[task as usize];
        if let (Some(manual), Phase::Queued { cause, .. }) =
            (entry.state.manual.take(), &mut entry.state.phase)
        {
            *cause = Cause::Manual(manual);
        }
    }

    pub(super) fn set_phase(&mut self, task: TaskId, phase: Phase) {
        self.unqueue(task);
        self.entries[task as usize].state.phase = phase;
        self.enqueue(task);
        self.sync_place(task);
    }

    /// When to look at the task again if nothing happens.
    fn refresh_timer(&mut self, task: TaskId, now: Timestamp) {
        let entry = &self.entries[task as usize];
        let own = || {
            let plan = entry.plan.as_ref().filter(|_| !entry.is_sealed())?;
            let wait = match &entry.state.phase {
                Phase::Waiting { until } => Some(*until),
                Phase::Idle if !entry.is_paused() && !self.has(Bug::NoWake) => {
                    entry.view(&self.catalogue).wake(plan, now)
                }
                _ => None,
            };
            wait.into_iter().chain(self.silent_from(task)).min()
        };
        let moment = entry.hold_look.into_iter().chain(own()).filter(|moment| *moment > now).min();
        let entry = &mut self.entries[task as usize];
        self.timers.shift(task, entry.timer, moment);
        entry.timer = moment;
    }
}
