//! Every limit of what is observed.

use std::time::Duration;

use api::limits::LISTED_COUNTED_MAX;
use watcher::limits::STAGES_MAX;

/// The pages have to know how far what waits is counted.
const _: () = assert!(console::limits::DEPTH_COUNTED_MAX as u64 == LISTED_COUNTED_MAX);

/// How often figures are taken.
pub(crate) const SAMPLE_EVERY: Duration = Duration::from_secs(2);
/// Points that are kept at that step: a quarter of an hour.
pub(crate) const FINE_POINTS: usize = 450;
/// So many of them make one point of the time before that: half a minute.
pub(crate) const FINE_IN_COARSE: usize = 15;
/// Points that are kept at the longer step: six hours.
pub(crate) const COARSE_POINTS: usize = 720;
/// How far back figures can be read.
pub(crate) const BACK_MAX: Duration = Duration::from_secs(6 * 3600);
/// How far back they are read, if nothing is said.
pub(crate) const BACK: Duration = Duration::from_secs(15 * 60);
/// Points of each figure that are shown, if nothing is said.
pub(crate) const POINTS_SHOWN: u32 = 120;
/// Points of each figure that are shown, at most.
pub(crate) const POINTS_SHOWN_MAX: u32 = 1000;
/// Room for the figures of one stage: it has some fewer.
pub(crate) const SERIES_OF_A_STAGE: usize = 16;
/// Room for all other figures: of services, topics, outcomes, the store, tasks.
pub(crate) const SERIES_BESIDE_STAGES: usize = 500;
/// Figures that are kept, each with its labels, so many that all stages have theirs; what comes
/// beyond is left out, and that is told.
pub(crate) const SERIES_MAX: usize = SERIES_OF_A_STAGE * STAGES_MAX + SERIES_BESIDE_STAGES;
/// Labels by which figures are chosen.
pub(crate) const LABELS_WANTED_MAX: usize = 8;
/// Bytes of the beginning of a name by which figures are chosen.
pub(crate) const PREFIX_BYTES_MAX: usize = 100;
/// Services whose calls are told apart; those of others count as `other`.
pub(crate) const SERVICES_MAX: usize = 64;

/// How long the store has to answer. What it has not said by then is not known.
pub(crate) const STORE_TIME_MAX: Duration = Duration::from_secs(1);
/// How long an outside stage has to say what it is before it counts as silent.
pub(crate) const PING_TIME_MAX: Duration = Duration::from_secs(1);
/// No further look at the store begins at one sample after so long.
pub(crate) const LOOKS_TIME: Duration = Duration::from_millis(300);
/// A look that took its time is made again no sooner than after so many times as long: looks take a
/// twentieth of the store's time at most.
pub(crate) const REST: u32 = 20;
/// How often what waits for a stage is counted, at most.
pub(crate) const DEPTHS_EVERY: Duration = Duration::from_secs(10);
/// How often it is looked how far the export, topics and tasks have come, at most.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(10);
/// How often feeds are looked at, at most: all of them, if there is time.
pub(crate) const FEEDS_EVERY: Duration = SAMPLE_EVERY;
/// What was read is held to be true for so long, and not known after that.
pub(crate) const KNOWN_FOR: Duration = Duration::from_secs(60);
/// Failed looks in a row after which what was read before is not known any more, and that is told.
pub(crate) const FORGET_AFTER: u32 = 5;
/// How long topics have to say which there are, and then how each of them stands. Nobody waits for
/// that.
pub(crate) const TOPICS_TIME_MAX: Duration = Duration::from_secs(3);
/// Looks in a row to which topics did not answer, after which that is told.
pub(crate) const TOPICS_AWAY_AFTER: u32 = 2;
/// Pings in a row that an outside stage let pass, after which it counts as silent. One that cannot
/// be reached does so at once.
pub(crate) const SILENT_AFTER: u32 = 2;
/// Topics of which it is known how they grow.
pub(crate) const TOPICS_MAX: usize = 50;
/// The counters of other processes change with their beats: a rate of theirs is held for so long.
pub(crate) const BEAT_HOLD: Duration = Duration::from_secs(8);

/// Fresh visits that are due for longer are late.
pub(crate) const QUEUE_LATE: Duration = Duration::from_secs(60);
/// Changes that have been on their way to the topic for longer are late.
pub(crate) const EXPORT_LATE: Duration = Duration::from_secs(60);
/// A part of the offers may be without a process for so long, while it goes from one to another.
pub(crate) const UNSERVED_AFTER: Duration = Duration::from_secs(6);
/// Feeds may be without a process for so long: longer than it takes to look who has them.
pub(crate) const FEEDS_UNSERVED_AFTER: Duration = Duration::from_secs(15);
/// A load that is not over and for which nothing has been done for so long is stuck.
pub(crate) const LOAD_STUCK_AFTER: Duration = Duration::from_secs(10 * 60);
/// A consumer that has had messages before it for so long, and has read none of them, is stuck.
pub(crate) const CONSUMER_STUCK_AFTER: Duration = Duration::from_secs(5 * 60);
/// Photos whose files are looked for at once.
pub(crate) const PHOTOS_LOOKED_AT: usize = 8;
/// How long it is told that a process is gone that said nothing.
pub(crate) const GONE_SHOWN: Duration = Duration::from_secs(5 * 60);
/// Problems of one kind that are told one by one.
pub(crate) const PROBLEMS_OF_A_KIND_MAX: usize = 100;
/// Letters of the text of an error that a problem quotes.
pub(crate) const ERROR_CHARS_MAX: usize = 300;
