//! The end of a run.

use std::mem;

use jiff::Timestamp;

use crate::bugs::Bug;
use crate::decision::{Act, Alert, End, Outcome, Step};
use crate::limits::ERROR_CHARS_MAX;
use crate::state::{Cause, Phase, Rest};
use crate::{Planner, Seen, TaskId, after};

impl Planner {
    /// Processes the reported end of the current run. The task gets no further decision before that
    /// is committed, because the values that the run set are not known before.
    pub(crate) fn end_run(&mut self, task: TaskId, now: Timestamp) -> bool {
        let entry = &mut self.entries[task as usize];
        let Some((number, ..)) = &entry.ended else { return false };
        let running = match &entry.state.phase {
            Phase::Running { run, since, seen, cause } if run == number => {
                Some((*since, seen.clone(), cause.clone()))
            }
            _ => None,
        };
        let Some((began, seen, cause)) = running else {
            // Its end is already committed.
            entry.ended = None;
            return false;
        };
        let Some((run, outcome, ended)) = entry.ended.clone() else { return false };
        self.touch(task);
        let writes = match &outcome {
            Outcome::Succeeded { wrote } => self.succeeded(task, &seen, &cause, ended, (wrote, began)),
            Outcome::Failed { error } => self.failed(task, &seen, &cause, ended, (Step::Failed, error)),
            Outcome::Lost => {
                self.failed(task, &seen, &cause, ended, (Step::Lost, "the run died, and its end is unknown"))
            }
        };
        self.watch(task, now);
        let pending = self.touch(task);
        pending.act = Act::End(End { run, outcome, began, ended, seen, cause, writes });
        pending.sealed = true;
        true
    }

    fn succeeded(
        &mut self,
        task: TaskId,
        seen: &Seen,
        cause: &Cause,
        ended: Timestamp,
        (wrote, began): (&Seen, Timestamp),
    ) -> Seen {
        let latest =
            self.has(Bug::LatestRemembered).then(|| self.entries[task as usize].seen(&self.parameters));
        self.touch(task).why.push(Step::Succeeded);
        let entry = &mut self.entries[task as usize];
        let plan = entry.plan.clone();
        let recovered = mem::take(&mut entry.state.told_failing);
        entry.state.attempts = 0;
        entry.state.error = None;
        let mut writes = Seen::new();
        match cause {
            Cause::Chunk(chunk) => self.chunk_succeeded(task, *chunk, seen),
            Cause::Trigger | Cause::Manual(_) => {
                entry.state.last_success = Some(ended);
                if !matches!(cause, Cause::Manual(manual) if !manual.record) {
                    entry.state.remembered = latest.unwrap_or_else(|| seen.clone());
                }
                writes = plan.map(|plan| plan.writes(seen, began)).unwrap_or_default();
            }
        }
        if recovered {
            self.touch(task).alerts.push(Alert::Recovered);
        }
        self.set_phase(task, Phase::Idle);
        writes.extend(wrote.clone());
        writes
    }

    fn failed(
        &mut self,
        task: TaskId,
        seen: &Seen,
        cause: &Cause,
        ended: Timestamp,
        (why, error): (Step, &str),
    ) -> Seen {
        let remembers = self.has(Bug::FailureRemembered);
        self.touch(task).why.push(why);
        let error = error.chars().take(ERROR_CHARS_MAX).collect::<String>();
        let entry = &mut self.entries[task as usize];
        if remembers {
            entry.state.remembered.clone_from(seen);
        }
        let retry = entry.plan.as_ref().map(|plan| plan.retry).unwrap_or_default();
        entry.state.last_failure = Some(ended);
        entry.state.error = Some(error.clone());
        let mut alerts = Vec::new();
        match cause {
            Cause::Trigger => {
                let attempts = entry.state.attempts.saturating_add(1);
                entry.state.attempts = attempts;
                if attempts == retry.failing_after.max(1) {
                    alerts.push(Alert::Failing { attempts, error });
                }
                if retry.is_over(attempts) {
                    alerts.push(Alert::GaveUp { attempts });
                }
                entry.state.told_failing |= !alerts.is_empty();
            }
            Cause::Manual(_) => {}
            Cause::Chunk(chunk) => {
                if let Some(backfill) = &mut entry.state.backfill {
                    backfill.stopped = Some(error.clone());
                    alerts.push(Alert::BackfillStopped { chunk: chunk.start, error });
                }
            }
        }
        let next = match entry.state.attempts {
            0 => Phase::Idle,
            // Without a definition there is no retry; a returning definition is evaluated anyway.
            _ if entry.plan.is_none() => Phase::Idle,
            attempts if retry.is_over(attempts) => {
                Phase::Resting { since: ended, seen: seen.clone(), why: Rest::GaveUp }
            }
            attempts => Phase::Waiting { until: after(ended, retry.pause(attempts)) },
        };
        self.set_phase(task, next);
        self.touch(task).alerts.extend(alerts);
        Seen::new()
    }
}
