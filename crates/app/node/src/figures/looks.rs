//! A schedule of readings from the store. Slow readings are repeated less often; a value that was
//! not read for a while is unknown.

use std::collections::BTreeMap;
use std::time::Duration;

use ::feeds::Feeds;
use api::limits::LISTED_COUNTED_MAX;
use clock::Time;
use futures::future::try_join;
use photos::Photos;
use remote_stages::StageRegistry;
use store::Key;
use tasks::{Tasks, Unhealthy};
use tokio::time::{Instant, timeout};
use topics::Topics;
use watcher::{Cluster, Control, Depth, Entity, Lane, Watcher};

use super::feeds::FeedsSeen;
use super::limits::{
    DEPTHS_EVERY, FEEDS_EVERY, FORGET_AFTER, LOOK_EVERY, LOOKS_TIME, PHOTOS_LOOKED_AT,
    PROBLEMS_OF_A_KIND_MAX, REST, SAMPLE_EVERY, STORE_TIME_MAX,
};
use super::moment::{Known, Moment};
use super::topics::TopicsLook;

/// The parts of the system that are read.
pub(crate) struct Sources {
    pub registry: StageRegistry,
    pub feeds: Feeds,
    /// Set in processes that open the tasks.
    pub tasks: Option<Tasks>,
    pub topics: Topics,
    /// Set if photos are stored.
    pub photos: Option<Photos>,
    /// Internal consumers, each with its topic.
    pub consumers: Vec<(&'static str, String)>,
    /// True while the clock of offers is being moved, as a demo does while it generates its past.
    /// Nothing counts as late then.
    pub time_moves: Box<dyn Fn() -> bool + Send + Sync>,
}

/// The queue of a stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Queue {
    pub(super) depth: BTreeMap<Lane, Depth>,
    pub(super) parked: Depth,
    pub(super) oldest_fresh: Option<Time>,
}

/// Tasks with a problem. One more of each kind than is reported may be kept.
#[derive(Clone, Debug, Default)]
pub(super) struct TasksSeen {
    pub(super) troubled: Unhealthy,
    /// True if there are tasks and no process decides about them.
    pub(super) undecided: bool,
}

/// Background work other than that on offers, and the processes that own it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkSeen {
    /// `feeds` or `tasks`.
    pub kind: &'static str,
    pub cluster: Cluster,
    pub shards: u32,
    pub lease_time: Duration,
}

/// The result of the last check of photos.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PhotosSeen {
    /// Photos that were checked.
    pub(super) photos: u64,
    /// Missing files: one of each photo that lacks some.
    pub(super) missing: Vec<String>,
}

impl WorkSeen {
    async fn of<E: Entity>(kind: &'static str, watcher: &Watcher<E>) -> watcher::Result<WorkSeen> {
        let (shards, lease_time) = (watcher.shards(), watcher.lease_time());
        Ok(WorkSeen { kind, cluster: watcher.cluster().await?, shards, lease_time })
    }
}

/// One kind of reading.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Look {
    Cluster,
    Queue(String),
    Export,
    Feeds,
    Tasks,
    Works,
    Photos,
}

impl Look {
    /// Used in problems and in `/metrics`.
    fn name(&self) -> &'static str {
        match self {
            Self::Cluster => "processes",
            Self::Queue(_) => "queues",
            Self::Export => "export",
            Self::Feeds => "feeds",
            Self::Tasks => "tasks",
            Self::Works => "processes of feeds and tasks",
            Self::Photos => "photos",
        }
    }

    fn every(&self) -> Duration {
        match self {
            Self::Cluster => SAMPLE_EVERY,
            Self::Queue(_) => DEPTHS_EVERY,
            Self::Feeds => FEEDS_EVERY,
            Self::Export | Self::Tasks | Self::Works | Self::Photos => LOOK_EVERY,
        }
    }
}

/// The latest readings.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) cluster: Known<(Cluster, BTreeMap<String, Control>)>,
    pub(super) queues: BTreeMap<String, Known<Queue>>,
    /// The oldest unexported change by shard.
    pub(super) export: Known<BTreeMap<u32, Time>>,
    pub(super) feeds: FeedsSeen,
    pub(super) tasks: Known<TasksSeen>,
    pub(super) works: Known<Vec<WorkSeen>>,
    pub(super) photos: Known<PhotosSeen>,
}

