//! What is said of an entity.

use std::collections::BTreeMap;

use crate::budget::Slowed;
use crate::queue::Lane;
use crate::rows::{Ended, Entry, Head, Why as WhyRow};
use crate::schedule::Blocked;
use crate::time::Time;

/// Where an entity stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Its version; zero if there is no such entity.
    pub version: u64,
    /// Its shard.
    pub shard: u32,
    /// The process that serves the shard; `None` if nobody does at the moment.
    pub owner: Option<String>,
    /// Whether stages are still to be asked about its last changes.
    pub asking: Option<Asking>,
    /// Whether its visits are slowed down because stages fight over it.
    pub slowed: Option<Slowed>,
    /// Every stage, by its name.
    pub stages: BTreeMap<String, Standing>,
}

impl Explanation {
    /// Whether there is such an entity.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.version > 0
    }
}

/// Stages are to be asked whether they want to visit an entity that has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Asking {
    /// What that waits for. One that is parked waits for [`Watcher::release_unasked`](crate::Watcher::release_unasked), or for the entity to change.
    pub waits: Waits,
    /// The names of the fields that changed (`*`: all).
    pub fields: Vec<String>,
    /// Since when it waits.
    pub since: Time,
    /// Why nobody could be asked, if it is parked.
    pub error: Option<String>,
}

/// Where an entity stands with a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// What it waits for.
    pub waits: Waits,
    /// Since when; `None` if it does not wait.
    pub since: Option<Time>,
    /// Why it waits.
    pub why: Option<Why>,
    /// Failed attempts since the last success.
    pub failed: Option<Failed>,
    /// The last visit; `None` if there was none.
    pub last: Option<LastVisit>,
}

/// Attempts that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// How many.
    pub attempts: u32,
    /// What the last one said.
    pub error: String,
}

/// What an entity waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Waits {
    /// For nothing: the stage has no interest in it at the moment.
    NotInterested,
    /// For its time.
    Until(Time, Lane),
    /// For the end of the visit that is being made. Said of what this process serves; what another one is visiting is [`Waits::Due`].
    Visiting(Lane),
    /// It is due, and nothing stands in the way: its turn is next.
    Due(Lane),
    /// It is due, and this stage is visiting it. Said of what this process serves.
    Busy(Lane, String),
    /// It is due, and this stands in the way.
    Blocked(Lane, Blocked),
    /// It is due, and nobody serves its shard; some process takes it within a lease time.
    NoOwner(Lane),
    /// For somebody to release it, or to change it.
    Parked,
}

/// Why an entity waits for a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It changed.
    Change,
    /// The stage asked for the visit.
    Timer,
    /// The stage could not say whether it wants the entity.
    Unsure,
    /// The background re-crawl.
    Recrawl,
    /// The attempt before failed.
    Retry,
    /// Somebody asked for it.
    Request,
}

/// A visit that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastVisit {
    /// When.
    pub at: Time,
    /// The version that the stage saw.
    pub version: u64,
    /// Whether it changed the entity; `None` if it failed.
    pub changed: Option<bool>,
}

pub(super) fn of(waits: Waits, entry: &Entry) -> Standing {
    let is_waiting = entry.queued || entry.parked;
    let why = match entry.why.as_known().unwrap_or_default() {
        WhyRow::WHY_UNSPECIFIED => None,
        WhyRow::WHY_CHANGE => Some(Why::Change),
        WhyRow::WHY_TIMER => Some(Why::Timer),
        WhyRow::WHY_UNSURE => Some(Why::Unsure),
        WhyRow::WHY_RECRAWL => Some(Why::Recrawl),
        WhyRow::WHY_RETRY => Some(Why::Retry),
        WhyRow::WHY_REQUEST => Some(Why::Request),
    };
    let last = entry.last.as_option().map(|last| LastVisit {
        at: Time::from_ms(last.at_ms),
        version: last.version,
        changed: match last.ended.as_known().unwrap_or_default() {
            Ended::ENDED_CHANGED => Some(true),
            Ended::ENDED_UNTOUCHED => Some(false),
            Ended::ENDED_FAILED | Ended::ENDED_UNSPECIFIED => None,
        },
    });
    Standing {
        waits,
        since: is_waiting.then(|| Time::from_ms(entry.since_ms)),
        why: why.filter(|_| is_waiting),
        failed: (entry.attempts > 0).then(|| Failed { attempts: entry.attempts, error: entry.error.clone() }),
        last,
    }
}

/// `entry` is that of the head.
pub(super) fn asking(waits: Waits, entry: &Entry, head: &Head) -> Asking {
    Asking {
        waits,
        fields: if head.changed_more { vec!["*".to_owned()] } else { head.changed.clone() },
        since: Time::from_ms(entry.since_ms),
        error: entry.parked.then(|| entry.error.clone()),
    }
}
