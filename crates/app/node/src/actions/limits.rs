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
/// Of a larger request only its plain fields are read in order to be kept: whoever it is has not
/// been judged by then.
pub(crate) const REQUEST_BYTES_READ_MAX: usize = 64 * 1024;
/// Fields of a larger request that are looked at.
pub(crate) const FIELDS_LOOKED_AT_MAX: usize = 1000;
/// The longest of them that is kept.
pub(crate) const FIELD_BYTES_MAX: usize = 1024;
/// Characters of the text of an error that are kept.
pub(crate) const ERROR_CHARS_MAX: usize = 500;
/// Bytes of what an action is about.
pub(crate) const ABOUT_BYTES_MAX: usize = 300;
/// Bytes of the name of an author, and of the beginning of a method's, by which actions are looked
/// for.
pub(crate) const NAME_BYTES_MAX: usize = 300;
/// Actions that are looked at for one page of those that are wanted.
pub(crate) const LOOKED_AT_MAX: usize = 2000;
/// The same in one read.
pub(crate) const LOOKED_AT_ONCE: usize = 500;
/// Actions of one page, if nothing is said.
pub(crate) const PAGE: u32 = 50;
/// Actions of one page, at most.
pub(crate) const PAGE_MAX: u32 = 500;
/// How long the answer to a call waits until it is written down; after that it is written beside.
pub(crate) const WRITE_WAIT: Duration = Duration::from_millis(500);
/// Actions of one author that were refused and are written down in a minute, by one process:
/// whoever tries again and again must not fill the store, nor hide what others try.
pub(crate) const REFUSED_IN_A_MINUTE_MAX: u32 = 120;
/// Authors who are told apart in a minute; all others count as one.
pub(crate) const REFUSED_AUTHORS_MAX: usize = 1000;
/// How long what somebody does in the console may take. Nobody waits for it that long: it goes on,
/// and what came of it is recorded.
pub(crate) const IN_CONSOLE_TIME_MAX: Duration = Duration::from_secs(10 * 60);

/// Whoever has waited in the console is told that it goes on.
const _: () = assert!(IN_CONSOLE_TIME_MAX.as_secs() > console::limits::ACT_TIME_MAX.as_secs());
