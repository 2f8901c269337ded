//! Manual actions on a task. Every function takes the committed state and returns the one to commit
//! in its place; after the commit, call [`Planner::state_changed`](crate::Planner::state_changed).
//! On a conflict, read the state again and repeat.

use std::fmt;

use jiff::Timestamp;
use triggers::{Parameter, Value};

use crate::error::{Error, Result};
use crate::limits::REMEMBERED_MAX;
use crate::state::{Manual, Phase, Rest, TaskState};
use crate::{Plan, Seen};
use ctl::limits::{AUTHOR_CHARS_MAX, REASON_CHARS_MAX};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    pub by: String,
    pub reason: String,
    pub at: Timestamp,
}

impl Signed {
    /// Refuses a name or a reason that is empty or too long.
    pub fn new(by: &str, reason: &str, at: Timestamp) -> Result<Self> {
        let signed = Self { by: by.trim().to_owned(), reason: reason.trim().to_owned(), at };
        signed.validate()?;
        Ok(signed)
    }

    fn validate(&self) -> Result<()> {
        if self.by.is_empty() || self.by.chars().count() > AUTHOR_CHARS_MAX {
            return Err(Error::Author);
        }
        if self.reason.is_empty() || self.reason.chars().count() > REASON_CHARS_MAX {
            return Err(Error::Reason);
        }
        Ok(())
    }
}

impl fmt::Display for Signed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.by, self.reason)
    }
}

pub(crate) fn changed(
    state: &TaskState,
    signed: &Signed,
    change: impl FnOnce(&mut TaskState),
) -> Result<TaskState> {
    signed.validate()?;
    let mut changed = state.clone();
    change(&mut changed);
    changed.version += 1;
    Ok(changed)
}

/// Runs the task as soon as a slot is free, whatever its trigger says, even while it is paused.
/// With `record` a success is remembered like that of a regular run. A failure is not retried.
pub fn run_now(state: &TaskState, record: bool, signed: &Signed) -> Result<TaskState> {
    let requested = match &state.phase {
        Phase::Queued { cause: crate::Cause::Manual(manual), .. } => Some(manual),
        _ => state.manual.as_ref(),
    };
    if let Some(manual) = requested {
        return Err(Error::AlreadyRequested { by: manual.signed.by.clone() });
    }
    changed(state, signed, |state| state.manual = Some(Manual { signed: signed.clone(), record }))
}

/// Keeps the task from firing, and its backfill from continuing, until it is resumed. A current run
/// continues.
pub fn pause(state: &TaskState, signed: &Signed) -> Result<TaskState> {
    if let Some(Signed { by, reason, .. }) = &state.paused {
        return Err(Error::Paused { by: by.clone(), reason: reason.clone() });
    }
    changed(state, signed, |state| {
        state.paused = Some(signed.clone());
        state.resumed = false;
    })
}

/// Ends a pause, also one from the definition.
pub fn resume(state: &TaskState, plan: &Plan, signed: &Signed) -> Result<TaskState> {
    if state.paused.is_none() && (!plan.paused || state.resumed) {
        return Err(Error::NotPaused);
    }
    changed(state, signed, |state| {
        state.paused = None;
        state.resumed = plan.paused;
    })
}

/// Sets the remembered value of a parameter. A current run overwrites it if it succeeds.
pub fn set_remembered(
    state: &TaskState,
    plan: &Plan,
    parameter: &Parameter,
    value: Value,
    signed: &Signed,
) -> Result<TaskState> {
    let known = plan.trigger.parameters();
    if !known.contains(parameter) {
        let known: Vec<String> = known.into_iter().map(ToString::to_string).collect();
        return Err(Error::NotOfTrigger {
            task: plan.name.to_string(),
            parameter: parameter.clone(),
            known: known.join(", "),
        });
    }
    if state.remembered.len() >= REMEMBERED_MAX && !state.remembered.contains_key(parameter) {
        return Err(Error::TooManyRemembered);
    }
    changed(state, signed, |state| {
        state.remembered.insert(parameter.clone(), value);
        wake(state);
    })
}

/// Forgets the remembered value of a parameter, or of all: the task fires as at its first run.
pub fn delete_remembered(
    state: &TaskState,
    parameter: Option<&Parameter>,
    signed: &Signed,
) -> Result<TaskState> {
    match parameter {
        Some(parameter) if !state.remembered.contains_key(parameter) => {
            return Err(Error::NotRemembered(parameter.clone()));
        }
        None if state.remembered.is_empty() => return Err(Error::NothingRemembered),
        _ => {}
    }
    changed(state, signed, |state| {
        match parameter {
            Some(parameter) => drop(state.remembered.remove(parameter)),
            None => state.remembered.clear(),
        }
        wake(state);
    })
}

/// Takes the task out of the queue, or withdraws a requested run. As its trigger still holds, it
/// then rests until one of its parameters differs from `seen` (from
/// [`Planner::seen`](crate::Planner::seen)).
pub fn cancel(state: &TaskState, seen: Seen, signed: &Signed) -> Result<TaskState> {
    use crate::Cause;
    let next = match &state.phase {
        Phase::Queued { cause: Cause::Trigger, .. } => {
            Phase::Resting { since: signed.at, seen, why: Rest::Cancelled(signed.clone()) }
        }
        Phase::Queued { cause: Cause::Manual(_), .. } => Phase::Idle,
        Phase::Queued { cause: Cause::Chunk(_), .. } if state.manual.is_none() => {
            return Err(Error::ChunkQueued);
        }
        _ if state.manual.is_some() => state.phase.clone(),
        _ => return Err(Error::NotQueued),
    };
    changed(state, signed, |state| {
        state.phase = next;
        state.manual = None;
    })
}

/// A changed memory ends a rest: the trigger is evaluated again.
fn wake(state: &mut TaskState) {
    if matches!(state.phase, Phase::Resting { .. }) {
        state.phase = Phase::Idle;
    }
}
