//! Limits of the audit log of actions.

use std::time::Duration;

/// Older actions are deleted.
pub(crate) const KEPT: Duration = Duration::from_secs(400 * 24 * 3600);
pub(crate) const CLEAN_EVERY: Duration = Duration::from_secs(3600);
/// Actions deleted in one commit.
pub(crate) const CLEANED_AT_ONCE: usize = 200;
/// A recorded request is cut to this many characters.
pub(crate) const REQUEST_CHARS_MAX: usize = 4000;
/// A text inside a recorded request is cut to this many characters.
pub(crate) const TEXT_CHARS_MAX: usize = 300;
/// A list inside a recorded request is cut to this many entries.
pub(crate) const ENTRIES_MAX: usize = 20;
/// Only the plain fields of a larger request are recorded. The caller is not authorized yet when
/// the request is read, so the work is bounded.
pub(crate) const REQUEST_BYTES_READ_MAX: usize = 64 * 1024;
/// Fields of a larger request that are scanned.
pub(crate) const FIELDS_LOOKED_AT_MAX: usize = 1000;
/// Longer fields of a larger request are not recorded.
pub(crate) const FIELD_BYTES_MAX: usize = 1024;
/// A recorded error text is cut to this many characters.
pub(crate) const ERROR_CHARS_MAX: usize = 500;
/// An object name longer than this is recorded as empty.
pub(crate) const ABOUT_BYTES_MAX: usize = 300;
/// The longest author and method prefix that a filter accepts.
pub(crate) const NAME_BYTES_MAX: usize = 300;
/// Actions scanned for one page of matches.
pub(crate) const LOOKED_AT_MAX: usize = 2000;
/// Actions scanned in one read.
pub(crate) const LOOKED_AT_ONCE: usize = 500;
/// Default page size.
pub(crate) const PAGE: u32 = 50;
pub(crate) const PAGE_MAX: u32 = 500;
/// How long a response waits for its action to be written. After that the write goes on in the
/// background.
pub(crate) const WRITE_WAIT: Duration = Duration::from_millis(500);
/// Refused actions recorded per author and minute by one process. A caller that retries in a loop
/// must not fill the store or hide the attempts of others.
pub(crate) const REFUSED_IN_A_MINUTE_MAX: u32 = 120;
/// Authors counted separately per minute; all others share one counter.
pub(crate) const REFUSED_AUTHORS_MAX: usize = 1000;
/// Timeout of a call from the console. The console stops waiting earlier: the call goes on, and its
/// outcome is recorded.
pub(crate) const IN_CONSOLE_TIME_MAX: Duration = Duration::from_secs(10 * 60);

/// The console reports "still running" before the call times out.
const _: () = assert!(IN_CONSOLE_TIME_MAX.as_secs() > console::limits::ACT_TIME_MAX.as_secs());
