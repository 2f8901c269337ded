//! How a run ended.

use std::fmt;
use std::time::Duration;

use clock::Time;
use serde::{Deserialize, Serialize};

use crate::value::Values;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    pub reason: Reason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    pub began: Time,
    /// Of a run that died: when that was noticed.
    pub ended: Time,
    /// Values that the run sets. Empty unless it is done.
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub sets: Values,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Done,
    /// An exit code other than zero, a signal that Torg did not send, a refusal of a service, or
    /// unreadable values.
    Failed,
    TimedOut,
    Killed,
    /// The command could not be started; the detail says why. Nothing has happened.
    NotStarted,
    /// The command was started and its end is unknown: the machine or the supervisor went down.
    Died,
}

impl Reason {
    #[must_use]
    pub const fn is_done(self) -> bool {
        matches!(self, Self::Done)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
            Self::Killed => "killed",
            Self::NotStarted => "could not be started",
            Self::Died => "died",
        })
    }
}

impl End {
    pub(crate) fn new(reason: Reason, detail: impl Into<String>, began: Time, ended: Time) -> Self {
        let (code, signal, sets) = (None, None, Values::new());
        // A clock that was set back does not make a run end before it began.
        Self { reason, code, signal, detail: detail.into(), began, ended: ended.max(began), sets }
    }

    #[must_use]
    pub fn took(&self) -> Duration {
        self.ended.since(self.began)
    }
}

impl fmt::Display for End {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.reason)?;
        match (self.code, self.signal) {
            (Some(code), _) if code != 0 => write!(out, " with exit code {code}")?,
            (_, Some(signal)) => write!(out, " by signal {signal}")?,
            _ => {}
        }
        if self.detail.is_empty() { Ok(()) } else { write!(out, ": {}", self.detail) }
    }
}
