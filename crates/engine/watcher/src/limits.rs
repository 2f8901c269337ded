//! Every limit of the crate.

use std::time::Duration;

/// Fields in one set; more become "all fields".
pub const FIELDS_MAX: usize = 64;
/// Bytes of an entity's id as text.
pub const ENTITY_ID_BYTES_MAX: usize = 200;
/// Bytes of a stage's id, and of an entity's kind.
pub const STAGE_ID_BYTES_MAX: usize = 64;
/// Bytes of an entity as it is kept. Together with a state it has to fit into one row of the outbox.
pub const ENTITY_BYTES_MAX: usize = 512 * 1024;
/// Bytes of a stage's private state.
pub const STATE_BYTES_MAX: usize = 256 * 1024;
/// Bytes of an error that is kept with an entry.
pub const ERROR_BYTES_MAX: usize = 1000;
/// Shards of a store.
pub const SHARDS_MAX: u32 = 65_536;
/// Stages of one watcher.
pub const STAGES_MAX: usize = 256;
/// How far ahead a timer may be.
pub const TIMER_AHEAD_MAX: Duration = Duration::from_secs(100 * 366 * 24 * 3600);
/// Stages that are named when stages fight over an entity.
pub const AUTHORS_MAX: usize = 16;
/// Leases that are read at once.
pub const LEASES_IN_A_READ_MAX: usize = 4096;
/// How far in the past a timer may lie when a stage asks for it: it is due at once. What lies further back is a mistake of the stage.
pub const TIMER_BEHIND_MAX: Duration = Duration::from_secs(60);
/// Times that the outcome of a visit is fitted to what changed meanwhile, before the visit is made again.
pub const FITS_MAX: u32 = 5;
/// Queue rows that are looked at in one go.
pub const PEEK_MAX: usize = 64;
/// The shortest lease time: a beat has to get through even when the store is slow.
pub const LEASE_TIME_MIN: Duration = Duration::from_secs(1);
/// Changes that the relay moves in one go.
pub const RELAY_ROWS_MAX: usize = 100;
/// Queues that are looked into before other things have their turn.
pub const PEEKS_IN_A_ROUND_MAX: usize = 16;
/// Calls in a row without an answer, after which a stage is taken to be down,
pub const DOWN_AFTER_CALLS: usize = 5;
/// if they were about so many different entities at least.
pub const DOWN_AFTER_ENTITIES: usize = 3;
/// The pause before a stage that is down is probed; it doubles with every further probe.
pub const PROBE_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause between two probes.
pub const PROBE_PAUSE_MAX: Duration = Duration::from_secs(30);
/// Entities that are remembered to be called alone, because a call of several came to nothing.
pub const APART_MAX: usize = 10_000;
/// Bytes of the reason for which somebody pauses a stage.
pub const REASON_BYTES_MAX: usize = 1000;
/// Entities that a re-crawl asks about in one go: few, because fresh work waits behind a long commit.
pub const CRAWL_ROWS_MAX: usize = 8;
/// Rows of a queue that are counted, for a report; beyond that it says "at least".
pub const DEPTH_COUNTED_MAX: u64 = 100_000;
/// Entities that are released at the same time.
pub const RELEASES_AT_ONCE_MAX: usize = 32;
/// Shards that are taken at the same time.
pub const TAKEN_AT_ONCE_MAX: usize = 64;
/// Shards whose queues are surveyed before other things have their turn.
pub const SURVEYS_IN_A_ROUND_MAX: usize = 16;
/// Entities in one call of a stage.
pub const BATCH_MAX: usize = 1000;
/// Calls of a stage at the same time.
pub const CALLS_MAX: usize = 10_000;
/// The longest lease time, time-out, pause and window.
pub const DURATION_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
/// Keys that are read at once.
pub const READ_KEYS_MAX: usize = 4096;
/// The least time between a visit and the next one that the stage asks for.
pub const TIMER_STEP_MIN: Duration = Duration::from_millis(10);
/// Bytes of the name of a process.
pub const INSTANCE_BYTES_MAX: usize = 200;
/// How long what some stages have answered to a question waits for the answers of the others.
pub const ANSWER_PATIENCE: Duration = Duration::from_millis(50);
/// A stage whose calls take longer than this, on average, is slow: it visits an entity when quicker ones are done with it.
pub const SLOW_CALL: Duration = Duration::from_millis(250);
/// Answers of one call of a slow stage that are saved at the same time. Its calls often end together, and quicker stages are not to wait for all of them.
pub const SLOW_SAVES_AT_ONCE: usize = 1;
/// How soon a slow stage looks again for an entity that no quicker one wants.
pub const SLOW_PAUSE: Duration = Duration::from_millis(50);
/// How long an answer to a question is waited for. A stage that takes longer sees the entity without having been asked.
pub const ANSWER_TIME_MAX: Duration = Duration::from_millis(500);
/// How long a stage that took too long to answer is not asked; twice as long each time that it does so again.
pub const LATE_PAUSE: Duration = Duration::from_secs(30);
/// The longest such pause.
pub const LATE_PAUSE_MAX: Duration = Duration::from_secs(600);
/// Times that changed entities are asked about at the same time.
pub const QUESTIONS_AT_ONCE_MAX: usize = 64;
/// One of so many calls of a stage is kept free for fresh work.
pub const FRESH_CALLS_PART: usize = 4;
/// A call of the background has at most one of so many entities: fresh work waits behind long reads and commits.
pub const BACKGROUND_BATCH_PART: usize = 4;
/// The background has at most one of so many calls of a stage.
pub const BACKGROUND_CALLS_PART: usize = 16;
/// The time over which the speed of a stage is measured.
pub const SPEED_WINDOW: Duration = Duration::from_secs(5);
/// Fights that a process remembers; the oldest are forgotten.
pub const FIGHTS_KEPT_MAX: usize = 100;
/// The last failures of a stage that a process remembers.
pub const FAILURES_KEPT_MAX: usize = 10;
/// Failures of all its stages that a process tells others of with a beat; each stage has the same part of them, one at least.
pub const FAILURES_TOLD_MAX: usize = 200;
/// Bytes of the error of a failure that is remembered.
pub const FAILURE_BYTES_MAX: usize = 300;
/// Shards whose rows are counted at the same time, for a report.
pub const SHARDS_COUNTED_AT_ONCE_MAX: usize = 16;
/// Rows that are counted in one read, for a report.
pub const COUNTED_IN_A_READ_MAX: usize = 1000;
/// Questions to the loop that may wait for an answer; whoever asks one more gets none.
pub const INQUIRIES_MAX: usize = 64;
/// How long somebody waits for what the loop answers.
pub const INQUIRY_TIME_MAX: Duration = Duration::from_secs(1);
/// How far the clocks of machines may be apart, together with the longest commit, for whoever says how far the topic has come.
pub const CLOCKS_APART_MAX: Duration = Duration::from_secs(5);
