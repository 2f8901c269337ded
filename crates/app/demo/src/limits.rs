//! Limits and defaults of the demo.

use std::time::Duration;

/// The default folder, without `--data`.
pub const FOLDER: &str = "./torg-demo";
/// Default number of offers.
pub(super) const OFFERS: u32 = 20_000;
/// Maximum number of offers.
pub(super) const OFFERS_MAX: u32 = 1_000_000;
/// Offers created before the process is ready; at most a quarter of all.
pub(super) const OFFERS_AT_FIRST: u32 = 600;
/// Offers that are created concurrently.
pub(super) const CHUNK: u32 = 50;
/// Offers per progress line in the log.
pub(super) const PROGRESS_EVERY: u32 = 2_500;
/// Created offers per simulated user action.
pub(super) const OFFERS_BY_CHANGE: u32 = 3;
/// The age of the first offer. It exceeds the lifetime of an offer, so that the first offers expire
/// before the present.
pub(super) const PAST: Duration = Duration::from_secs(188 * 24 * 3600);
/// The age of offers created when the process is ready. It is below the lifetime of an offer, so
/// that offers of the feeds do not expire on the way to the present.
pub(super) const PAST_WHEN_READY: Duration = Duration::from_secs(172 * 24 * 3600);
/// Maximum speed of the clock: a day in about ten seconds.
pub(super) const SPEED_MAX: u32 = 10_000;
/// The pause between two simulated user actions.
pub(super) const CHANGE_EVERY: Duration = Duration::from_millis(400);
/// The shortest pause, at any speed of the clock.
pub(super) const CHANGE_EVERY_MIN: Duration = Duration::from_millis(25);
/// Actions between two counts of active offers.
pub(super) const DEEDS_BETWEEN_COUNTS: u32 = 200;
/// Interval at which task parameters move.
pub(super) const VALUES_EVERY: Duration = Duration::from_secs(30);
/// The initial age of parameters that are times. They reach the present after about eleven hours.
pub(super) const VALUES_BEHIND_HOURS: i64 = 28 * 24;
/// Maximum size of the run log; a larger log is rotated.
pub(super) const RUNS_LOG_BYTES_MAX: u64 = 1 << 20;
/// Interval at which the changing feed changes and is fetched. Torg itself fetches a feed every 15
/// minutes at most.
pub(super) const FEED_EVERY: Duration = Duration::from_secs(60);
/// Interval at which the clock is saved.
pub(super) const CLOCK_SAVED_EVERY: Duration = Duration::from_secs(5);
/// The delay before the outside stage restarts, so that the outage is visible.
pub(super) const STAGE_AWAY: Duration = Duration::from_secs(20);
/// Timeout of the stage's start and of its end.
pub(super) const STAGE_PATIENCE: Duration = Duration::from_secs(15);
/// The pause after a failure.
pub(super) const FAILURE_PAUSE: Duration = Duration::from_secs(2);
/// Offers of a seller from which the next action chooses one.
pub(super) const CANDIDATES: usize = 20;
/// Lifetime of idempotency keys. It exceeds the age of the first offer, so that each offer is
/// created once.
pub(super) const KEYS_HOURS: u32 = 400 * 24;
/// Retention of topics while past offers are created: the first messages are half a year old when
/// they are written.
pub(super) const RETENTION_HOURS: u32 = 400 * 24;
/// Retention in hours and in size from then on. The size limit matters if the demo's clock runs
/// ahead: then messages do not age.
pub(super) const RETENTION_HOURS_AFTER: u32 = 24;
pub(super) const RETENTION_MB_AFTER: u32 = 128;
/// The delay after which all consumers have read the messages of the past.
pub(super) const PAST_READ: Duration = Duration::from_secs(600);
/// The delay after which the last changes of the past have been processed.
pub(super) const SETTLING: Duration = Duration::from_secs(20);
/// Recently drawn pictures to cache.
pub(super) const DRAWN_KEPT: usize = 24;
/// One of this many colours of a thing has photos. Each picture is drawn, fetched and resized once,
/// which loads the first minute of the demo.
pub(super) const COLORS_BY_PHOTOGRAPHED: usize = 3;
/// The percentage of photographable offers that have photos: a sixth of all offers.
pub(super) const WITH_PHOTOS_PERCENT: u32 = 53;
