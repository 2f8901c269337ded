use watcher::Entity;
use watcher::insight::{Entry, RowKey};

use super::{End, Invariant, Seen, require};
use crate::stages::Kind;
use crate::tables::{Stored, entry_key};
use crate::thing::{ASKED, FOLLOW, PRICE, PROUD, SHAKY, SOURCE, TEXT, Thing};

/// When all is well every entity is as its stages want it, except for those that gave it up: no
/// change was overlooked.
pub(crate) struct Converged;

/// Whether an entity is as a stage wants it.
type Content = fn(&Thing) -> bool;

/// The stages whose wishes can be seen in an entity.
const WISHES: [(Kind, Content); 4] = [
    (Kind::Follow, |thing| thing.values[FOLLOW] == thing.values[SOURCE] * 10),
    (Kind::Even, |thing| thing.values[PRICE] % 2 == 0),
    (Kind::Shaky, |thing| thing.values[SHAKY] == thing.values[SOURCE] + thing.values[TEXT]),
    (Kind::Proud, |thing| thing.values[PROUD] == thing.values[SOURCE] - thing.values[ASKED]),
];

impl Invariant for Converged {
    fn name(&self) -> &'static str {
        "entities are as their stages want them"
    }

    fn at_end(&mut self, end: &End<'_>) -> Option<Seen> {
        let mut seen = Ok(());
        for (place, row) in end.tables.places() {
            let (RowKey::Entity { shard, entity }, Ok(thing)) = (place, Thing::decode(&row.value)) else {
                continue;
            };
            for (kind, is_content) in WISHES {
                let entry = end.tables.get(&entry_key(shard, &entity, kind.id())).map(Stored::read::<Entry>);
                let gave_up = entry.as_ref().is_some_and(|entry| entry.parked || entry.queued);
                seen = seen.and(require(is_content(&thing) || gave_up, || {
                    format!("{} does not want {thing:?} to be like that, and has {entry:?}", kind.id())
                }));
            }
        }
        Some(seen)
    }
}
