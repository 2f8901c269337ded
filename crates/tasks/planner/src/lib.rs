//! Decides which task runs when the data it reads has moved, and explains why or why not. Pure: no
//! store, no clock, no processes.
//!
//! ```text
//!   values change ─┐                      ┌─► decisions, each committed and then confirmed
//!   runs end ──────┼──►  Planner (pure) ──┤
//!   time passes ───┘                      └─► explain
//!                           ▲
//!                           └── simulate: the same planner on a virtual clock
//! ```
//!
//! The [`Planner`] is level-triggered: only the current values, the remembered values and the time
//! count. An event names the tasks to evaluate again, so a duplicate event is harmless, and a
//! planner that is rebuilt from committed state decides as the old one would have.
//!
//! How it is used:
//!
//! 1. [`Planner::new`] takes a [`Snapshot`]: limits, plans, committed states and current values.
//!    The caller tracks the runs of [`Planner::running`].
//! 2. Events go in: [`Planner::value_changed`], [`Planner::run_ended`], [`Planner::state_changed`],
//!    [`Planner::plans_changed`].
//! 3. [`Planner::decide`] evaluates the tasks that events touched or that are due, and returns
//!    [`Decision`]s. Call it after every event and at [`Planner::next_moment`].
//! 4. The caller commits each decision atomically (the task's new state, the row of a run, the
//!    values that a success sets), then calls [`Planner::commit`] and starts the run, if any. If
//!    the commit failed, it calls [`Planner::refused`]. Until then the task gets no further
//!    decision. A run counts as started once its start is committed.
//!
//! Guarantees: a task has one run at a time. A run occupies its slot until its end is committed, so
//! limits hold for committed state too. What is remembered is what the check saw that started the
//! successful run. A task leaves the queue only after a fresh check. The cost of one event does not
//! grow with the number of tasks.
//!
//! Where things are: events (`events.rs`), the evaluation of one task (`evaluate.rs`), the queue
//! (`queue.rs`, `start.rs`, `hold.rs`), the end of a run (`end.rs`), manual actions ([`actions`],
//! [`backfill`]), explanations (`explain.rs`); what would happen ([`simulate`]), what a new
//! configuration would start at once ([`deploy`]), plans from task files ([`plans`]) and recorded
//! values ([`recorded`]).

pub mod actions;
pub mod backfill;
mod bugs;
mod counts;
mod decide;
mod decision;
mod define;
pub mod deploy;
mod display;
mod end;
mod entry;
mod error;
mod evaluate;
mod events;
mod explain;
mod hold;
pub mod limits;
#[cfg(test)]
mod model;
mod monitor;
mod parameters;
mod plan;
mod planner;
pub mod plans;
mod queue;
pub mod recorded;
mod regression;
pub mod simulate;
mod start;
mod state;
#[cfg(test)]
mod tests;
mod timers;

pub use actions::Signed;
pub use backfill::{BackfillOrder, chunks, scale_of};
pub use counts::{Count, Unhealthy};
pub use decision::{Act, Alert, Decision, End, Outcome, Start, Step};
pub use define::{Change, Snapshot};
pub use error::{Error, Result};
pub use explain::{Blocked, Explanation, QueuePosition, Runners, Silence};
pub use hold::Hold;
pub use plan::{Plan, Retry};
pub use planner::Planner;
pub(crate) use planner::{TaskId, after};
pub use regression::{Fix, Regression};
pub use state::{Backfill, Cause, Chunk, Manual, Phase, Rest, TaskState};
pub use taskfile::{Limits, SetTo};

/// The name of a task. Cheap to clone.
pub type TaskName = std::sync::Arc<str>;

/// The values that a check saw: of all parameters of a trigger that have one.
pub type Seen = std::collections::BTreeMap<triggers::Parameter, triggers::Value>;
