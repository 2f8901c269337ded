//! Every limit of the crate.

use std::time::Duration;

/// Parts of a counter: writers of one seller rarely meet.
pub const COUNTER_PARTS: u32 = 10;
/// Characters of a title that lists keep.
pub const CARD_TITLE_CHARS: usize = 48;
/// Characters of the beginning of a title by which offers are found.
pub const TITLE_FILTER_CHARS: usize = 3;
/// Bytes of a value that the history keeps.
pub const HISTORY_VALUE_BYTES_MAX: usize = 200;
/// Letters that the history keeps of a part in which a long value differs from another one.
pub const EXCERPT_CHARS_MAX: usize = 200;
/// Letters before and behind such a part.
pub const EXCERPT_AROUND_CHARS: usize = 28;
/// Bytes of an offer as it is kept.
pub const OFFER_BYTES_MAX: usize = 256 * 1024;
/// Times that a change is tried again because others came between.
pub const ATTEMPTS_MAX: u32 = 20;
/// How soon it is looked again whether a commit can be read as a whole.
pub const COMPLETE_PAUSE: Duration = Duration::from_millis(1);
/// Keys that are read at once.
pub const READ_KEYS_MAX: usize = 256;
/// Bytes that billing keeps beside an offer.
pub const BILLING_BYTES_MAX: usize = 64 * 1024;
/// Opinions that are applied in one commit.
pub const OPINION_PAGE: usize = 32;
/// Reasons of an opinion.
pub const OPINION_REASONS_MAX: usize = 32;
/// Bytes of a text in an opinion.
pub const OPINION_TEXT_BYTES_MAX: usize = 4096;
/// Offers of one status that are archived in a step.
pub const ARCHIVE_PAGE: usize = 100;
/// Rows that a chore looks at in a step.
pub const CHORE_PAGE: usize = 500;
/// Places that a filter reads at a time, from each index value.
pub const FACET_PAGE: usize = 64;
/// Index values that a filter merges; if there are more, it goes by something else.
pub const FACET_VALUES_MAX: usize = 256;
/// Places that one call of a filtered list looks at.
pub const LIST_LOOKS_MAX: usize = 4096;
/// Offers, or messages of a partition, that a watch reads at a time.
pub const WATCH_PAGE: usize = 200;
/// Categories below one that are looked for in the index whether the seller has any of them or not; above that, the seller's own are gone through.
pub const FACET_GUESSES_MAX: usize = 64;
/// Index values that are gone through to find those that a filter merges.
pub const FACET_LOOKS_MAX: usize = 1024;
