//! Derives the current problems from the latest readings.
//!
//! This is a pure function of the readings, so a problem disappears with its cause.

use std::collections::BTreeMap;
use std::time::Duration;

use ::feeds::Surveyed;
use clock::Time;
use feeds::FeedName;
use jiff::Timestamp;
use tasks::Unhealthy;
use watcher::{Cluster, Depth, Outage, Pause};
use wire::torg::feeds::v1::load::State;

use super::feeds::Stuck;
use super::limits::{
    ERROR_CHARS_MAX, EXPORT_LATE, FEEDS_UNSERVED_AFTER, PROBLEMS_OF_A_KIND_MAX, QUEUE_LATE, SERIES_MAX,
    UNSERVED_AFTER,
};
use super::looks::{PhotosSeen, TasksSeen};
use super::topics::Stalled;
use text::shell::quoted;

/// Severities, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something does not work.
    Error,
    /// Something needs a person, or will stop working.
    Warning,
    /// A person chose this state.
    Note,
}

impl Severity {
    pub const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Note];

    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A problem and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    pub code: &'static str,
    /// A stage, a feed (`seller/namespace`), a task or a process. Empty if it concerns the whole
    /// system.
    pub about: String,
    pub text: String,
    pub remedy: String,
    pub since: Time,
}

/// All readings at one moment. An unknown reading yields no problem.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) now: Time,
    /// Failed readiness checks: name and reason.
    pub(super) not_ready: Vec<(String, String)>,
    pub(super) store: Option<StoreTrouble>,
    /// Damaged data was read from the store: the error.
    pub(super) damage: Option<String>,
    /// Topics have failed to answer several times in a row: the last error.
    pub(super) topics_away: Option<String>,
    /// Internal consumers that have lag and make no progress.
    pub(super) stalled: Vec<Stalled>,
    pub(super) stages: BTreeMap<String, StageSeen>,
    /// The oldest unexported change.
    pub(super) export_oldest: Option<Time>,
    /// Feeds with a problem.
    pub(super) feeds: Vec<Surveyed>,
    /// Loads without progress for too long.
    pub(super) stuck: Vec<Stuck>,
    /// Shards of feeds without an owner, and the number of all shards. `None` without feeds.
    pub(super) feeds_unserved: Option<(usize, u32)>,
    /// The last check of photos.
    pub(super) photos: PhotosSeen,
    pub(super) tasks: TasksSeen,
    pub(super) cluster: Option<Cluster>,
    /// Number of shards of offers.
    pub(super) shards: u32,
    /// Processes that died, and when that was noticed.
    pub(super) gone: BTreeMap<String, Time>,
    /// The clock of offers is being moved.
    pub(super) time_moves: bool,
    /// Readings that fail repeatedly, with their last error.
    pub(super) unseen: BTreeMap<&'static str, String>,
    /// The last sample had more figures than are kept.
    pub(super) figures_full: bool,
}

/// What is wrong with the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StoreTrouble {
    /// It does not answer.
    Away(String),
    /// It answers and refuses writes, with a remedy where one is known.
    NoWrites { code: &'static str, why: String, remedy: Option<&'static str> },
}

impl StoreTrouble {
    pub(super) fn of(error: &store::Error) -> Self {
        let code = match error {
            store::Error::DiskFull { .. } => "store_full",
            store::Error::Stopped { .. } => "store_failed",
            store::Error::ReadOnly { .. } => "store_read_only",
            _ => return Self::Away(error.to_string()),
        };
        Self::NoWrites { code, why: error.to_string(), remedy: error.hint() }
    }

    /// A failed commit while the store answers.
    pub(super) fn of_commit(error: &store::Error) -> Self {
        match Self::of(error) {
            Self::Away(why) => Self::NoWrites { code: "store_read_only", why, remedy: None },
            known @ Self::NoWrites { .. } => known,
        }
    }
}

/// A stage over all processes.
#[derive(Debug, Default)]
pub(super) struct StageSeen {
    pub(super) down: Option<Outage>,
    pub(super) pause: Option<Pause>,
    pub(super) parked: Depth,
    pub(super) oldest_fresh: Option<Time>,
}

impl Seen {
    /// Shards of offers without a living owner. `None` if unknown.
    pub(super) fn unserved(&self) -> Option<Vec<u32>> {
        Some(unserved(self.cluster.as_ref()?, self.shards))
    }

