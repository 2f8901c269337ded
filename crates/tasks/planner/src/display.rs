//! Explanations and alerts as text.

use std::fmt::{self, Display};

use triggers::show_duration;

use crate::decision::Alert;
use crate::explain::{Blocked, Explanation, QueuePosition, Runners};
use crate::state::{Phase, Rest};

/// Several lines: the status and its reason, the trigger leaf by leaf, problems and how to fix
/// them. No line feed at the end.
impl Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: ", self.task)?;
        self.show_status(out)?;
        match &self.paused {
            Some(pause) if pause.by.is_empty() => write!(out, "\npaused: {}", pause.reason)?,
            Some(pause) => {
                let at = self.calendar.show(&pause.at);
                write!(out, "\npaused by {} at {at}: {}", pause.by, pause.reason)?;
            }
            None => {}
        }
        if self.attempts > 0 {
            let failing = if self.failing { "failing: " } else { "" };
            write!(out, "\n{failing}{} in a row failed", attempts(self.attempts))?;
        }
        if let Some(error) = &self.error {
            write!(out, "\nlast error: {error}")?;
        }
        if let Some(hold) = &self.holds {
            let until = self.calendar.show(&hold.until);
            write!(
                out,
                "\nothers are held back for it until {until}: {} runs and produces {}",
                hold.running, hold.produces
            )?;
        }
        if let Some(verdict) = &self.verdict {
            write!(out, "\ntrigger: {}", self.calendar.show(verdict))?;
        }
        if let Some(earliest) = &self.earliest {
            write!(out, "\nearliest firing: {}", self.calendar.show(earliest))?;
        }
        self.show_rest(out)
    }
}

impl Explanation {
    fn show_status(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |moment| self.calendar.show(moment);
        match &self.phase {
            None => out.write_str("its definition is gone"),
            Some(Phase::Idle) if self.paused.is_some() => out.write_str("idle, because it is paused"),
            Some(Phase::Idle) => out.write_str("idle, because its trigger does not hold"),
            Some(Phase::Queued { since, cause, .. }) => {
                write!(out, "queued since {}", show(since))?;
                if let Some(QueuePosition { position, of, .. }) = &self.queue {
                    write!(out, ", place {position} of {of}")?;
                }
                write!(out, ": {cause}")?;
                self.blocked().iter().try_for_each(|blocked| write!(out, "\nnot started: {blocked}"))
            }
            Some(Phase::Running { run, since, cause, .. }) => {
                write!(out, "run {run} is under way since {}: {cause}", show(since))
            }
            Some(Phase::Waiting { until }) => {
                write!(out, "waits until {} after {}", show(until), attempts(self.attempts))
            }
            Some(Phase::Resting { since, why: Rest::GaveUp, .. }) => {
                let tried = attempts(self.attempts);
                write!(out, "gave up at {} after {tried}, until one of its parameters changes", show(since))
            }
            Some(Phase::Resting { since, why: Rest::Cancelled(signed), .. }) => {
                write!(out, "cancelled at {} by {signed}, until one of its parameters changes", show(since))
            }
        }
    }

    /// Why a queued task has not started, one sentence per reason; empty if it is not queued.
    #[must_use]
    pub fn blocked(&self) -> Vec<String> {
        let blocked = self.queue.iter().flat_map(|queue| &queue.blocked);
        blocked.map(|blocked| self.shown(blocked)).collect()
    }

    fn shown(&self, blocked: &Blocked) -> String {
        match blocked {
            Blocked::Writing => "its place in the queue is being written".to_owned(),
            Blocked::Full { limit, running } => format!("the limit of {limit} runs is reached: {running}"),
            Blocked::PoolFull { pool, limit, running } => {
                format!("the pool {pool} is full with {limit}: {running}")
            }
            Blocked::Held(hold) => format!(
                "held back for {} until {}, because {} runs and produces {}",
                hold.task,
                self.calendar.show(&hold.until),
                hold.running,
                hold.produces
            ),
            Blocked::Behind(other) => format!("it is the turn of {other}"),
            Blocked::Nothing => "it is about to".to_owned(),
        }
    }

    fn show_rest(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for regression in &self.regressions {
            write!(
                out,
                "\nregressed: {} is {}, and {} is remembered; fix it with one of",
                regression.parameter,
                self.calendar.show(&regression.current),
                self.calendar.show(&regression.remembered)
            )?;
            regression.fixes.iter().try_for_each(|fix| write!(out, "\n    {fix}"))?;
        }
        if let Some(silence) = &self.silence {
            let lasts = show_duration(silence.lasts);
            let allowed = show_duration(silence.allowed);
            if silence.too_long {
                write!(out, "\nsilent for {lasts}, which is too long: {allowed} is allowed")?;
            } else {
                write!(out, "\nno success for {lasts}; {allowed} is allowed")?;
            }
        }
        if let Some(backfill) = &self.backfill {
            let next = self.calendar.show(&backfill.next);
            let to = self.calendar.show(&backfill.to);
            write!(
                out,
                "\nbackfill by {}: {} done, next {next}, up to {to}",
                backfill.signed, backfill.done
            )?;
            if let Some(error) = &backfill.stopped {
                write!(out, "; stopped: {error}; go on, or give it up, by one of")?;
                for verb in ["backfill-resume", "backfill-cancel"] {
                    write!(
                        out,
                        "\n    torg tasks {verb} {} --reason '...'",
                        text::shell::quoted(&self.task)
                    )?;
                }
            }
        }
        Ok(())
    }
}

fn attempts(count: u32) -> String {
    format!("{count} attempt{}", if count == 1 { "" } else { "s" })
}

impl Display for Runners {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.names.split_first() {
            None => return out.write_str("nothing runs"),
            Some((first, rest)) => {
                write!(out, "{first}")?;
                rest.iter().try_for_each(|name| write!(out, ", {name}"))?;
            }
        }
        if self.others > 0 {
            write!(out, " and {} more", self.others)?;
        }
        out.write_str(if self.names.len() + self.others == 1 { " runs" } else { " run" })
    }
}

impl Display for Alert {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent { since } => write!(out, "no run has succeeded since {since}"),
            Self::SilenceEnded => out.write_str("no longer silent for too long"),
            Self::Failing { attempts: count, error } => {
                write!(out, "failing: {} in a row failed, the last with: {error}", attempts(*count))
            }
            Self::Recovered => out.write_str("no longer failing"),
            Self::GaveUp { attempts: count } => {
                write!(out, "gave up after {}, until one of its parameters changes", attempts(*count))
            }
            Self::Regressed { parameter } => {
                write!(out, "{parameter} was moved back below what is remembered")
            }
            Self::RegressionEnded { parameter } => {
                write!(out, "{parameter} is no longer below what is remembered")
            }
            Self::BackfillStopped { chunk, error } => {
                write!(out, "the backfill stopped at the chunk of {chunk}: {error}")
            }
            Self::BackfillDone { chunks } => write!(out, "the backfill has run all {chunks} chunks"),
        }
    }
}
