//! Every limit of the crate.

use std::time::Duration;

/// Feeds of one seller.
pub const FEEDS_OF_A_SELLER_MAX: usize = 100;
/// Bytes of a namespace.
pub const NAMESPACE_BYTES_MAX: usize = 64;
/// Bytes of a link.
pub const URL_BYTES_MAX: usize = 2048;
/// Characters of a title.
pub const TITLE_CHARS_MAX: usize = 200;
/// Bytes of a user's name or password for a link.
pub const CREDENTIAL_BYTES_MAX: usize = 256;
/// How often a link is fetched if its feed does not say.
pub const PERIOD: Duration = Duration::from_secs(4 * 3600);
/// How often at most.
pub const PERIOD_MIN: Duration = Duration::from_secs(15 * 60);
/// How seldom at most.
pub const PERIOD_MAX: Duration = Duration::from_secs(30 * 24 * 3600);
/// The pause after the first attempt to fetch that failed for a reason that may pass; each further one is twice as long, up to the period.
pub const RETRY_FIRST: Duration = Duration::from_secs(60);
/// Bytes of a file as it is sent or fetched.
pub const FILE_BYTES_MAX: u64 = 1 << 30;
/// Time for one download.
pub const DOWNLOAD_TIME_MAX: Duration = Duration::from_secs(3600);
/// Loads of a feed that wait to be read. Of more, the oldest are given up: a later file wins anyway.
pub const QUEUE_MAX: usize = 16;
/// Offers in one message to the ad store, at most: they are one commit, which may have 10,000 operations, and each stage of a marketplace adds some for each offer.
pub const BATCH_OFFERS: u32 = 50;
/// Bytes of the file in one message to the ad store; a topic takes messages of 1 MiB.
pub const BATCH_BYTES: usize = 384 * 1024;
/// Batches of one load that the ad store has not answered for yet: so much can stand before another seller's batch.
pub const BATCHES_AHEAD: u32 = 16;
/// Files above this size are large: they are read by a stage of their own.
pub const LARGE_FILE_BYTES: u64 = 4 << 20;
/// Small files that are read at the same time.
pub const SMALL_FILES_AT_ONCE: usize = 8;
/// Large files that are read at the same time.
pub const LARGE_FILES_AT_ONCE: usize = 2;
/// Time for one file.
pub const PROCESS_TIME_MAX: Duration = Duration::from_secs(6 * 3600);
/// Problems of one offer that reports keep.
pub const OFFER_PROBLEMS_MAX: usize = 50;
/// Problems of one load that reports keep; all are counted.
pub const LOAD_PROBLEMS_MAX: u64 = 1_000_000;
/// Problems in one row of a report.
pub const ROW_PROBLEMS: usize = 50;
/// Loads of a feed that are kept.
pub const LOADS_KEPT: u64 = 20;
/// Problems that one call looks at.
pub const PROBLEM_LOOKS_MAX: usize = 5000;
/// Problems that are counted of those that offers have got since they were loaded.
pub const LATER_PROBLEMS_MAX: usize = 50_000;
/// Problems, loads or feeds of one page.
pub const PAGE_MAX: usize = 500;
/// Examples of each code in a summary.
pub const EXAMPLES: usize = 3;
/// Categories of one seller that are mapped.
pub const MAPPINGS_MAX: usize = 10_000;
/// Bytes of the key of a seller's category.
pub const MAPPING_KEY_BYTES_MAX: usize = 500;
/// Times that a change is tried again because others came between.
pub const ATTEMPTS_MAX: u32 = 20;
/// A load waits if it would remove more than this part of the feed's offers,
pub const GUARD_SHARE: f64 = 0.5;
/// and there are more than so many.
pub const GUARD_LEAST: u32 = 20;
/// Feeds that are surveyed in one go.
pub const SURVEYED_AT_ONCE_MAX: usize = 500;
/// Bytes of one message about the result of a batch, roughly; a topic takes messages of 1 MiB.
pub const RESULT_BYTES_MAX: usize = 512 * 1024;
/// Messages of loads that are read at a time.
pub const LOAD_PAGE: usize = 8;
/// Published offers that one step at the end of a load reads.
pub const SWEEP_PAGE: usize = 1000;
/// Offers that are removed in one commit.
pub const SWEEP_COMMIT_OFFERS: usize = 100;
/// Feeds that are swept in turn.
pub const SWEEP_FEEDS: usize = 256;
/// Results that are sent to the topic at a time.
pub const RESULT_PAGE: usize = 64;
