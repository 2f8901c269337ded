//! Every limit of recorded actions.

use std::time::Duration;

/// How long an action is kept.
pub(crate) const KEPT: Duration = Duration::from_secs(400 * 24 * 3600);
/// How often old ones are removed.
pub(crate) const CLEAN_EVERY: Duration = Duration::from_secs(3600);
/// Old ones that are removed in one commit.
pub(crate) const CLEANED_AT_ONCE: usize = 200;
/// Characters of a request that are kept.
pub(crate) const REQUEST_CHARS_MAX: usize = 4000;
/// Characters of one text in a request that are kept.
pub(crate) const TEXT_CHARS_MAX: usize = 300;
/// Entries of one list in a request that are kept.
pub(crate) const ENTRIES_MAX: usize = 20;
/// A larger request is not read in order to be kept.
pub(crate) const REQUEST_BYTES_READ_MAX: usize = 1024 * 1024;
/// Characters of the text of an error that are kept.
pub(crate) const ERROR_CHARS_MAX: usize = 500;
/// Bytes of what an action is about.
pub(crate) const ABOUT_BYTES_MAX: usize = 300;
/// Actions of one page, if nothing is said.
pub(crate) const PAGE: u32 = 50;
/// Actions of one page, at most.
pub(crate) const PAGE_MAX: u32 = 500;
/// How long the answer to a call waits until it is written down; after that it is written beside.
pub(crate) const WRITE_WAIT: Duration = Duration::from_millis(500);
/// Actions that were refused that are written down in a minute, by one process: whoever tries again and again must not fill the store.
pub(crate) const REFUSED_IN_A_MINUTE_MAX: u32 = 120;
