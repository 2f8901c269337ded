//! The names of all figures. `/metrics` puts `torg_` before them.

/// A figure's name, unit and help text.
#[allow(clippy::struct_field_names, reason = "it is what the text is")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    pub name: &'static str,
    /// `per_s`, `s`, `offers`, `bytes`, `calls`; empty for a plain number.
    pub unit: &'static str,
    pub help: &'static str,
}

const fn name(name: &'static str, unit: &'static str, help: &'static str) -> Name {
    Name { name, unit, help }
}

// Calls. In `/metrics` the counters and the histogram `torg_rpc_*` replace these.
pub(super) const CALLS: Name = name("rpc_calls_per_s", "per_s", "Calls that ended, by service");
pub(super) const OUTCOMES: Name = name("rpc_outcomes_per_s", "per_s", "Calls that ended, by outcome");
pub(super) const CALL_P50: Name =
    name("rpc_duration_p50_seconds", "s", "Half of the calls of a service took no longer");
pub(super) const CALL_P95: Name =
    name("rpc_duration_p95_seconds", "s", "95 of 100 calls of a service took no longer");

// Stages, over all processes; the counters are of this process.
pub(super) const STAGE_VISITS: Name = name("stage_visits_per_s", "per_s", "Visits of a stage");
pub(super) const STAGE_CHANGES: Name = name("stage_changes_per_s", "per_s", "Visits that changed the offer");
pub(super) const STAGE_FAILURES: Name = name("stage_failures_per_s", "per_s", "Visits that failed");
pub(super) const STAGE_VISITS_TOTAL: Name = name("stage_visits", "", "Visits of a stage in this process");
pub(super) const STAGE_CHANGES_TOTAL: Name =
    name("stage_changes", "", "Visits in this process that changed the offer");
pub(super) const STAGE_FAILURES_TOTAL: Name =
    name("stage_failures", "", "Visits in this process that failed");
pub(super) const STAGE_P50: Name =
    name("stage_visit_p50_seconds", "s", "Half of the visits of a stage took no longer");
pub(super) const STAGE_P95: Name =
    name("stage_visit_p95_seconds", "s", "95 of 100 visits of a stage took no longer");
pub(super) const STAGE_TIMES: Name = name(
    "stage_visit_seconds",
    "s",
    "How long visits of a stage took in this process, with reads and commits",
);
pub(super) const STAGE_CALLS: Name = name("stage_calls", "calls", "Calls of a stage that are under way");
pub(super) const STAGE_DEPTH: Name =
    name("stage_depth", "offers", "Offers that wait for a stage, by lane, counted up to a limit");
pub(super) const STAGE_PARKED: Name =
    name("stage_parked", "offers", "Offers whose visits are parked after failures");
pub(super) const STAGE_OLDEST: Name =
    name("stage_oldest_due_seconds", "s", "For how long the oldest fresh visit of a stage has been due");
pub(super) const STAGE_DOWN: Name = name("stage_down", "", "1 if a stage does not answer");
pub(super) const STAGE_PAUSED: Name = name("stage_paused", "", "1 if somebody has paused a stage");
pub(super) const STAGE_PAUSED_SINCE: Name = name(
    "stage_paused_since_seconds",
    "s",
    "Since when a stage is paused, in seconds since the epoch; 0 if it is not",
);

pub(super) const EXPORT_LAG: Name =
    name("export_lag_seconds", "s", "For how long the oldest change has been on its way to the topic");

pub(super) const LOADS: Name = name("feed_loads", "", "Loads of feeds that are not over, by state");
pub(super) const FEEDS: Name = name("feeds", "", "Feeds that there are");
pub(super) const FEEDS_FAILING: Name = name("feeds_failing", "", "Feeds that could not be fetched last");

pub(super) const LOADS_STUCK: Name =
    name("feed_loads_stuck", "", "Loads that are not over, and for which nothing has been done for long");
pub(super) const FEEDS_UNSERVED: Name =
    name("feed_shards_unserved", "", "Parts of the feeds that no process serves, if there are feeds");
pub(super) const PHOTOS_MISSING: Name =
    name("photos_missing", "", "Of the photos that were looked at last, those whose files are missing");

pub(super) const TOPIC_MESSAGES: Name =
    name("topic_messages_per_s", "per_s", "Messages that came into a topic");
pub(super) const TOPIC_END: Name = name("topic_end_offset", "", "Offsets of the ends of a topic, added up");
pub(super) const TOPIC_LAG: Name =
    name("topic_lag_messages", "", "Messages that a consumer of Torg's has not taken in yet");
pub(super) const CONSUMERS_STUCK: Name =
    name("consumers_stuck", "", "Consumers of Torg's that have messages before them and read none");

pub(super) const TOPICS_ANSWER: Name = name("topics_answers", "", "1 if the topics answer");
pub(super) const TASKS_UNDECIDED: Name =
    name("tasks_undecided", "", "1 if there are tasks and no process decides about them");

pub(super) const PROCESSES: Name = name("processes", "", "Processes that serve offers");
pub(super) const SHARDS_UNSERVED: Name =
    name("shards_unserved", "", "Parts of the offers that no process serves");
pub(super) const STORE_ANSWERS: Name = name("store_answers", "", "1 if the store answers");
pub(super) const STORE_WRITES: Name = name("store_takes_writes", "", "1 if the store takes writes");
pub(super) const STORE_DAMAGED: Name =
    name("store_damaged", "", "1 if something was read in the store that is damaged");
pub(super) const SAMPLED: Name =
    name("sampled_timestamp_seconds", "s", "When figures were taken last, in seconds since the epoch");
pub(super) const PROBLEMS: Name = name("problems", "", "Problems that there are now, by severity");

pub(super) const CPU: Name = name("process_cpu_per_s", "", "Processors that are in use");
pub(super) const MEMORY: Name = name("process_resident_memory_bytes", "bytes", "Memory in use");
pub(super) const OPEN_FILES: Name = name("process_open_fds", "", "Open file descriptors");

/// A figure that another part supplies under its own name.
pub(super) const fn given(name: &'static str) -> Name {
    Name { name, unit: "", help: name }
}
