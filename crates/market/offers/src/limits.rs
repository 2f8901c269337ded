//! Every limit of the crate.

use std::time::Duration;

/// Rows of a counter.
pub const COUNTER_PARTS: u32 = 10;
pub const CARD_TITLE_CHARS: usize = 48;
/// Characters of the beginning of a title by which offers are indexed.
pub const TITLE_FILTER_CHARS: usize = 3;
/// Bytes of a value in the history; of longer values it has excerpts.
pub const HISTORY_VALUE_BYTES_MAX: usize = 200;
/// Letters of an excerpt.
pub const EXCERPT_CHARS_MAX: usize = 200;
/// Letters before and behind the difference in an excerpt.
pub const EXCERPT_AROUND_CHARS: usize = 28;
/// Bytes of an encoded offer.
pub const OFFER_BYTES_MAX: usize = 256 * 1024;
/// Attempts at a change that is in conflict with others.
pub const ATTEMPTS_MAX: u32 = 20;
/// The pause between two looks whether a whole commit can be read.
pub const COMPLETE_PAUSE: Duration = Duration::from_millis(1);
pub const READ_KEYS_MAX: usize = 256;
/// Bytes of the data of billing about an offer.
pub const BILLING_BYTES_MAX: usize = 64 * 1024;
pub const OPINION_PAGE: usize = 32;
pub const OPINION_REASONS_MAX: usize = 32;
pub const OPINION_TEXT_BYTES_MAX: usize = 4096;
/// Offers of one status that a step archives.
pub const ARCHIVE_PAGE: usize = 100;
/// Rows of a step of a chore.
pub const CHORE_PAGE: usize = 500;
/// Rows that a filter reads at a time, of each index value.
pub const FACET_PAGE: usize = 64;
/// Index values that a filter merges; if there are more, it uses another index.
pub const FACET_VALUES_MAX: usize = 256;
/// Rows that one call of a filtered list examines.
pub const LIST_ROWS_MAX: usize = 4096;
/// Offers, or messages of a partition, that a watch reads at a time.
pub const WATCH_PAGE: usize = 200;
/// Subcategories that are looked up in the index without knowing whether the seller has any of
/// them; if there are more, the seller's own categories are scanned.
pub const FACET_CATEGORIES_MAX: usize = 64;
/// Index values that are scanned to find those that a filter merges.
pub const FACET_SCAN_MAX: usize = 1024;
