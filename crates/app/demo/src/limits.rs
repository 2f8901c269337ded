//! Every limit and default of the demo.

use std::time::Duration;

/// Where the demo lives unless `--data` says otherwise.
pub const FOLDER: &str = "./torg-demo";
/// Offers that the demo makes.
pub(super) const OFFERS: u32 = 20_000;
/// The most that somebody may ask for.
pub(super) const OFFERS_MAX: u32 = 1_000_000;
/// Offers that are there before the process says that it is ready; of fewer offers a quarter.
pub(super) const OFFERS_AT_FIRST: u32 = 600;
/// Offers that are made at the same time.
pub(super) const CHUNK: u32 = 50;
/// Offers between two lines of progress in the log.
pub(super) const PROGRESS_EVERY: u32 = 2_500;
/// One change of somebody for so many offers that are made.
pub(super) const OFFERS_BY_CHANGE: u32 = 3;
/// How far back the first offer lies. Longer than an offer is shown, so that the first ones expire
/// on the way to the present.
pub(super) const PAST: Duration = Duration::from_secs(188 * 24 * 3600);
/// How far back it is when the process is ready. Shorter than an offer is shown: what the feeds
/// bring then does not expire on the way.
pub(super) const PAST_WHEN_READY: Duration = Duration::from_secs(172 * 24 * 3600);
/// Time runs at most so many times as fast: a day in some ten seconds.
pub(super) const SPEED_MAX: u32 = 10_000;
/// The pause between two changes while the demo lives.
pub(super) const CHANGE_EVERY: Duration = Duration::from_millis(400);
/// The shortest pause, however fast the time runs.
pub(super) const CHANGE_EVERY_MIN: Duration = Duration::from_millis(25);
/// After so many deeds of people it is counted anew how many offers are active.
pub(super) const DEEDS_BETWEEN_COUNTS: u32 = 200;
/// How often values move that tasks wait on.
pub(super) const VALUES_EVERY: Duration = Duration::from_secs(30);
/// How far back values begin that are times: they come up with the clock in some eleven hours.
pub(super) const VALUES_BEHIND_HOURS: i64 = 28 * 24;
/// Bytes of the log of runs; what is more goes to the one before.
pub(super) const RUNS_LOG_BYTES_MAX: u64 = 1 << 20;
/// How often the changing feed is another one, and is fetched. Feeds themselves are fetched every
/// quarter of an hour at most.
pub(super) const FEED_EVERY: Duration = Duration::from_secs(60);
/// How often it is written down what time it is in the demo.
pub(super) const CLOCK_SAVED_EVERY: Duration = Duration::from_secs(5);
/// How long the outside stage stays away after it ended, so that the outage can be seen.
pub(super) const STAGE_AWAY: Duration = Duration::from_secs(20);
/// How long its start may take, and its end.
pub(super) const STAGE_PATIENCE: Duration = Duration::from_secs(15);
/// Pause after something of the demo failed.
pub(super) const FAILURE_PAUSE: Duration = Duration::from_secs(2);
/// Offers of a seller among which one is chosen to be changed.
pub(super) const CANDIDATES: usize = 20;
/// How long an idempotency key is remembered in the demo: longer than its past, so that an offer is
/// made once.
pub(super) const KEYS_HOURS: u32 = 400 * 24;
/// How long messages stay in topics while the past is made: the first are half a year old when they
/// are written.
pub(super) const RETENTION_HOURS: u32 = 400 * 24;
/// How long they stay from then on, and how many of a topic: messages of a time that runs ahead of
/// the machine's do not grow old.
pub(super) const RETENTION_HOURS_AFTER: u32 = 24;
pub(super) const RETENTION_MB_AFTER: u32 = 128;
/// How long after the past was made all have read its messages.
pub(super) const PAST_READ: Duration = Duration::from_secs(600);
/// How long after the past was made its last changes may still be on their way.
pub(super) const SETTLING: Duration = Duration::from_secs(20);
/// Pictures that were drawn last and are kept, for whoever asks for them again.
pub(super) const DRAWN_KEPT: usize = 24;
/// Of so many colours of a thing one is photographed: each picture is drawn, fetched and made in
/// its sizes once, and the first minute is busy enough.
pub(super) const COLORS_BY_PHOTOGRAPHED: usize = 3;
/// So many of a hundred offers of what is photographed have photos: one of six of all offers.
pub(super) const WITH_PHOTOS_PERCENT: u32 = 53;
