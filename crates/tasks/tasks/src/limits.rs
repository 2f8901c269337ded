//! Every limit of the crate.

use std::time::Duration;

/// Bytes of the name of a task: it is the id of an entity.
pub const TASK_NAME_BYTES_MAX: usize = 200;
/// Events of a task that are kept.
pub const EVENTS_KEPT: u64 = 500;
/// Runs of a task that are kept, with their logs.
pub const RUNS_KEPT: u64 = 100;
/// Alerts that stand with a task. Those that could not be told before so many others came are only in its history.
pub const ALERTS_KEPT: usize = 16;
/// Deployments whose files are kept.
pub const DEPLOYMENTS_KEPT: u64 = 20;
/// Bytes of a file in one row.
pub const PIECE_BYTES: usize = 512 * 1024;
/// Rows of a table in one answer.
pub const PAGE_MAX: usize = 1000;

/// Decisions in one commit.
pub(crate) const DECISIONS_IN_A_BATCH: usize = 200;
/// A commit takes no further decision once it has so many operations.
pub(crate) const OPERATIONS_IN_A_BATCH: usize = 5000;
/// Whoever waits for changes looks by itself after so long.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The pause before work goes on that met an error of the store.
pub(crate) const ERROR_PAUSE: Duration = Duration::from_millis(500);
/// Times that an action of a person is tried again because the task changed in between.
pub(crate) const ACTION_ATTEMPTS_MAX: u32 = 50;
/// Times that a run is tried to be started on a machine that refuses, before it counts as failed,
pub(crate) const START_ATTEMPTS_MAX: u32 = 5;
/// with such a pause in between.
pub(crate) const START_PAUSE: Duration = Duration::from_secs(1);
/// A run of another place whose time is over counts as lost after so long: its supervisor would have stopped it.
pub(crate) const FOREIGN_GRACE: Duration = Duration::from_secs(60);
/// A run that is started later than this after its decision has so much less time, so that it is over before others take it for lost.
pub(crate) const START_SLACK: Duration = Duration::from_secs(30);
/// With less time left than this a run is not started.
pub(crate) const SHORTEST: Duration = Duration::from_millis(1);
/// How long a webhook may take.
pub(crate) const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(10);
