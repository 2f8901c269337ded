//! Limits and defaults of the language.

use jiff::SignedDuration;

pub const FILE_BYTES_MAX: usize = 64 << 20;
pub const TOTAL_BYTES_MAX: usize = 256 << 20;
pub const FILES_MAX: usize = 10_000;
/// Nesting of mappings and lists.
pub const DEPTH_MAX: usize = 24;
/// Scalars, lists and mappings of one file.
pub const NODES_MAX: usize = 20_000_000;
/// Scalars, lists and mappings of one task, one shorthand, or another entry at the top of a file.
pub const ENTRY_NODES_MAX: usize = 100_000;
pub const TASKS_MAX: usize = 200_000;
pub const SHORTHANDS_MAX: usize = 1_000;
pub const SHORTHAND_PARAMETERS_MAX: usize = 32;
pub const SHORTHAND_DEPTH_MAX: usize = 8;
pub const CONDITIONS_MAX: usize = 100;
pub const POOLS_MAX: usize = 1_000;

/// The name of a task, a pool, a shorthand, a label.
pub const NAME_CHARS_MAX: usize = 200;
/// The name of a parameter, with its entity.
pub const PARAMETER_CHARS_MAX: usize = 300;
/// `about`.
pub const ABOUT_CHARS_MAX: usize = 2_000;
/// An owner, a directory, the value of a label.
pub const LINE_CHARS_MAX: usize = 1_000;
pub const LABELS_MAX: usize = 64;
/// A command with its arguments, a shell script, a request body, a header value.
pub const TEXT_BYTES_MAX: usize = 64 << 10;
pub const ARGUMENTS_MAX: usize = 1_000;
/// Variables of an environment, headers of a request.
pub const PAIRS_MAX: usize = 256;
pub const URL_CHARS_MAX: usize = 2_048;
pub const SETS_MAX: usize = 256;

/// Runs at the same time, of all tasks or of a pool.
pub const RUNNING_MAX: i64 = 100_000;
/// The largest priority; the smallest is its negative.
pub const PRIORITY_MAX: i64 = 1_000_000;
pub const ATTEMPTS_MAX: i64 = 1_000;
/// Ten years.
pub const DURATION_MAX: SignedDuration = SignedDuration::from_hours(24 * 3_660);
/// Thirty days.
pub const TIMEOUT_MAX: SignedDuration = SignedDuration::from_hours(24 * 30);
/// The shortest polling interval of a run over HTTP.
pub const POLL_EVERY_MIN: SignedDuration = SignedDuration::from_secs(1);
/// Chunks by which a value may differ.
pub const CHUNKS_MAX: i64 = 1_000_000;
/// The day offset is smaller than this.
pub const DAY_OFFSET_MAX: SignedDuration = SignedDuration::from_hours(24);

/// Errors that are kept; the others are counted.
pub const ERRORS_MAX: usize = 100;
/// Warnings that are kept; the others are counted.
pub const WARNINGS_MAX: usize = 1_000;
/// The part of a line that is shown on each side of a location.
pub const EXCERPT_CHARS_MAX: usize = 70;
/// Quoted text in a message; longer texts are truncated.
pub const QUOTE_CHARS_MAX: usize = 60;
pub const LISTED_MAX: usize = 12;
/// Tasks of a cycle that a warning names.
pub const CYCLE_TASKS_MAX: usize = 12;

pub const RUNNING_DEFAULT: u32 = 8;
pub const TIMEOUT_DEFAULT: SignedDuration = SignedDuration::from_hours(1);
pub const RETRY_FIRST_DEFAULT: SignedDuration = SignedDuration::from_secs(30);
pub const RETRY_MOST_DEFAULT: SignedDuration = SignedDuration::from_hours(1);
pub const ATTEMPTS_DEFAULT: u32 = 10;
/// How long less important tasks are held back for a task.
pub const HOLD_BACK_DEFAULT: SignedDuration = SignedDuration::from_mins(10);
