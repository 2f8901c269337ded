//! Every limit of the crate.

use std::time::Duration;

/// Changes of values in one call: with their history and marks they fit one batch of the store.
pub const CHANGES_MAX: usize = 1000;
/// Values, changes or marks in one answer.
pub const PAGE_MAX: usize = 10_000;
/// Changes of a parameter that are kept, if the settings do not say.
pub const HISTORY_KEPT: u64 = 1000;
/// Old changes of a parameter are thrown away once there are so many more than are kept, and then so many at once.
pub const HISTORY_PORTION: u64 = 64;
/// Times that a change is tried again because others changed the same values in between.
pub const ATTEMPTS_MAX: u32 = 100;
/// Whoever watches looks after this time, even if nothing was heard.
pub const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Characters of the reason that a person gives for a change.
pub const REASON_CHARS_MAX: usize = 1000;
/// Characters of the name of the author of a change.
pub const AUTHOR_CHARS_MAX: usize = 200;
