//! Every limit of the crate.

use std::time::Duration;

/// Changes in one call: with history and marks they fit one batch of the store.
pub const CHANGES_MAX: usize = 1000;
/// Values, changes or marks in one response.
pub const PAGE_MAX: usize = 10_000;
/// The default of [`Settings::history_kept`](crate::Settings::history_kept).
pub const HISTORY_KEPT: u64 = 1000;
/// Old changes of a parameter are deleted once there are this many more than are kept.
pub const HISTORY_PORTION: u64 = 64;
/// Attempts of a change that meets concurrent changes of the same values.
pub const ATTEMPTS_MAX: u32 = 100;
/// The polling interval of watchers, in case hints are lost.
pub const POLL_EVERY: Duration = Duration::from_secs(1);
/// Characters of the reason of a change or an action.
pub const REASON_CHARS_MAX: usize = 1000;
pub const AUTHOR_CHARS_MAX: usize = 200;
