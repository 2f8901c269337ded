//! Limits of the sampler and its history.

use std::time::Duration;

use api::limits::LISTED_COUNTED_MAX;
use watcher::limits::STAGES_MAX;

/// The console must know up to which number waiting visits are counted.
const _: () = assert!(console::limits::DEPTH_COUNTED_MAX as u64 == LISTED_COUNTED_MAX);

/// The sampling interval.
pub(crate) const SAMPLE_EVERY: Duration = Duration::from_secs(2);
/// Points kept at the sampling interval: a quarter of an hour.
pub(crate) const FINE_POINTS: usize = 450;
/// Fine points per coarse point: half a minute.
pub(crate) const FINE_IN_COARSE: usize = 15;
/// Points kept at the coarse interval: six hours.
pub(crate) const COARSE_POINTS: usize = 720;
/// The longest history that can be read.
pub(crate) const BACK_MAX: Duration = Duration::from_secs(6 * 3600);
/// The default length of history that is read.
pub(crate) const BACK: Duration = Duration::from_secs(15 * 60);
/// Default number of points per figure in a response.
pub(crate) const POINTS_SHOWN: u32 = 120;
/// Maximum number of points per figure in a response.
pub(crate) const POINTS_SHOWN_MAX: u32 = 1000;
/// Room for the figures of one stage; a stage has somewhat fewer.
pub(crate) const SERIES_OF_A_STAGE: usize = 16;
/// Room for all other figures: services, topics, outcomes, the store, tasks.
pub(crate) const SERIES_BESIDE_STAGES: usize = 500;
/// Time series that are kept, with room for the maximum number of stages. Further ones are dropped
/// and reported.
pub(crate) const SERIES_MAX: usize = SERIES_OF_A_STAGE * STAGES_MAX + SERIES_BESIDE_STAGES;
/// Maximum number of labels in a filter.
pub(crate) const LABELS_WANTED_MAX: usize = 8;
/// Maximum length of a name prefix in a filter.
pub(crate) const PREFIX_BYTES_MAX: usize = 100;
/// Services that are counted separately; the others count as `other`.
pub(crate) const SERVICES_MAX: usize = 64;

/// Timeout of a reading from the store. A reading that takes longer is unknown.
pub(crate) const STORE_TIME_MAX: Duration = Duration::from_secs(1);
/// Timeout of a ping to a remote stage.
pub(crate) const PING_TIME_MAX: Duration = Duration::from_secs(1);
/// Time budget of one sample for readings from the store: after this no further reading begins.
pub(crate) const LOOKS_TIME: Duration = Duration::from_millis(300);
/// A slow reading is repeated after this multiple of its duration at the earliest, so readings take
/// at most a twentieth of the store's time.
pub(crate) const REST: u32 = 20;
/// Minimum interval between counts of a stage's queue.
pub(crate) const DEPTHS_EVERY: Duration = Duration::from_secs(10);
/// Minimum interval between readings of the export, topics and tasks.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Minimum interval between steps of the feed survey. A step covers all feeds if its budget
/// suffices.
pub(crate) const FEEDS_EVERY: Duration = SAMPLE_EVERY;
/// A reading expires after this time and is then unknown.
pub(crate) const KNOWN_FOR: Duration = Duration::from_secs(60);
/// After this many failed readings in a row the previous value is unknown, and the failure is
/// reported.
pub(crate) const FORGET_AFTER: u32 = 5;
/// Timeout of listing the topics, and again of reading their offsets. These run in the background.
pub(crate) const TOPICS_TIME_MAX: Duration = Duration::from_secs(3);
/// Failed readings of topics in a row after which the topics are reported unavailable.
pub(crate) const TOPICS_AWAY_AFTER: u32 = 2;
/// Missed pings in a row after which a remote stage is reported silent. An unreachable stage is
/// reported at once.
pub(crate) const SILENT_AFTER: u32 = 2;
/// Maximum number of topics whose growth is tracked.
pub(crate) const TOPICS_MAX: usize = 50;
/// Counters of other processes change with their heartbeats, so a rate is kept for this long
/// without a change.
pub(crate) const BEAT_HOLD: Duration = Duration::from_secs(8);

/// Fresh visits that are overdue for longer are reported.
pub(crate) const QUEUE_LATE: Duration = Duration::from_secs(60);
/// Changes that wait longer for the export to the topic are reported.
pub(crate) const EXPORT_LATE: Duration = Duration::from_secs(60);
/// How long a shard of offers may be without an owner while it moves between processes.
pub(crate) const UNSERVED_AFTER: Duration = Duration::from_secs(6);
/// How long shards of feeds may be without an owner. Longer than the interval between readings of
/// the owners.
pub(crate) const FEEDS_UNSERVED_AFTER: Duration = Duration::from_secs(15);
/// A load without progress for this long is stuck.
pub(crate) const LOAD_STUCK_AFTER: Duration = Duration::from_secs(10 * 60);
/// A consumer with lag that has read nothing for this long is stuck.
pub(crate) const CONSUMER_STUCK_AFTER: Duration = Duration::from_secs(5 * 60);
/// Photos whose files are checked in one reading.
pub(crate) const PHOTOS_LOOKED_AT: usize = 8;
/// How long a dead process is reported.
pub(crate) const GONE_SHOWN: Duration = Duration::from_secs(5 * 60);
/// Problems of one kind that are listed individually.
pub(crate) const PROBLEMS_OF_A_KIND_MAX: usize = 100;
/// A problem quotes at most this many characters of an error.
pub(crate) const ERROR_CHARS_MAX: usize = 300;
