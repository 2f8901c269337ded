//! Every limit of the crate.

use jiff::SignedDuration;

/// Decisions that the board hands out at once; what is left is decided at the next call.
pub const DECISIONS_MAX: usize = 10_000;
/// Characters of the reason that a person gives for an action.
pub const REASON_CHARS_MAX: usize = 1000;
/// Characters of the name of who acts.
pub const AUTHOR_CHARS_MAX: usize = 200;
/// Characters of the error of a run that are kept with the task.
pub const ERROR_CHARS_MAX: usize = 2000;
/// Values that are remembered of one task; a trigger has fewer parameters.
pub const REMEMBERED_MAX: usize = 1024;
/// Chunks of one backfill.
pub const BACKFILL_CHUNKS_MAX: u32 = 100_000;
/// Names of running tasks that an explanation lists; the others are counted.
pub const NAMES_SHOWN: usize = 5;

/// The pause before the second attempt, if a task does not say.
pub const RETRY_FIRST: SignedDuration = SignedDuration::from_secs(30);
/// The longest pause between attempts, if a task does not say.
pub const RETRY_MOST: SignedDuration = SignedDuration::from_hours(1);
/// Failures in a row after which a task is shown as failing, if it does not say.
pub const FAILING_AFTER: u32 = 3;
/// Runs at the same time, if the settings do not say.
pub const RUNNING_DEFAULT: u32 = 8;

/// Firings of one simulation; it is cut off beyond.
pub const SIMULATED_FIRINGS_MAX: usize = 200_000;
/// Changes of the log of one simulation.
pub const SIMULATED_CHANGES_MAX: usize = 5_000_000;
/// Successful runs in a row that saw the same values, after which a simulation takes a task to run in a loop.
pub const LOOP_FIRINGS: u32 = 10;
/// Misses that a simulation lists; the others are counted.
pub const MISSES_LISTED: usize = 10_000;
/// Rows of one table of a simulation as text; the others are counted.
pub const ROWS_SHOWN: usize = 200;
/// Characters of a line of a log or of a file of values that are shown in an error.
pub const LINE_CHARS_SHOWN: usize = 80;
