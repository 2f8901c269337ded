use std::collections::{BTreeMap, BTreeSet};

use watcher::Schedule;
use watcher::insight::{CrawlProgress, Entry, Head, RowKey};

use super::{Invariant, Seen, require};
use crate::stages::Kind;
use crate::tables::{Commit, Stored, Tables, entity_key, entry_key, head_key};
use crate::world::Call;

/// When a re-crawl is done in a shard, every stage was asked about every entity that was there from
/// the start to the end, and what it wanted at once is queued. Instead of being asked a stage may
/// visit the entity, or be about to.
pub(crate) struct CrawlAsks {
    /// Clocks differ by so much at most.
    skew_ms: i64,
    runs: BTreeMap<u64, Begun>,
    /// The number of commits when each stage was last called for each entity.
    called: BTreeMap<(String, &'static str), u64>,
    /// The last call of each stage for each entity, if it was a question of a re-crawl to which the
    /// stage said that it wants the entity at once.
    wanted: BTreeMap<(String, &'static str), Call>,
}

/// A re-crawl that was started.
struct Begun {
    /// The number of the commit that started it.
    commit: u64,
    /// The entities that were there then, and have not been removed since: shard and id.
    entities: BTreeSet<(u32, String)>,
}

impl CrawlAsks {
    pub(crate) fn new(skew_ms: i64) -> Self {
        Self { skew_ms, runs: BTreeMap::new(), called: BTreeMap::new(), wanted: BTreeMap::new() }
    }

    fn begin(&mut self, commit: &Commit<'_>) {
        let entity = |place| match place {
            RowKey::Entity { shard, entity } => Some((shard, entity)),
            _ => None,
        };
        let entities = || commit.tables.places().filter_map(|(place, _)| entity(place)).collect();
        let begun = || Begun { commit: commit.tables.commits(), entities: entities() };
        self.runs.entry(commit.tables.crawl().run).or_insert_with(begun);
    }

    fn look(&self, commit: &Commit<'_>, shard: u32, run: u64) -> Seen {
        let Some(begun) = self.runs.get(&run) else { return Err(format!("nobody started run {run}")) };
        for (_, entity) in begun.entities.iter().filter(|(of, _)| *of == shard) {
            for stage in Kind::ALL.map(Kind::id) {
                let whose = (entity.clone(), stage);
                let called = self.called.get(&whose).is_some_and(|at| *at >= begun.commit);
                require(called || self.is_seen_to(commit, shard, &whose, begun.commit), || {
                    format!("run {run} is done in shard {shard}, and {stage} was not asked about {entity}")
                })?;
                // What somebody else heard may be lost: then this one has asked again.
                let wanted = self
                    .wanted
                    .get(&whose)
                    .filter(|call| call.instance == commit.actor && call.commits >= begun.commit);
                let is_right = wanted.is_none_or(|call| self.is_seen_to(commit, shard, &whose, call.commits));
                require(is_right, || {
                    format!("run {run} is done in shard {shard}, {stage} wanted {entity} and does not get it")
                })?;
            }
        }
        Ok(())
    }

    /// Whether an entry was written since a commit, or a visit is due anyway.
    fn is_seen_to(&self, commit: &Commit<'_>, shard: u32, whose: &(String, &str), since: u64) -> bool {
        let key = entry_key(shard, &whose.0, whose.1);
        let entry = commit.tables.get(&key).map(Stored::read::<Entry>).unwrap_or_default();
        let is_due = entry.queued && entry.visit_ms <= commit.clock_ms + 2 * self.skew_ms;
        is_due || commit.tables.written(&key) > since
    }
}

impl Invariant for CrawlAsks {
    fn name(&self) -> &'static str {
        "a re-crawl asks about every entity"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let mut seen = None;
        for change in commit.changes {
            match &change.place {
                Some(RowKey::Settings) => self.begin(commit),
                Some(RowKey::Entity { shard, entity }) if change.after.is_none() => {
                    let gone = (*shard, entity.clone());
                    self.runs.values_mut().for_each(|begun| _ = begun.entities.remove(&gone));
                }
                Some(RowKey::Crawl { shard }) => {
                    let progress: CrawlProgress = change.after.as_ref().map(Stored::read).unwrap_or_default();
                    // Nothing will come of the steps that others have begun.
                    self.wanted.retain(|_, call| call.shard != *shard || call.instance == commit.actor);
                    if progress.done {
                        seen = Some(self.look(commit, *shard, progress.run));
                    }
                }
                _ => {}
            }
        }
        seen
    }

    fn at_call(&mut self, call: &Call, _tables: &Tables) -> Option<Seen> {
        let whose = (call.thing.id.clone(), call.stage);
        self.wanted.remove(&whose);
        self.called.insert(whose, call.commits);
        None
    }

    fn at_schedule(&mut self, call: &Call, schedule: Schedule, tables: &Tables) -> Option<Seen> {
        let head = tables.get(&head_key(call.shard, &call.thing.id)).map(Stored::read::<Head>);
        let may_be_system = head.is_some_and(|head| head.entry.as_option().is_some_and(|e| e.queued));
        let whose = (call.thing.id.clone(), call.stage);
        let is_last = self.called.get(&whose) == Some(&call.commits);
        // One that comes too late asks once more about what is done; nothing will come of its step.
        let progress = tables.crawled(call.shard);
        let is_behind = progress.run == tables.crawl().run
            && *entity_key(call.shard, &call.thing.id).bytes() <= *progress.cursor;
        if schedule == Schedule::Now && is_last && !may_be_system && !is_behind {
            self.wanted.insert(whose, call.clone());
        }
        None
    }
}
