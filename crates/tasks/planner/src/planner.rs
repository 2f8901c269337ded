//! What is known of all tasks.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::TaskName;
use crate::bugs::Bug;
use crate::entry::Entry;
use crate::parameters::Parameters;
use crate::queue::Queue;
use crate::timers::Timers;

pub(crate) type TaskId = u32;

/// Decides which tasks run. See the [crate](crate) for how it is used.
#[derive(Debug)]
pub struct Planner {
    /// By [`TaskId`]. A removed task keeps its entry, so that its run can end.
    pub(crate) entries: Vec<Entry>,
    pub(crate) names: BTreeMap<TaskName, TaskId>,
    pub(crate) parameters: Parameters,
    pub(crate) queue: Queue,
    pub(crate) timers: Timers,
    /// Tasks to evaluate, each once: its entry has the flag.
    pub(crate) dirty: Vec<TaskId>,
    /// Tasks with an open decision of the current call.
    pub(crate) touched: Vec<TaskId>,
    /// The touched tasks that start, in their order.
    pub(crate) started: Vec<TaskId>,
    /// The time of the last [`Planner::decide`].
    pub(crate) now: Timestamp,
    /// A bug planted by a test.
    pub(crate) bug: Option<Bug>,
}

/// Saturating addition.
pub(crate) fn after(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.checked_add(by).unwrap_or(if by.is_negative() { Timestamp::MIN } else { Timestamp::MAX })
}
