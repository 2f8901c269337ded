use std::collections::{BTreeMap, VecDeque};

use watcher::insight::{Entry, RowKey, SYSTEM};

use super::{Invariant, Seen, require};
use crate::tables::{Commit, Role, Tables, entry_in};
use crate::world::{Call, What};

/// How many former times of an entry are remembered.
const REMEMBERED: usize = 100;
/// How old the rows of the system stage may be, in milliseconds: it reads first and then asks.
const ASKING_MS: u64 = 120_000;
/// How long a step of a re-crawl may go on in a slow process when its shard is done, in
/// milliseconds.
const CRAWLING_MS: u64 = 30_000;

/// Entity and stage.
type Whose = (String, String);
/// The visits that an entry has waited for, each with the time when that ended.
type Past = VecDeque<(u64, Option<i64>)>;

/// No visit is made before its queue time, by the clock of the visitor. Stages are asked when it is
/// time for the system stage, or by a re-crawl.
pub(crate) struct VisitTimes {
    shards: u32,
    /// The visit that each entry (entity, stage) has waited for, and until when, in simulated
    /// milliseconds.
    past: BTreeMap<Whose, Past>,
    /// And waits for now.
    present: BTreeMap<Whose, Option<i64>>,
    /// When the last re-crawl had something to do in each shard, in simulated milliseconds; `None`:
    /// it still has.
    crawled: BTreeMap<u32, Option<u64>>,
}

/// Whether a re-crawl has something to do in a shard.
fn is_crawled(tables: &Tables, shard: u32) -> bool {
    let order = tables.crawl();
    order.run > 0 && !order.paused && !order.cancelled && !tables.crawled(shard).done
}

fn due_ms(entry: Option<Entry>) -> Option<i64> {
    entry.filter(|entry| entry.queued).map(|entry| entry.visit_ms)
}

fn whose(place: &RowKey) -> Option<Whose> {
    match place {
        RowKey::Entry { entity, stage, .. } => Some((entity.clone(), stage.clone())),
        RowKey::Head { entity, .. } => Some((entity.clone(), SYSTEM.to_owned())),
        _ => None,
    }
}

impl VisitTimes {
    pub(crate) fn new(shards: u32) -> Self {
        Self { shards, past: BTreeMap::new(), present: BTreeMap::new(), crawled: BTreeMap::new() }
    }

    /// Notes in which shards the re-crawl has nothing to do any more.
    fn note_crawl(&mut self, commit: &Commit<'_>) {
        let is_about_it = |place: &RowKey| matches!(place, RowKey::Settings | RowKey::Crawl { .. });
        if !commit.changes.iter().filter_map(|change| change.place.as_ref()).any(is_about_it) {
            return;
        }
        for shard in 0..self.shards {
            if is_crawled(commit.tables, shard) {
                self.crawled.insert(shard, None);
            } else if let Some(last) = self.crawled.get_mut(&shard) {
                last.get_or_insert(commit.now_ms);
            }
        }
    }

    fn may_be_crawled(&self, call: &Call) -> bool {
        let last = self.crawled.get(&call.shard);
        last.is_some_and(|last| last.is_none_or(|last| call.began_ms <= last + CRAWLING_MS))
    }
}

impl Invariant for VisitTimes {
    fn name(&self) -> &'static str {
        "no visit before its time"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        self.note_crawl(commit);
        let mut seen = None;
        for change in commit.changes {
            let Some((place, whose)) = change.place.as_ref().and_then(|place| Some((place, whose(place)?)))
            else {
                continue;
            };
            let entry = |row| entry_in(place, row);
            let before = change.before.as_ref().and_then(entry);
            let after = change.after.as_ref().and_then(entry);
            let was_visited = commit.role == Role::Instance
                && after.is_some()
                && before.as_ref().map(|entry| &entry.last) != after.as_ref().map(|entry| &entry.last);
            if let (true, Some(before)) = (was_visited, &before) {
                let in_time = before.queued && before.visit_ms <= commit.clock_ms;
                seen = Some(require(in_time, || {
                    format!("a visit of {whose:?} was saved too early: {before:?}")
                }));
            }
            let past = self.past.entry(whose.clone()).or_default();
            past.push_back((commit.now_ms, self.present.insert(whose, due_ms(after)).flatten()));
            if past.len() > REMEMBERED {
                past.pop_front();
            }
            if matches!(seen, Some(Err(_))) {
                break;
            }
        }
        seen
    }

    fn at_call(&mut self, call: &Call, _tables: &Tables) -> Option<Seen> {
        let (stage, oldest) = match call.what {
            What::Ask => (SYSTEM, ASKING_MS),
            What::Visit => (call.stage, call.delay_ms),
        };
        let whose = (call.thing.id.clone(), stage.to_owned());
        let since = call.began_ms.saturating_sub(oldest);
        let present = self.present.get(&whose).copied().flatten();
        let past = self.past.get(&whose).into_iter().flatten();
        let past = past.filter(|(until, _)| *until >= since).filter_map(|(_, due)| *due);
        let times: Vec<i64> = present.into_iter().chain(past).collect();
        let now_ms = call.now.as_ms();
        let is_time = times.iter().any(|time| *time <= now_ms);
        Some(require(is_time || (call.what == What::Ask && self.may_be_crawled(call)), || {
            format!("{whose:?} is visited at {now_ms}, and is or was due at {times:?}")
        }))
    }
}
