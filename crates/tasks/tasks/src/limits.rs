//! Every limit of the crate.

use std::time::Duration;

/// Bytes of a task's name, which is an entity id.
pub const TASK_NAME_BYTES_MAX: usize = 200;
pub const EVENTS_KEPT: u64 = 500;
pub const RUNS_KEPT: u64 = 100;
/// Alerts kept with a task. Older ones that were not delivered are only in its history.
pub const ALERTS_KEPT: usize = 16;
pub const DEPLOYMENTS_KEPT: u64 = 20;
/// Bytes of a file in one row.
pub const PIECE_BYTES: usize = 512 * 1024;
/// Rows of a table in one response.
pub const PAGE_MAX: usize = 1000;

pub(crate) const DECISIONS_IN_A_BATCH: usize = 200;
/// A commit takes no further decision beyond this.
pub(crate) const OPERATIONS_IN_A_BATCH: usize = 5000;
/// The polling interval, in case hints are lost.
pub(crate) const POLL_EVERY: Duration = Duration::from_secs(1);
/// The delay after an error of the store.
pub(crate) const ERROR_PAUSE: Duration = Duration::from_millis(500);
/// Attempts of a manual action that meets concurrent changes.
pub(crate) const ACTION_ATTEMPTS_MAX: u32 = 50;
/// Attempts to start a run on a machine that refuses, before it counts as failed.
pub(crate) const START_ATTEMPTS_MAX: u32 = 5;
/// The delay between them.
pub(crate) const START_PAUSE: Duration = Duration::from_secs(1);
/// A remote run counts as lost this long after its timeout: its supervisor would have stopped it.
pub(crate) const REMOTE_GRACE: Duration = Duration::from_secs(60);
/// A run that starts later than this after its decision gets less time by the excess, so that it is
/// over before others take it for lost.
pub(crate) const START_SLACK: Duration = Duration::from_secs(30);
/// With less time left than this a run is not started.
pub(crate) const SHORTEST: Duration = Duration::from_millis(1);
pub(crate) const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(10);
