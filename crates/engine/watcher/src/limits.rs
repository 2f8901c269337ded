//! Every limit of the crate.

use std::time::Duration;

/// Fields in one set; more become "all fields".
pub const FIELDS_MAX: usize = 64;
/// Bytes of an entity's id as text.
pub const ENTITY_ID_BYTES_MAX: usize = 200;
/// Bytes of a stage's id, and of an entity's kind.
pub const STAGE_ID_BYTES_MAX: usize = 64;
/// Bytes of an encoded entity. Together with a state it must fit into one row of the outbox.
pub const ENTITY_BYTES_MAX: usize = 512 * 1024;
/// Bytes of a stage's private state.
pub const STATE_BYTES_MAX: usize = 256 * 1024;
/// Bytes of the error of an entry.
pub const ERROR_BYTES_MAX: usize = 1000;
/// Shards of a store.
pub const SHARDS_MAX: u32 = 65_536;
/// Stages of one watcher.
pub const STAGES_MAX: usize = 256;
/// The furthest time of a timer.
pub const TIMER_AHEAD_MAX: Duration = Duration::from_secs(100 * 366 * 24 * 3600);
/// Stages that a fight names.
pub const AUTHORS_MAX: usize = 16;
/// Leases that are read at once.
pub const LEASES_IN_A_READ_MAX: usize = 4096;
/// How far in the past a requested timer may be: it is due at once. Anything earlier is an error of
/// the stage.
pub const TIMER_BEHIND_MAX: Duration = Duration::from_secs(60);
/// How often an answer is rebased on what changed meanwhile, before the visit is made again.
pub const REBASES_MAX: u32 = 5;
/// Queue rows in one scan.
pub const SCAN_ROWS_MAX: usize = 64;
/// A heartbeat must get through even when the store is slow.
pub const LEASE_TIME_MIN: Duration = Duration::from_secs(1);
/// Changes that the relay moves at once.
pub const RELAY_ROWS_MAX: usize = 100;
/// Queues that are scanned before other work of the loop.
pub const SCANS_IN_A_ROUND_MAX: usize = 16;
/// Calls in a row without an answer after which a stage is down, if they were about at least
/// `DOWN_AFTER_ENTITIES` different entities.
pub const DOWN_AFTER_CALLS: usize = 5;
pub const DOWN_AFTER_ENTITIES: usize = 3;
/// The pause before a stage that is down is probed; it doubles with every further probe.
pub const PROBE_PAUSE: Duration = Duration::from_secs(1);
pub const PROBE_PAUSE_MAX: Duration = Duration::from_secs(30);
/// Entities that are remembered to be called alone, because a call about several failed.
pub const ISOLATED_MAX: usize = 10_000;
/// Bytes of the reason for a pause.
pub const REASON_BYTES_MAX: usize = 1000;
/// Entities in one step of a re-crawl: few, because fresh work waits behind a long commit.
pub const CRAWL_ROWS_MAX: usize = 8;
/// Rows of a queue that a report counts; beyond that it says "at least".
pub const DEPTH_COUNTED_MAX: u64 = 100_000;
/// Entities that are released at the same time.
pub const RELEASES_AT_ONCE_MAX: usize = 32;
/// Shards that are taken at the same time.
pub const TAKEN_AT_ONCE_MAX: usize = 64;
/// Shards that are surveyed before other work of the loop.
pub const SURVEYS_IN_A_ROUND_MAX: usize = 16;
/// Entities in one call of a stage.
pub const BATCH_MAX: usize = 1000;
/// Calls of a stage at the same time.
pub const CALLS_MAX: usize = 10_000;
/// The longest lease time, timeout, pause and window.
pub const DURATION_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
/// Keys that are read at once.
pub const READ_KEYS_MAX: usize = 4096;
/// The least time between a visit and the next one that its stage requests.
pub const TIMER_STEP_MIN: Duration = Duration::from_millis(10);
/// Bytes of the name of a process.
pub const INSTANCE_BYTES_MAX: usize = 200;
/// How long the answers of quick stages wait for those of the others.
pub const ANSWER_PATIENCE: Duration = Duration::from_millis(50);
/// A stage whose average call takes longer is slow: it visits an entity after the quicker stages.
pub const SLOW_CALL: Duration = Duration::from_millis(250);
/// Concurrent saves of one call of a slow stage. Its calls often end together, and quicker stages
/// must not wait for all of them.
pub const SLOW_SAVES_AT_ONCE: usize = 1;
/// The pause before a slow stage looks again for an entity that no quicker one wants.
pub const SLOW_PAUSE: Duration = Duration::from_millis(50);
/// The longest wait for an answer to a question. A stage that takes longer gets the visit.
pub const ANSWER_TIME_MAX: Duration = Duration::from_millis(500);
/// How long a stage that did not answer in time is not asked; it doubles each time.
pub const LATE_PAUSE: Duration = Duration::from_secs(30);
pub const LATE_PAUSE_MAX: Duration = Duration::from_secs(600);
/// Concurrent rounds of questions.
pub const QUESTIONS_AT_ONCE_MAX: usize = 64;
/// One out of this many calls of a stage is reserved for fresh work.
pub const FRESH_CALLS_PART: usize = 4;
/// A background call has at most one out of this many entities: fresh work waits behind long reads
/// and commits.
pub const BACKGROUND_BATCH_PART: usize = 4;
/// The background has at most one out of this many calls of a stage.
pub const BACKGROUND_CALLS_PART: usize = 16;
/// The time over which the speed of a stage is measured.
pub const SPEED_WINDOW: Duration = Duration::from_secs(5);
/// Fights that a process remembers.
pub const FIGHTS_KEPT_MAX: usize = 100;
/// Failures of a stage that a process remembers.
pub const FAILURES_KEPT_MAX: usize = 10;
/// Failures of all stages in a heartbeat; each stage has an equal part, at least one.
pub const FAILURES_TOLD_MAX: usize = 200;
/// Bytes of the error of a remembered failure.
pub const FAILURE_BYTES_MAX: usize = 300;
/// Shards that a report counts concurrently.
pub const SHARDS_COUNTED_AT_ONCE_MAX: usize = 16;
/// Rows that a report counts in one read.
pub const COUNTED_IN_A_READ_MAX: usize = 1000;
/// Questions to the loop that may wait; further ones get no answer.
pub const INQUIRIES_MAX: usize = 64;
/// The longest wait for an answer of the loop.
pub const INQUIRY_TIME_MAX: Duration = Duration::from_secs(1);
/// The largest difference between the clocks of machines plus the longest commit, for
/// `exported_to`.
pub const CLOCKS_APART_MAX: Duration = Duration::from_secs(5);
