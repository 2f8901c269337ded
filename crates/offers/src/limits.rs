//! Every limit of the crate.

/// Parts of a counter: writers of one seller rarely meet.
pub const COUNTER_PARTS: u32 = 10;
/// Characters of a title that lists keep.
pub const CARD_TITLE_CHARS: usize = 48;
/// Characters of the beginning of a title by which offers are found.
pub const TITLE_FILTER_CHARS: usize = 3;
/// Bytes of a value that the history keeps.
pub const HISTORY_VALUE_BYTES_MAX: usize = 200;
/// Bytes of an offer as it is kept.
pub const OFFER_BYTES_MAX: usize = 256 * 1024;
/// Times that a change is tried again because others came between.
pub const ATTEMPTS_MAX: u32 = 20;
