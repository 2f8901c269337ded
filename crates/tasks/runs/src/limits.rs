//! Limits and defaults.

use std::time::Duration;

pub const RUN_ID_BYTES_MAX: usize = 128;
pub const NAME_BYTES_MAX: usize = 400;
pub const SPEC_BYTES_MAX: usize = 16 << 20;
pub const VARIABLES_MAX: usize = 10_000;
pub const ARGUMENTS_MAX: usize = 10_000;
pub const HEADERS_MAX: usize = 200;
pub const URL_BYTES_MAX: usize = 8 << 10;
pub const TIMEOUT_MAX: Duration = Duration::from_secs(366 * 24 * 3600);
pub const TIMEOUT: Duration = Duration::from_secs(24 * 3600);
pub const KILL_AFTER: Duration = Duration::from_secs(10);
pub const LOG_BYTES: u64 = 1 << 20;
pub const LOG_BYTES_MIN: u64 = 1 << 10;
pub const LOG_BYTES_MAX: u64 = 1 << 30;
/// Bytes of one response with a part of a log.
pub const LOG_PIECE_BYTES_MAX: usize = 4 << 20;
/// Variables that a command inherits from Torg by default.
pub const INHERITED: &[&str] =
    &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"];

pub const OUTPUT_BYTES_MAX: u64 = 1 << 20;
pub const OUTPUT_VALUES_MAX: usize = 10_000;

/// Bytes that the supervisor reads from its command at a time.
pub(crate) const READ_BYTES: usize = 64 << 10;
/// How long leftover processes may take to die after KILL.
pub(crate) const STRAGGLERS_TIME_MAX: Duration = Duration::from_secs(5);
/// The interval of checks whether they are gone.
pub(crate) const STRAGGLERS_EVERY: Duration = Duration::from_millis(2);
/// The delay before another attempt to take a lock that is held briefly.
pub(crate) const LOCK_EVERY: Duration = Duration::from_millis(5);
pub(crate) const LOCK_TRIES: u32 = 20;
/// The delay before another attempt to write an end: the disk may be full.
pub(crate) const END_EVERY: Duration = Duration::from_secs(1);
pub(crate) const END_TRIES: u32 = 3600;
/// The first polling interval for a run of another process; it doubles.
pub(crate) const POLL_PAUSE: Duration = Duration::from_millis(20);
/// The longest polling interval.
pub(crate) const POLL_PAUSE_MAX: Duration = Duration::from_millis(500);
/// Leftovers of a process that died while it claimed a run are removed after this time.
pub(crate) const LEFTOVER_AGE: Duration = Duration::from_secs(3600);
/// Bytes of a failed supervisor's output.
pub(crate) const SUPERVISOR_TEXT_MAX: u64 = 16 << 10;

/// The timeout of one request, unless its response is the end of the run.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
pub const ANSWER_BYTES_MAX: usize = 1 << 20;
pub const ANSWER_LOGGED_BYTES_MAX: usize = 64 << 10;
/// Bytes of a service's message about an end.
pub const DETAIL_BYTES_MAX: usize = 4 << 10;
/// The first delay after a transient error; it doubles.
pub const RETRY_PAUSE: Duration = Duration::from_millis(200);
/// The longest delay after a transient error.
pub const RETRY_PAUSE_MAX: Duration = Duration::from_secs(30);
/// The longest delay that a service may ask for with `Retry-After`.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(300);
pub const POLL_EVERY_MIN: Duration = Duration::from_millis(10);
pub const POLL_EVERY: Duration = Duration::from_secs(5);
pub const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);
/// The interval at which a call checks for a kill or an end by another process.
pub(crate) const CALL_POLL_EVERY: Duration = Duration::from_millis(500);
/// Pending calls of one connection.
pub(crate) const WAITING_MAX: usize = 16;
