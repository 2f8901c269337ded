//! Limits.

use jiff::SignedDuration;

/// Seconds of a day without a change of the clock.
pub const DAY_SECONDS: i64 = 24 * 60 * 60;
/// Minutes of such a day; chunks of minutes divide them.
pub const DAY_MINUTES: u16 = 24 * 60;
/// About a hundred years.
pub const DURATION_MAX: SignedDuration = SignedDuration::from_hours(36_525 * 24);
/// Characters of a written duration.
pub const DURATION_CHARS_MAX: usize = 64;
/// The day offset is smaller than this, in both directions.
pub const DAY_OFFSET_LIMIT: SignedDuration = SignedDuration::from_hours(24);
/// Bytes of the entity and of the name of a parameter, each.
pub const NAME_BYTES_MAX: usize = 200;
/// Characters of an invalid value that an error shows.
pub(crate) const VALUE_CHARS_SHOWN: usize = 60;
pub const LEAVES_MAX: usize = 256;
