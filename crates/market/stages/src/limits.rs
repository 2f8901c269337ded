//! Limits and defaults.

use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// The default time of the warning before the expiry.
pub const WARN_BEFORE: Duration = DAY.saturating_mul(5);
/// The default topic of events.
pub const EVENTS_TOPIC: &str = "offers.events";

/// The default interval of checks of an available video.
pub const VIDEO_CHECK_AGAIN: Duration = DAY.saturating_mul(7);
/// The default interval of checks of an unavailable video.
pub const VIDEO_CHECK_MISSING: Duration = DAY;
/// The response of a host.
pub const VIDEO_ANSWER_BYTES_MAX: u64 = 256 * 1024;
/// The timeout of a request to a host, below the watcher's for the call.
pub const VIDEO_ANSWER_TIME_MAX: Duration = Duration::from_secs(8);
/// Longer titles of videos are truncated.
pub const VIDEO_TITLE_CHARS_MAX: usize = 300;

/// The default interval of predictions.
pub const PRICE_AGAIN: Duration = DAY;
/// The default number of offers that a prediction needs.
pub const PRICE_COUNT_MIN: usize = 8;
/// Changes of a prediction up to this part are ignored by default.
pub const PRICE_MOVE_MIN: f64 = 0.05;
/// Offers kept in a group, over all partitions.
pub const PRICE_SAMPLES_MAX: usize = 512;
/// Offers kept in a group by each partition at least.
pub const PRICE_PART_MIN: usize = 32;
/// Key attributes of a category.
pub const PRICE_ATTRIBUTES_MAX: usize = 3;
/// Changes in one commit.
pub const PRICE_PAGE: usize = 128;
pub const PRICE_SHARDS: u32 = 64;

/// Default concurrent photos of one offer.
pub const PHOTOS_AT_ONCE: usize = 4;
/// The default path of photos.
pub const PHOTOS_BASE: &str = "/photos/";