/// Performs each reading when it is due.
pub(super) struct Looks {
    pub(super) sources: Sources,
    due: BTreeMap<Look, Instant>,
    /// Failures in a row of each reading, and the last error.
    failed: BTreeMap<Look, (u32, String)>,
    /// The photo after which the next check continues.
    photos_after: Option<Key>,
    pub(super) read: Read,
    pub(super) topics: TopicsLook,
}

type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

impl Looks {
    pub(super) fn new(sources: Sources) -> Self {
        Self {
            sources,
            due: BTreeMap::new(),
            failed: BTreeMap::new(),
            photos_after: None,
            read: Read::default(),
            topics: TopicsLook::default(),
        }
    }

    /// The ids of all stages.
    pub(super) fn stages(&self) -> Vec<String> {
        let registry = &self.sources.registry;
        registry.built_in().map(str::to_owned).chain(registry.remote().keys().cloned()).collect()
    }

    /// Forgets all readings, after the store has not answered for a while.
    pub(super) fn forget(&mut self) {
        self.read = Read::default();
        self.failed.clear();
        self.topics.forget();
        // Everything is due as soon as the store answers.
        self.due.clear();
    }

    /// Performs due readings within the time budget: processes first, then what has waited longest.
    pub(super) async fn look(&mut self, now: Moment) {
        self.topics.step(&self.sources, now);
        self.plan(now.instant);
        let began = Instant::now();
        for look in in_turn(&self.due, now.instant) {
            if began.elapsed() > LOOKS_TIME {
                return;
            }
            let started = Instant::now();
            let left = STORE_TIME_MAX.saturating_sub(began.elapsed());
            let outcome = timeout(left, self.take(&look, now, began + LOOKS_TIME)).await;
            let error = match outcome {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(_) => Some(format!("no answer in {} s", left.as_secs_f32())),
            };
            let next = look.every().max(started.elapsed() * REST);
            self.note(&look, error);
            self.due.insert(look, now.instant + next);
        }
    }

    /// Records the outcome of a reading. The previous value stays until several readings have
    /// failed.
    fn note(&mut self, look: &Look, error: Option<String>) {
        let Some(error) = error else {
            self.failed.remove(look);
            return;
        };
        tracing::debug!(?look, error, "cannot be looked at");
        let failed = self.failed.entry(look.clone()).or_default();
        *failed = (failed.0 + 1, error);
        if failed.0 >= FORGET_AFTER {
            self.unknown(look);
        }
    }

