//! The board: what is known of all tasks, and what is decided from it. Pure: no store, no clock, no runs.
//!
//! It is driven by levels, never by events: what counts is the current values, the remembered ones and the time. An event only says
//! which tasks to look at again, so one that is told twice does no harm, and a board that is built anew from what was committed
//! decides as the old one would have.
//!
//! How it is used:
//!
//! 1. [`Board::new`] takes settings, plans, committed states and current values. The caller looks after [`Board::running`].
//! 2. Events go in: [`Board::value_changed`], [`Board::run_ended`], [`Board::state_changed`], [`Board::plans_changed`].
//! 3. [`Board::decide`] looks at what they touched and at what is due by now, and hands out [`Decision`]s. It has to be called
//!    after every event, and at [`Board::next_moment`].
//! 4. The caller commits each decision as one (the task's new state, the row of a run, values that a success sets), then tells
//!    [`Board::commit`], and starts the run if there is one to start; or [`Board::refused`] if it was not committed. A task that
//!    has a decision under way is not decided upon again before that. A run whose start is committed counts as started.
//!
//! What is promised: a task has one run at a time. Limits hold for what is committed, too: a run keeps its place until its end is
//! committed. What is remembered is what the check saw that started the successful run. A task leaves the queue with a fresh
//! check. Nothing that is done for a task grows with the number of tasks.

pub mod actions;
pub mod backfill;
mod bugs;
mod build;
mod count;
mod decide;
mod decision;
mod end;
mod entry;
mod events;
mod explain;
mod hold;
mod known;
mod look;
mod mend;
#[cfg(test)]
mod model;
mod plan;
mod queue;
mod show;
mod start;
mod state;
#[cfg(test)]
mod tests;
mod timers;
mod watch;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

pub use actions::Signed;
pub use backfill::{BackfillOrder, chunks, scale_of};
pub use build::{Change, Input};
pub use count::{Count, Troubled};
pub use decision::{Act, Alert, Decision, End, Outcome, Start, Why};
pub use explain::{Blocked, Explanation, Runners, Silence, Standing};
pub use hold::Hold;
pub use mend::{Mend, Regression};
pub use plan::{Plan, Retry, SetTo, Settings};
pub use state::{Backfill, Cause, Chunk, Manual, Phase, Rest, TaskState};

use entry::Entry;
use known::Catalogue;
use queue::Queue;
use timers::Timers;

/// The name of a task. Cheap to clone.
pub type TaskName = std::sync::Arc<str>;

/// What a check saw: the current values of all parameters of a trigger that have one.
pub type Seen = BTreeMap<triggers::Parameter, triggers::Value>;

/// The place of a task on the board.
type TaskId = u32;

/// What is known of all tasks. See the [module](self) for how it is used.
#[derive(Debug)]
pub struct Board {
    /// By [`TaskId`]. A task that is gone keeps its place, so that its run can end.
    entries: Vec<Entry>,
    names: BTreeMap<TaskName, TaskId>,
    catalogue: Catalogue,
    queue: Queue,
    timers: Timers,
    /// Tasks to look at; each has its flag set and stands here once.
    dirty: Vec<TaskId>,
    /// Tasks whose decision is being made in this call.
    touched: Vec<TaskId>,
    /// Those of them that start, in their order.
    started: Vec<TaskId>,
    /// When the last decision was made.
    now: Timestamp,
    /// A bug that a test has planted.
    bug: Option<bugs::Bug>,
}

/// The moment so much later, or the last one that can be told.
fn after(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.checked_add(by).unwrap_or(if by.is_negative() { Timestamp::MIN } else { Timestamp::MAX })
}
