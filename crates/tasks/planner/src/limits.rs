//! Every limit of the crate.

use jiff::SignedDuration;

/// Decisions of one call; the rest follows in the next call.
pub const DECISIONS_MAX: usize = 10_000;
/// Characters of a run's error that are kept with the task.
pub const ERROR_CHARS_MAX: usize = 2000;
/// Remembered values of one task; a trigger has fewer parameters.
pub const REMEMBERED_MAX: usize = 1024;
pub const BACKFILL_CHUNKS_MAX: u32 = 100_000;
/// Names of running tasks in an explanation; the others are counted.
pub const NAMES_SHOWN: usize = 5;

pub const RETRY_FIRST: SignedDuration = SignedDuration::from_secs(30);
pub const RETRY_MOST: SignedDuration = SignedDuration::from_hours(1);
/// Failures in a row after which a task counts as failing, by default.
pub const FAILING_AFTER: u32 = 3;

/// Firings of one simulation; it is cut off beyond.
pub const SIMULATED_FIRINGS_MAX: usize = 200_000;
/// Changes in the log of one simulation.
pub const SIMULATED_CHANGES_MAX: usize = 5_000_000;
/// Successful runs in a row with the same values after which a simulation reports a loop.
pub const LOOP_FIRINGS: u32 = 10;
/// Misses that a simulation lists; the others are counted.
pub const MISSES_LISTED: usize = 10_000;
/// Rows of one table of a simulation as text; the others are counted.
pub const ROWS_SHOWN: usize = 200;
pub const LINE_CHARS_SHOWN: usize = 80;