    /// Readings that fail repeatedly, with their last error.
    pub(super) fn failing(&self) -> BTreeMap<&'static str, String> {
        let failing = self.failed.iter().filter(|(_, (times, _))| *times >= FORGET_AFTER);
        failing.map(|(look, (_, error))| (look.name(), error.clone())).collect()
    }

    /// Gives every reading a due time; those of queues are spread over their interval.
    fn plan(&mut self, now: Instant) {
        let stages = self.stages();
        let is_there = |look: &Look| !matches!(look, Look::Queue(stage) if !stages.contains(stage));
        self.due.retain(|look, _| is_there(look));
        self.failed.retain(|look, _| is_there(look));
        self.read.queues.retain(|stage, _| stages.contains(stage));
        let is_first = self.due.is_empty();
        for look in [Look::Cluster, Look::Export, Look::Feeds, Look::Tasks, Look::Works, Look::Photos] {
            self.due.entry(look).or_insert(now);
        }
        let apart = DEPTHS_EVERY / (stages.len().max(1) as u32);
        for (place, stage) in stages.into_iter().enumerate() {
            // The first time all are due at once, so that figures appear right after the start.
            let wait = if is_first { Duration::ZERO } else { apart * place as u32 };
            self.due.entry(Look::Queue(stage)).or_insert(now + wait);
        }
    }

    /// Performs one reading. A reading of several parts begins no further part after `until`.
    async fn take(&mut self, look: &Look, now: Moment, until: Instant) -> Outcome {
        let watcher = self.sources.registry.offers().watcher();
        // Offers may have their own clock, as in a demo. Times are converted by their distance from
        // now on that clock.
        let here = |time: Time| now.time - watcher.clock().now().since(time);
        let time_moves = (self.sources.time_moves)();
        match look {
            Look::Cluster => {
                let known = try_join(watcher.cluster(), watcher.controls()).await?;
                self.read.cluster.learn(now, known);
            }
            Look::Queue(stage) => {
                let report = self.sources.registry.report_up_to(stage, LISTED_COUNTED_MAX).await?;
                let oldest_fresh = report.firsts.get(&Lane::Fresh).copied().map(here);
                let mut queue = Queue { depth: report.depth, parked: report.parked, oldest_fresh };
                if time_moves {
                    (queue.parked, queue.oldest_fresh) = (Depth::default(), None);
                }
                self.read.queues.entry(stage.clone()).or_default().learn(now, queue);
            }
            Look::Export => {
                let waits = watcher.export_waits().await?;
                let waits = waits.into_iter().filter(|_| !time_moves);
                let waits = waits.map(|(shard, oldest)| (shard, here(oldest))).collect();
                self.read.export.learn(now, waits);
            }
            Look::Feeds => self.read.feeds.look(&self.sources.feeds, until).await?,
            Look::Tasks => {
                let Some(tasks) = &self.sources.tasks else { return Ok(()) };
                let troubled = tasks.unhealthy(PROBLEMS_OF_A_KIND_MAX + 1).await?;
                let undecided = !tasks.has_leader().await?;
                self.read.tasks.learn(now, TasksSeen { troubled, undecided });
            }
            Look::Works => {
                let mut works = vec![WorkSeen::of("feeds", self.sources.feeds.watcher()).await?];
                if let Some(tasks) = &self.sources.tasks {
                    works.push(WorkSeen::of("tasks", tasks.watcher()).await?);
                }
                self.read.works.learn(now, works);
            }
            Look::Photos => self.look_at_photos(now).await?,
        }
        Ok(())
    }

    /// Checks that the files of the next photos exist. If some are missing, the same photos are
    /// checked again until the files are back.
    async fn look_at_photos(&mut self, now: Moment) -> Outcome {
        let Some(photos) = &self.sources.photos else { return Ok(()) };
        let after = self.photos_after.clone();
        let photos::Surveyed { photos, missing, next } = photos.survey(after, PHOTOS_LOOKED_AT).await?;
        if missing.is_empty() {
            self.photos_after = next;
        }
        self.read.photos.learn(now, PhotosSeen { photos, missing });
        Ok(())
    }

    fn unknown(&mut self, look: &Look) {
        let read = &mut self.read;
        match look {
            Look::Cluster => read.cluster = Known::default(),
            Look::Queue(stage) => drop(read.queues.remove(stage)),
            Look::Export => read.export = Known::default(),
            Look::Feeds => read.feeds.forget(),
            Look::Tasks => read.tasks = Known::default(),
            Look::Works => read.works = Known::default(),
            Look::Photos => read.photos = Known::default(),
        }
    }
}

/// Due readings in their order. Processes come first: their liveness depends on regular readings.
fn in_turn(due: &BTreeMap<Look, Instant>, now: Instant) -> Vec<Look> {
    let mut turns: Vec<(bool, Instant, &Look)> = due
        .iter()
        .filter(|(_, due)| **due <= now)
        .map(|(look, due)| (*look != Look::Cluster, *due, look))
        .collect();
    turns.sort();
    turns.into_iter().map(|(_, _, look)| look.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_looked_at_before_all_that_has_waited_longer() {
        let now = Instant::now();
        let at = |s| now + Duration::from_secs(s);
        let queue = |stage: &str| Look::Queue(stage.to_owned());
        let due = BTreeMap::from([
            (Look::Cluster, at(9)),
            (queue("a"), at(2)),
            (queue("b"), at(1)),
            (Look::Feeds, at(3)),
            (Look::Tasks, at(11)),
        ]);
        assert_eq!(in_turn(&due, at(10)), [Look::Cluster, queue("b"), queue("a"), Look::Feeds]);
        assert_eq!(in_turn(&due, at(8)), [queue("b"), queue("a"), Look::Feeds], "it was looked at just now");
    }
}
