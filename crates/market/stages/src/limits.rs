//! Every limit and default of the crate, in one place.

use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// How long before an offer expires its seller is warned, by default.
pub const WARN_BEFORE: Duration = DAY.saturating_mul(5);
/// The topic of what happens to offers, by default.
pub const EVENTS_TOPIC: &str = "offers.events";

/// How long a video that can be seen is not looked at again, by default.
pub const VIDEO_CHECK_AGAIN: Duration = DAY.saturating_mul(7);
/// How long a video that cannot be seen is not looked at again, by default.
pub const VIDEO_CHECK_MISSING: Duration = DAY;
/// Bytes of what a host says about a video.
pub const VIDEO_ANSWER_BYTES_MAX: u64 = 256 * 1024;
/// Time for one question about a video, below the time that the watcher gives a call.
pub const VIDEO_ANSWER_TIME_MAX: Duration = Duration::from_secs(8);
/// Characters of a video's title that are kept.
pub const VIDEO_TITLE_CHARS_MAX: usize = 300;

/// How often the price of an offer is predicted anew, by default.
pub const PRICE_AGAIN: Duration = DAY;
/// Offers that a group must have for a prediction, by default.
pub const PRICE_COUNT_MIN: usize = 8;
/// A prediction that moved by this part or less stays as it was, by default.
pub const PRICE_MOVE_MIN: f64 = 0.05;
/// Offers of a group that are remembered, over all partitions.
pub const PRICE_SAMPLES_MAX: usize = 512;
/// Offers of a group that each partition remembers at least.
pub const PRICE_PART_MIN: usize = 32;
/// Attributes by which offers of a category are told apart.
pub const PRICE_ATTRIBUTES_MAX: usize = 3;
/// Changes that are taken over in one commit.
pub const PRICE_PAGE: usize = 128;
/// Shards of the tables of prices.
pub const PRICE_SHARDS: u32 = 64;

/// Photos of one offer that are taken at the same time, by default.
pub const PHOTOS_AT_ONCE: usize = 4;
/// Where photos are served, by default.
pub const PHOTOS_BASE: &str = "/photos/";
