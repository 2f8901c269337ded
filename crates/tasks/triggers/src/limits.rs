//! Every limit of the crate.

use jiff::SignedDuration;

/// Seconds of a day that the clock is not changed on.
pub const DAY_SECONDS: i64 = 24 * 60 * 60;
/// Minutes of such a day; chunks of minutes divide them.
pub const DAY_MINUTES: u16 = 24 * 60;
/// The longest time that can be written: about a hundred years.
pub const DURATION_MAX: SignedDuration = SignedDuration::from_hours(36_525 * 24);
/// Characters of a duration as people write it.
pub const DURATION_CHARS_MAX: usize = 64;
/// A day begins less than this before or after midnight.
pub const DAY_OFFSET_LIMIT: SignedDuration = SignedDuration::from_hours(24);
/// Bytes of the entity and of the name of a parameter, each.
pub const NAME_BYTES_MAX: usize = 200;
/// Conditions of one trigger.
pub const LEAVES_MAX: usize = 256;
