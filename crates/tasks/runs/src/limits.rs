//! Every limit and default of the crate, in one place.

use std::time::Duration;

/// Bytes of a run's id.
pub const RUN_ID_BYTES_MAX: usize = 128;
/// Bytes of a parameter's name, with its entity.
pub const NAME_BYTES_MAX: usize = 400;
/// Bytes of everything that describes a run, as it is kept in the run's folder.
pub const SPEC_BYTES_MAX: usize = 16 << 20;
/// Variables that a command may be given beside those of Torg.
pub const VARIABLES_MAX: usize = 10_000;
/// Arguments of a command.
pub const ARGUMENTS_MAX: usize = 10_000;
/// Headers of a call.
pub const HEADERS_MAX: usize = 200;
/// Bytes of a URL.
pub const URL_BYTES_MAX: usize = 8 << 10;
/// The longest time that a run may be given.
pub const TIMEOUT_MAX: Duration = Duration::from_secs(366 * 24 * 3600);
/// The time that a run gets if nothing else is said.
pub const TIMEOUT: Duration = Duration::from_secs(24 * 3600);
/// The time from TERM to KILL if nothing else is said.
pub const KILL_AFTER: Duration = Duration::from_secs(10);
/// Bytes of a log that are kept if nothing else is said.
pub const LOG_BYTES: u64 = 1 << 20;
/// The smallest log that can be asked for.
pub const LOG_BYTES_MIN: u64 = 1 << 10;
/// The largest.
pub const LOG_BYTES_MAX: u64 = 1 << 30;
/// Bytes of a log that one look may ask for.
pub const LOG_PIECE_BYTES_MAX: usize = 4 << 20;
/// Variables that a command inherits from Torg if nothing else is said.
pub const INHERITED: &[&str] =
    &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/// Bytes of the file into which a command writes the values that it sets.
pub const OUTPUT_BYTES_MAX: u64 = 1 << 20;
/// Values that one run may set.
pub const OUTPUT_VALUES_MAX: usize = 10_000;

/// Bytes that the supervisor reads from its command at a time.
pub(crate) const READ_BYTES: usize = 64 << 10;
/// How long processes that outlived their command may take to die after KILL.
pub(crate) const STRAGGLERS_TIME_MAX: Duration = Duration::from_secs(5);
/// The pause between two looks at them.
pub(crate) const STRAGGLERS_EVERY: Duration = Duration::from_millis(2);
/// The pause before the supervisor tries to take a lock again that somebody holds for a moment.
pub(crate) const LOCK_EVERY: Duration = Duration::from_millis(5);
/// How often somebody who is about to carry out a call tries to take the lock.
pub(crate) const LOCK_TRIES: u32 = 20;
/// The pause before an end is written again that could not be written: the disk may be full.
pub(crate) const END_EVERY: Duration = Duration::from_secs(1);
/// How often it is tried.
pub(crate) const END_TRIES: u32 = 3600;
/// The first pause between two looks at a run of another process; it doubles.
pub(crate) const LOOK_PAUSE: Duration = Duration::from_millis(20);
/// The longest such pause.
pub(crate) const LOOK_PAUSE_MAX: Duration = Duration::from_millis(500);
/// What was left by a process that died while it claimed a run is cleared away after this time.
pub(crate) const LEFTOVER_AGE: Duration = Duration::from_secs(3600);
/// Bytes of what a supervisor that failed had to say.
pub(crate) const SUPERVISOR_TEXT_MAX: u64 = 16 << 10;

/// How long one request of a call may take, if the run's end is not told by its answer.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a connection may take to be made.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of an answer.
pub const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Bytes of an answer that go into the log.
pub const ANSWER_LOGGED_BYTES_MAX: usize = 64 << 10;
/// Bytes of what a service says about an end that are kept.
pub const DETAIL_BYTES_MAX: usize = 4 << 10;
/// The first pause after an error that may pass; it doubles.
pub const RETRY_PAUSE: Duration = Duration::from_millis(200);
/// The longest such pause.
pub const RETRY_PAUSE_MAX: Duration = Duration::from_secs(30);
/// The longest pause that a service may ask for with `Retry-After`.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(300);
/// The shortest time between two questions about a run.
pub const POLL_EVERY_MIN: Duration = Duration::from_millis(10);
/// The time between two questions if nothing else is said.
pub const POLL_EVERY: Duration = Duration::from_secs(5);
/// How long a service may take to hear that its run is not wanted any more.
pub const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a call looks whether another process asked to kill it, or heard of its end.
pub(crate) const CALL_LOOK_EVERY: Duration = Duration::from_millis(500);
/// Calls of one connection that wait for it.
pub(crate) const WAITING_MAX: usize = 16;
