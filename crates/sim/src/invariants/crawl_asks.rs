use std::collections::{BTreeMap, BTreeSet};

use watcher::insight::{CrawlProgress, Entry, Place};

use super::{Invariant, Seen, require};
use crate::stages::Kind;
use crate::tables::{Commit, Stored, Tables, entry_key};
use crate::world::Call;

/// When a re-crawl is done in a shard, every stage was asked about every entity that was there from the start to the end. Instead of being asked a
/// stage may visit the entity, or be about to.
pub(crate) struct CrawlAsks {
    /// Clocks differ by so much at most.
    skew_ms: i64,
    runs: BTreeMap<u64, Begun>,
    /// The number of commits when each stage was last called for each entity.
    called: BTreeMap<(String, &'static str), u64>,
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
        Self { skew_ms, runs: BTreeMap::new(), called: BTreeMap::new() }
    }

    fn begin(&mut self, commit: &Commit<'_>) {
        let entity = |place| match place {
            Place::Entity { shard, entity } => Some((shard, entity)),
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
                let called = self.called.get(&(entity.clone(), stage)).is_some_and(|at| *at >= begun.commit);
                let key = entry_key(shard, entity, stage);
                let is_new = commit.tables.written(&key) > begun.commit;
                let entry = commit.tables.get(&key).map(Stored::read::<Entry>).unwrap_or_default();
                let is_due = entry.queued && entry.visit_ms <= commit.clock_ms + 2 * self.skew_ms;
                require(called || is_new || is_due, || {
                    format!("run {run} is done in shard {shard}, and {stage} was not asked about {entity}")
                })?;
            }
        }
        Ok(())
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
                Some(Place::Settings) => self.begin(commit),
                Some(Place::Entity { shard, entity }) if change.after.is_none() => {
                    let gone = (*shard, entity.clone());
                    self.runs.values_mut().for_each(|begun| _ = begun.entities.remove(&gone));
                }
                Some(Place::Crawl { shard }) => {
                    let progress: CrawlProgress = change.after.as_ref().map(Stored::read).unwrap_or_default();
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
        self.called.insert((call.thing.id.clone(), call.stage), call.commits);
        None
    }
}
