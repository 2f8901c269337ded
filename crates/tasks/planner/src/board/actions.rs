//! What people do to a task. Every function takes the committed state and gives the one to commit in its place; once that is
//! committed, [`Board::state_changed`](super::Board::state_changed) is told. A conflict means: read the state again and repeat.

use std::fmt;

use jiff::Timestamp;
use triggers::{Parameter, Value};

use super::state::{Manual, Phase, Rest, TaskState};
use super::{Plan, Seen};
use crate::error::{Error, Result};
use crate::limits::{AUTHOR_CHARS_MAX, REASON_CHARS_MAX, REMEMBERED_MAX};

/// Who does something, when, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// Who.
    pub by: String,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

impl Signed {
    /// Refuses what is empty or too long.
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

/// The state after an action.
pub(super) fn changed(
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

/// Runs the task as soon as there is a place for it, whatever its trigger says, also while it is paused. With `record` a success is
/// remembered as that of a regular run. It is not tried again if it fails.
pub fn run_now(state: &TaskState, record: bool, signed: &Signed) -> Result<TaskState> {
    let asked = match &state.phase {
        Phase::Queued { cause: super::Cause::Manual(manual), .. } => Some(manual),
        _ => state.manual.as_ref(),
    };
    if let Some(manual) = asked {
        return Err(Error::AlreadyAsked { by: manual.signed.by.clone() });
    }
    changed(state, signed, |state| state.manual = Some(Manual { signed: signed.clone(), record }))
}

/// Keeps the task from firing, and its backfill from going on, until it is resumed. A run that is under way goes on.
pub fn pause(state: &TaskState, signed: &Signed) -> Result<TaskState> {
    if let Some(Signed { by, reason, .. }) = &state.paused {
        return Err(Error::Paused { by: by.clone(), reason: reason.clone() });
    }
    changed(state, signed, |state| {
        state.paused = Some(signed.clone());
        state.resumed = false;
    })
}

/// Ends a pause, also one that the definition of the task asks for.
pub fn resume(state: &TaskState, plan: &Plan, signed: &Signed) -> Result<TaskState> {
    if state.paused.is_none() && (!plan.paused || state.resumed) {
        return Err(Error::NotPaused);
    }
    changed(state, signed, |state| {
        state.paused = None;
        state.resumed = plan.paused;
    })
}

/// Sets what is remembered of a parameter. A run that is under way overwrites it if it succeeds.
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

/// Forgets what is remembered of a parameter, or of all: the task fires as at its first run.
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

/// Takes the task out of the queue, or takes back a run that was asked for. As its trigger still holds, it then rests until one of
/// its parameters has another value than now: `seen`, from [`Board::seen`](super::Board::seen).
pub fn cancel(state: &TaskState, seen: Seen, signed: &Signed) -> Result<TaskState> {
    use super::Cause;
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

/// What was mended ends a rest: the trigger is looked at again.
fn wake(state: &mut TaskState) {
    if matches!(state.phase, Phase::Resting { .. }) {
        state.phase = Phase::Idle;
    }
}