    /// True if `process` owns no shard any more and every shard has a living owner.
    fn is_taken_over(&self, process: &str) -> bool {
        let holds = |cluster: &Cluster| cluster.holders.values().any(|holder| holder.owner == process);
        let is_held = self.cluster.as_ref().is_none_or(holds);
        !is_held && self.unserved().is_some_and(|unserved| unserved.is_empty())
    }
}

/// Shards without a living owner.
pub(super) fn unserved(cluster: &Cluster, shards: u32) -> Vec<u32> {
    let serves = |owner: &str| cluster.processes.contains_key(owner);
    let is_served = |shard: &u32| cluster.holders.get(shard).is_some_and(|holder| serves(&holder.owner));
    (0..shards).filter(|shard| !is_served(shard)).collect()
}

/// When each problem was first found, for problems whose cause has no time of its own.
#[derive(Debug, Default)]
pub(super) struct Since(BTreeMap<(&'static str, String), Time>);

impl Since {
    /// All current problems, the worst first.
    pub(super) fn problems(&mut self, seen: &Seen) -> Vec<Problem> {
        let mut found = Found { now: seen.now, problems: Vec::new(), known: std::mem::take(&mut self.0) };
        found.readiness(seen);
        if seen.time_moves {
            let text = "the demo makes up half a year of the past: until that is done nothing counts as late";
            let remedy = "wait a minute or two; the log says how far it is";
            found.add(Severity::Note, ("time_moves", ""), text.to_owned(), remedy, None);
        }
        found.cluster(seen);
        for (id, stage) in &seen.stages {
            found.stage(id, stage);
        }
        found.topics(seen.topics_away.as_deref());
        found.consumers(&seen.stalled);
        found.export(seen.export_oldest);
        found.feeds(&seen.feeds);
        found.loads(&seen.stuck, seen.feeds_unserved);
        found.photos(&seen.photos);
        found.tasks(&seen.tasks);
        found.sight(seen);
        let Found { problems, .. } = found;
        self.0 =
            problems.iter().map(|(problem, first)| ((problem.code, problem.about.clone()), *first)).collect();
        let is_over = |(problem, first): (Problem, Time)| {
            let waits = match problem.code {
                UNSERVED => UNSERVED_AFTER,
                FEEDS_UNSERVED => FEEDS_UNSERVED_AFTER,
                _ => Duration::ZERO,
            };
            (seen.now.since(first) >= waits).then_some(problem)
        };
        let mut problems: Vec<Problem> = problems.into_iter().filter_map(is_over).collect();
        problems.sort_by(|a, b| {
            (a.severity, a.since, a.code, &a.about).cmp(&(b.severity, b.since, b.code, &b.about))
        });
        problems
    }
}

const UNSERVED: &str = "shard_unserved";
const FEEDS_UNSERVED: &str = "feeds_unserved";

struct Found {
    now: Time,
    /// Each with the time at which it was first found.
    problems: Vec<(Problem, Time)>,
    known: BTreeMap<(&'static str, String), Time>,
}

impl Found {
    /// Adds a problem. `since` is the time of the cause if it is known; otherwise the time at which
    /// the problem was first found.
    fn add(
        &mut self,
        severity: Severity,
        (code, about): (&'static str, &str),
        text: String,
        remedy: impl Into<String>,
        since: Option<Time>,
    ) {
        let about = about.to_owned();
        let first = self.first((code, &about), None);
        let since = since.unwrap_or(first);
        self.problems.push((Problem { severity, code, about, text, remedy: remedy.into(), since }, first));
    }

    /// When a problem was first found. `began`, a time by which it had begun, counts only the first
    /// time.
    fn first(&self, (code, about): (&'static str, &str), began: Option<Time>) -> Time {
        self.known.get(&(code, about.to_owned())).copied().or(began).unwrap_or(self.now)
    }

    fn store(&mut self, trouble: Option<&StoreTrouble>) {
        let (code, text, remedy) = match trouble {
            None => return,
            Some(StoreTrouble::Away(why)) => (
                "store_away",
                format!("the store does not answer: {}", text::shortened(why, ERROR_CHARS_MAX)),
                "see whether the store runs and this machine reaches it: the setting store.url, and the log of the database; Torg goes on by itself",
            ),
            Some(StoreTrouble::NoWrites { code, why, remedy }) => (
                *code,
                format!("nothing can be saved: {}", text::shortened(why, ERROR_CHARS_MAX)),
                remedy.unwrap_or("see the log of the process and of the database; Torg goes on by itself as soon as writes do"),
            ),
        };
        self.add(Severity::Error, (code, ""), text, remedy, None);
    }

    fn readiness(&mut self, seen: &Seen) {
        self.store(seen.store.as_ref());
        if let Some(why) = &seen.damage {
            let text =
                format!("something in the store is damaged: {}", text::shortened(why, ERROR_CHARS_MAX));
            let remedy = "stop the processes and see with `torg store check` what else is; then restore the store from a copy";
            self.add(Severity::Error, ("store_damaged", ""), text, remedy, None);
        }
        for (check, why) in &seen.not_ready {
            let (code, remedy) = match check.as_str() {
                // The store has its own problems.
                "store" => continue,
                "stop" => ("stopping", "nothing: the process ends in order"),
                _ => ("not_ready", "see /readyz and the log of the process"),
            };
            let severity = if code == "stopping" { Severity::Note } else { Severity::Error };
            let about = if code == "not_ready" { check } else { "" };
            self.add(severity, (code, about), format!("the {check} is not ready: {why}"), remedy, None);
        }
    }

    fn cluster(&mut self, seen: &Seen) {
        let unserved = seen.unserved().unwrap_or_default();
        if !unserved.is_empty() {
            let (free, all) = (unserved.len(), seen.shards);
            let nobody = seen.cluster.as_ref().is_some_and(|cluster| cluster.processes.is_empty());
            let text = if nobody {
                "no process serves offers: no stage visits them, and no change reaches the topic".to_owned()
            } else {
                format!("{free} of {all} parts of the offers are served by no process")
            };
            let remedy = "start a process with the role stages, or see the logs of those that run";
            self.add(Severity::Error, (UNSERVED, ""), text, remedy, None);
        }
        for (process, noticed) in &seen.gone {
            let (severity, text, remedy) = if seen.is_taken_over(process) {
                (
                    Severity::Note,
                    format!("process {process} went without a word; others have taken over what it served"),
                    "see its log and what its machine says of its end; start it again, unless it runs again under another name",
                )
            } else {
                (
                    Severity::Warning,
                    format!("process {process} is gone without a word; others take over what it served"),
                    "see its log and what its machine says of its end, and start it again",
                )
            };
            self.add(severity, ("process_gone", process), text, remedy, Some(*noticed));
        }
    }

    fn topics(&mut self, away: Option<&str>) {
        let Some(why) = away else { return };
        let text = format!("the topics do not answer: {}", text::shortened(why, ERROR_CHARS_MAX));
        let remedy = "see whether Kafka runs and this machine reaches it: the setting topics.url; changes wait in the store and lose nothing";
        self.add(Severity::Error, ("topics_away", ""), text, remedy, None);
    }

    fn consumers(&mut self, stalled: &[Stalled]) {
        for Stalled { consumer, topic, messages, stood_for } in stalled {
            let text = format!(
                "{consumer} has read nothing of topic {topic} for {}, and {messages} messages wait for it",
                said(*stood_for)
            );
            let remedy =
                "start a process with the role stages; if one runs, its log says what stands in the way";
            self.add(Severity::Warning, ("consumer_stuck", consumer), text, remedy, None);
        }
    }

    fn stage(&mut self, id: &str, stage: &StageSeen) {
        let typed = quoted(id);
        if let Some(Outage { since, error }) = &stage.down {
            let text = format!("stage {id} does not answer: {}", text::shortened(error, ERROR_CHARS_MAX));
            let remedy = format!(
                "see whether it runs; `torg stages show {typed}` has its endpoints. Its offers wait and lose nothing"
            );
            self.add(Severity::Error, ("stage_down", id), text, remedy, Some(*since));
        }
        if let Some(Pause { since, reason }) = &stage.pause {
            let text = format!("stage {id} is paused: {}", text::shortened(reason, ERROR_CHARS_MAX));
            let remedy = format!("`torg stages resume {typed}` when it may go on");
            self.add(Severity::Note, ("stage_paused", id), text, remedy, Some(*since));
        }
        if stage.parked.rows > 0 {
            let more = if stage.parked.more { " or more" } else { "" };
            let text = format!(
                "stage {id} has failed for good on {} offers{more}: they are parked",
                stage.parked.rows
            );
            let remedy =
                format!("`torg stages show {typed}` says why; mend it, then `torg stages release {typed}`");
            self.add(Severity::Warning, ("stage_parked", id), text, remedy, None);
        }
        let late = stage.oldest_fresh.filter(|oldest| self.now.since(*oldest) >= QUEUE_LATE);
        if let (Some(oldest), None, None) = (late, &stage.down, &stage.pause) {
            let text = format!(
                "stage {id} is behind: a fresh visit has been due for {}",
                said(self.now.since(oldest))
            );
            let remedy = format!(
                "`torg stages show {typed}` says what is in the way; raise its limits with `torg stages limits {typed}`, or give it more endpoints"
            );
            self.add(Severity::Warning, ("queue_late", id), text, remedy, Some(oldest));
        }
    }

    fn export(&mut self, oldest: Option<Time>) {
        let Some(oldest) = oldest.filter(|oldest| self.now.since(*oldest) >= EXPORT_LATE) else { return };
        let text = format!(
            "changes reach the topic late: the oldest has been on its way for {}",
            said(self.now.since(oldest))
        );
        let remedy = "see whether the topic can be written (Kafka, or the store) and whether a process serves every part of the offers";
        self.add(Severity::Error, ("export_late", ""), text, remedy, Some(oldest));
    }

    fn feeds(&mut self, feeds: &[Surveyed]) {
        let name = |feed: &Surveyed| format!("{}/{}", feed.name.seller, feed.name.namespace);
        let unreachable: Vec<_> =
            feeds.iter().filter_map(|feed| Some((feed, feed.unreachable.as_ref()?))).collect();
        for (feed, why) in unreachable.iter().take(PROBLEMS_OF_A_KIND_MAX) {
            let text = format!(
                "feed {} could not be fetched{}: {}",
                name(feed),
                in_a_row(why.attempts),
                text::shortened(&why.text, ERROR_CHARS_MAX)
            );
            let remedy = format!(
                "the seller has to mend the link; `torg feed show {}` says where it comes from",
                flags(&feed.name)
            );
            self.add(Severity::Warning, ("feed_unreachable", &name(feed)), text, remedy, None);
        }
        self.further("feed_unreachable", unreachable.len(), "feeds that could not be fetched");
        let waits = |feed: &&Surveyed| feed.last_load.is_some_and(|load| load.state == State::STATE_WAITING);
        let waiting: Vec<&Surveyed> = feeds.iter().filter(waits).collect();
        for feed in waiting.iter().take(PROBLEMS_OF_A_KIND_MAX) {
            let Some(load) = feed.last_load else { continue };
            let text = format!(
                "load {} of feed {} waits for somebody to confirm it: it would remove {} of {} offers",
                load.number,
                name(feed),
                load.would_remove,
                load.would_remove_of
            );
            let remedy = format!(
                "`torg feed confirm {} {}`, or have the seller bring a better file",
                load.number,
                flags(&feed.name)
            );
            self.add(Severity::Warning, ("load_waits", &name(feed)), text, remedy, Some(load.created));
        }
        self.further("load_waits", waiting.len(), "loads that wait to be confirmed");
    }

    fn loads(&mut self, stuck: &[Stuck], unserved: Option<(usize, u32)>) {
        if let Some((free, all)) = unserved.filter(|(free, _)| *free > 0) {
            let text = format!(
                "{free} of {all} parts of the feeds are served by no process: they are neither fetched nor read"
            );
            let remedy =
                "start a process with the roles loader and processor, or see the logs of those that run";
            self.add(Severity::Error, (FEEDS_UNSERVED, ""), text, remedy, None);
        }
        for Stuck { name, load, for_long } in stuck.iter().take(PROBLEMS_OF_A_KIND_MAX) {
            let of = format!("{}/{}", name.seller, name.namespace);
            let doing = match load.state {
                State::STATE_QUEUED => "waits to be read",
                State::STATE_READING => "is being read",
                _ => "waits for the ad store",
            };
            let (number, for_long) = (load.number, said(*for_long));
            let text = format!(
                "load {number} of feed {of} {doing}, and nothing has been done for it for {for_long}"
            );
            let remedy = format!(
                "`torg feed show {}` says how far it is; the logs of the processes with the roles feeds and stages say what stands in the way",
                flags(name)
            );
            self.add(Severity::Warning, ("load_stuck", &of), text, remedy, None);
        }
        self.further("load_stuck", stuck.len(), "loads that are stuck");
    }

    fn photos(&mut self, seen: &PhotosSeen) {
        let PhotosSeen { photos, missing } = seen;
        let Some(first) = missing.first() else { return };
        let text = format!(
            "files of {} of the {photos} photos that were looked at last are missing or cut short, such as {first}",
            missing.len()
        );
        let remedy =
            "see whether files.url names the place where they were, and restore its files from a copy";
        self.add(Severity::Error, ("photos_missing", ""), text, remedy, None);
    }

    fn tasks(&mut self, tasks: &TasksSeen) {
        if tasks.undecided {
            let text = "no process decides about tasks: none of them is started".to_owned();
            let remedy = "start a process with the role tasks, or see the logs of those that run";
            self.add(Severity::Error, ("tasks_undecided", ""), text, remedy, None);
        }
        let Unhealthy { failing, silent, regressed } = &tasks.troubled;
        let time = |time: &Timestamp| Time::from_ms(time.as_millisecond());
        for (task, state) in failing.iter().take(PROBLEMS_OF_A_KIND_MAX) {
            let error = state.error.as_deref().unwrap_or("it does not say why");
            let text = format!(
                "task {task} failed{}: {}",
                in_a_row(state.attempts),
                text::shortened(error, ERROR_CHARS_MAX)
            );
            let typed = quoted(task);
            let remedy = format!(
                "`torg tasks explain {typed}` and `torg tasks log {typed}`; it is tried again by itself"
            );
            let of = ("task_failing", &**task);
            // The time of the first failure is not stored. It was no later than the first failure
            // seen here.
            let first = self.first(of, state.last_failure.as_ref().map(time));
            self.known.insert((of.0, of.1.to_owned()), first);
            self.add(Severity::Warning, of, text, remedy, None);
        }
        self.further("task_failing", failing.len(), "tasks that fail");
        for (task, state) in silent.iter().take(PROBLEMS_OF_A_KIND_MAX) {
            let text = format!("task {task} has not succeeded for longer than it may");
            let remedy = format!("`torg tasks explain {}` says what it waits for", quoted(task));
            let since = state.silent_since.as_ref().map(time);
            self.add(Severity::Warning, ("task_silent", task), text, remedy, since);
        }
        self.further("task_silent", silent.len(), "tasks that are silent");
        for (task, state) in regressed.iter().take(PROBLEMS_OF_A_KIND_MAX) {
            let text = format!(
                "task {task} does not run: {} of its parameters were moved back below what it has seen",
                state.regressed.len()
            );
            let remedy = format!(
                "`torg tasks explain {}` names them; set them right, or what the task remembers",
                quoted(task)
            );
            let since = state.regressed.values().min().map(time);
            self.add(Severity::Warning, ("task_regressed", task), text, remedy, since);
        }
        self.further("task_regressed", regressed.len(), "tasks whose parameters were moved back");
    }

    /// Readings that fail.
    fn sight(&mut self, seen: &Seen) {
        for (what, error) in &seen.unseen {
            let text = format!("{what} cannot be looked at: {}", text::shortened(error, ERROR_CHARS_MAX));
            let remedy = "see the log of the process and of the database; until it can, nothing that is wrong there is told";
            self.add(Severity::Warning, ("looks_fail", what), text, remedy, None);
        }
        if seen.figures_full {
            let text = format!("there are more than {SERIES_MAX} figures: some are left out");
            let remedy = "figures of what is gone make room after six hours; remove stages and topics that nobody needs";
            self.add(Severity::Warning, ("figures_full", ""), text, remedy, None);
        }
    }

    /// Adds a note if there are more problems than are listed individually.
    fn further(&mut self, code: &'static str, all: usize, what: &str) {
        if all > PROBLEMS_OF_A_KIND_MAX {
            let text = format!("there are more {what}: only {PROBLEMS_OF_A_KIND_MAX} are told one by one");
            self.add(
                Severity::Warning,
                (code, ""),
                text,
                "mend those that are told; the others follow",
                None,
            );
        }
    }
}

/// The feed as command-line flags.
fn flags(feed: &FeedName) -> String {
    format!("--seller {} --namespace {}", quoted(&feed.seller), quoted(&feed.namespace))
}

/// The number of failures in a row, if more than one.
fn in_a_row(times: u32) -> String {
    if times > 1 { format!(" {times} times in a row") } else { String::new() }
}

/// For example `4 min` or `90 s`.
fn said(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..=119 => format!("{s} s"),
        s @ 120..=7199 => format!("{} min", s / 60),
        s => format!("{} h", s / 3600),
    }
}

#[cfg(test)]
mod tests;
