//! The limits of this crate.

use std::time::Duration;

pub const FEEDS_OF_A_SELLER_MAX: usize = 100;
pub const NAMESPACE_BYTES_MAX: usize = 64;
pub const URL_BYTES_MAX: usize = 2048;
pub const TITLE_CHARS_MAX: usize = 200;
pub const CREDENTIAL_BYTES_MAX: usize = 256;
/// The default period of fetching a link.
pub const PERIOD: Duration = Duration::from_secs(4 * 3600);
pub const PERIOD_MIN: Duration = Duration::from_secs(15 * 60);
pub const PERIOD_MAX: Duration = Duration::from_secs(30 * 24 * 3600);
/// The pause after the first failed fetch. It doubles with each further failure, up to the period.
pub const RETRY_FIRST: Duration = Duration::from_secs(60);
pub const FILE_BYTES_MAX: u64 = 1 << 30;
pub const DOWNLOAD_TIME_MAX: Duration = Duration::from_secs(3600);
/// Queued loads of a feed. The oldest of more are dropped: later files win anyway.
pub const QUEUE_MAX: usize = 16;
/// Offers of a batch, which is one commit unless it has more than 10,000 operations; each stage of
/// a marketplace adds some for each offer.
pub const BATCH_OFFERS: u32 = 50;
/// Bytes of the file in one batch; a topic takes messages of 1 MiB.
pub const BATCH_BYTES: usize = 384 * 1024;
/// Batches of one load in flight: at most these delay another seller's batch.
pub const BATCHES_AHEAD: u32 = 16;
/// Larger files are read by the stage for large files.
pub const LARGE_FILE_BYTES: u64 = 4 << 20;
pub const SMALL_FILES_AT_ONCE: usize = 8;
pub const LARGE_FILES_AT_ONCE: usize = 2;
pub const PROCESS_TIME_MAX: Duration = Duration::from_secs(6 * 3600);
/// Problems of an offer in a report.
pub const OFFER_PROBLEMS_MAX: usize = 50;
/// Problems of a load in a report; all are counted.
pub const LOAD_PROBLEMS_MAX: u64 = 1_000_000;
/// Problems in one row of a report.
pub const ROW_PROBLEMS: usize = 50;
pub const LOADS_KEPT: u64 = 20;
/// Problems that one call reads.
pub const PROBLEMS_READ_MAX: usize = 5000;
/// Later problems of offers that are counted.
pub const LATER_PROBLEMS_MAX: usize = 50_000;
pub const PAGE_MAX: usize = 500;
pub const EXAMPLES: usize = 3;
pub const MAPPINGS_MAX: usize = 10_000;
pub const MAPPING_KEY_BYTES_MAX: usize = 500;
/// Attempts of a change with conflicts.
pub const ATTEMPTS_MAX: u32 = 20;
/// A load waits if it would remove more than this share of the feed's offers,
pub const GUARD_SHARE: f64 = 0.5;
/// and the feed has more offers than this.
pub const GUARD_LEAST: u32 = 20;
/// Feeds of a page of the survey.
pub const SURVEYED_AT_ONCE_MAX: usize = 500;
/// Bytes of one message about the result of a batch, roughly; a topic takes messages of 1 MiB.
pub const RESULT_BYTES_MAX: usize = 512 * 1024;
pub const LOAD_PAGE: usize = 8;
/// Published offers that one step at the end of a load reads.
pub const SWEEP_PAGE: usize = 1000;
/// Offers that are removed in one commit.
pub const SWEEP_COMMIT_OFFERS: usize = 100;
/// Feeds that are swept in turn.
pub const SWEEP_FEEDS: usize = 256;
/// Results that are sent to the topic at a time.
pub const RESULT_PAGE: usize = 64;
