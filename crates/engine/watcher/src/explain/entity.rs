//! The explanation of one entity: what it waits for in every stage.

use std::collections::BTreeMap;

use crate::budget::Slowed;
use crate::queue::Lane;
use crate::rows::{Ended, Entry, Head, Why as WhyRow};
use crate::schedule::Blocked;
use clock::Time;

/// The state of an entity in all queues.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Zero if there is no such entity.
    pub version: u64,
    pub shard: u32,
    /// The process that serves the shard; `None` if there is none at the moment.
    pub owner: Option<String>,
    /// Set if stages are still to be asked about its last changes.
    pub asking: Option<Asking>,
    /// Set if its visits are delayed because stages fight over it.
    pub slowed: Option<Slowed>,
    /// By name.
    pub stages: BTreeMap<String, VisitStatus>,
}

impl Explanation {
    #[must_use]
    pub fn exists(&self) -> bool {
        self.version > 0
    }
}

/// Stages are to be asked whether they want to visit an entity that changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Asking {
    /// A parked entity waits for [`Watcher::release_unasked`](crate::Watcher::release_unasked) or
    /// for its next change.
    pub waits: Waits,
    /// The names of the fields that changed (`*`: all).
    pub fields: Vec<String>,
    pub since: Time,
    /// Why stages cannot be asked, if it is parked.
    pub error: Option<String>,
}

/// The state of an entity in the queue of one stage.
#[derive(Clone, Debug, PartialEq)]
pub struct VisitStatus {
    pub waits: Waits,
    /// `None` if it does not wait.
    pub since: Option<Time>,
    pub why: Option<VisitReason>,
    /// Failed attempts since the last success.
    pub failed: Option<Failed>,
    pub last: Option<LastVisit>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    pub attempts: u32,
    /// The error of the last attempt.
    pub error: String,
}

/// What an entity waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Waits {
    /// Nothing.
    NotInterested,
    /// Its time.
    Until(Time, Lane),
    /// The end of its visit. Only known of this process; an entity that another one is visiting is
    /// [`Waits::Due`].
    Visiting(Lane),
    /// Due, and not blocked: it is next.
    Due(Lane),
    /// Due, and this stage is visiting it. Only known of this process.
    Busy(Lane, String),
    /// Due, and blocked by this.
    Blocked(Lane, Blocked),
    /// Due, but nobody serves its shard; a process takes it within a lease time.
    NoOwner(Lane),
    /// A release, or a change of the entity.
    Parked,
}

/// Why an entity waits for a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitReason {
    Change,
    /// The stage requested the visit.
    Timer,
    /// The stage could not say whether it wants the entity.
    Unsure,
    Recrawl,
    /// The last attempt failed.
    Retry,
    /// An operator requested it.
    Request,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastVisit {
    pub at: Time,
    /// The version that the stage saw.
    pub version: u64,
    /// `None` if it failed.
    pub changed: Option<bool>,
}

pub(super) fn of(waits: Waits, entry: &Entry) -> VisitStatus {
    let is_waiting = entry.queued || entry.parked;
    let why = match entry.why.as_known().unwrap_or_default() {
        WhyRow::WHY_UNSPECIFIED => None,
        WhyRow::WHY_CHANGE => Some(VisitReason::Change),
        WhyRow::WHY_TIMER => Some(VisitReason::Timer),
        WhyRow::WHY_UNSURE => Some(VisitReason::Unsure),
        WhyRow::WHY_RECRAWL => Some(VisitReason::Recrawl),
        WhyRow::WHY_RETRY => Some(VisitReason::Retry),
        WhyRow::WHY_REQUEST => Some(VisitReason::Request),
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
    VisitStatus {
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
