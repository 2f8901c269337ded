use std::collections::{BTreeMap, VecDeque};

use watcher::insight::{Entry, Place, SYSTEM};

use super::{Invariant, Seen, require};
use crate::tables::{Commit, Role, Tables, entry_in};
use crate::world::{Call, What};

/// So many former times of an entry are remembered.
const REMEMBERED: usize = 100;
/// The system stage reads first and asks one stage after the other: so old may be what it has read, in milliseconds.
const ASKING_MS: u64 = 120_000;

/// Entity and stage.
type Whose = (String, String);
/// The visits that an entry has waited for, each with the time when that ended.
type Past = VecDeque<(u64, Option<i64>)>;

/// Nobody is visited before the time that the queue says, by the clock of whoever visits.
#[derive(Default)]
pub(crate) struct VisitTimes {
    /// The visit that each entry (entity, stage) has waited for, and until when, in simulated milliseconds.
    past: BTreeMap<Whose, Past>,
    /// And waits for now.
    present: BTreeMap<Whose, Option<i64>>,
}

fn due_ms(entry: Option<Entry>) -> Option<i64> {
    entry.filter(|entry| entry.queued).map(|entry| entry.visit_ms)
}

fn whose(place: &Place) -> Option<Whose> {
    match place {
        Place::Entry { entity, stage, .. } => Some((entity.clone(), stage.clone())),
        Place::Head { entity, .. } => Some((entity.clone(), SYSTEM.to_owned())),
        _ => None,
    }
}

impl Invariant for VisitTimes {
    fn name(&self) -> &'static str {
        "no visit before its time"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
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
        Some(require(times.iter().any(|time| *time <= now_ms), || {
            format!("{whose:?} is visited at {now_ms}, and is or was due at {times:?}")
        }))
    }
}
