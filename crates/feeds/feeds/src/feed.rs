//! A feed as an entity of the watcher, and the rows that follow from its changes.

use buffa::Message as _;
use bytes::Bytes;
use store::{Batch, Key, Scan};
use watcher::{ChangeContext, Entity, Fields, shard_of};
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::{Feed, FeedKeeping, Load, LoadKeeping, QueuedLoad};

use crate::name::FeedName;
use crate::tables::{FEEDS, LOADS, NAMES};

#[derive(Clone, Debug, PartialEq)]
pub struct StoredFeed(pub Feed);

/// The fields of a feed by name: settings, results of fetching, and loads.
macro_rules! for_each_field {
    ($visit:ident) => {
        $visit!(title);
        $visit!(link);
        $visit!(paused);
        $visit!(missing);
        $visit!(guard);
        $visit!(defaults);
        $visit!(parsed);
        $visit!(create_time);
        $visit!(update_time);
        $visit!(next_fetch_time);
        $visit!(last_fetch);
    };
}

macro_rules! for_each_kept {
    ($visit:ident) => {
        $visit!(fetched);
        $visit!(last_load);
        $visit!(queue);
        $visit!(read_load);
        $visit!(fetch_asked_time);
        $visit!(deleting);
    };
}

impl StoredFeed {
    pub(crate) fn internal(&self) -> FeedKeeping {
        self.0.keeping.as_option().cloned().unwrap_or_default()
    }

    pub(crate) fn internal_mut(&mut self) -> &mut FeedKeeping {
        self.0.keeping.get_or_insert_default()
    }

    pub(crate) fn name(&self) -> FeedName {
        FeedName::from(&self.0)
    }

    /// The load to read next: the last queued one, because later files win.
    pub(crate) fn next_load(&self) -> Option<&QueuedLoad> {
        let keeping = self.0.keeping.as_option()?;
        keeping.queue.last().filter(|load| load.number > keeping.read_load)
    }
}

impl Entity for StoredFeed {
    type Id = FeedName;
    const KIND: &'static str = "feed";

    fn id(&self) -> FeedName {
        self.name()
    }

    fn encode(&self) -> Bytes {
        self.0.encode_to_vec().into()
    }

    fn decode(bytes: &Bytes) -> Result<Self, String> {
        Feed::decode_from_slice(bytes).map(Self).map_err(|error| error.to_string())
    }

    fn changed_fields(before: &Self, after: &Self) -> Fields {
        let mut changed = Vec::new();
        let (kept_before, kept_after) = (before.internal(), after.internal());
        macro_rules! note {
            ($field:ident) => {
                if before.0.$field != after.0.$field {
                    changed.push(stringify!($field));
                }
            };
        }
        macro_rules! note_kept {
            ($field:ident) => {
                if kept_before.$field != kept_after.$field {
                    changed.push(stringify!($field));
                }
            };
        }
        for_each_field!(note);
        for_each_kept!(note_kept);
        Fields::of(changed)
    }

    fn take_fields(&mut self, fields: &Fields, from: &Self) {
        let kept = from.internal();
        macro_rules! take {
            ($field:ident) => {
                if fields.covers(stringify!($field)) {
                    self.0.$field = from.0.$field.clone();
                }
            };
        }
        macro_rules! take_kept {
            ($field:ident) => {
                if fields.covers(stringify!($field)) {
                    self.internal_mut().$field = kept.$field.clone();
                }
            };
        }
        for_each_field!(take);
        for_each_kept!(take_kept);
    }

    /// Adds the rows of queued loads, and the row by which a seller's feeds are listed.
    fn derived_rows(change: &ChangeContext<'_, Self>, batch: &mut Batch) {
        let Some(one) = change.after.or(change.before) else { return };
        let shard = shard_of(&one.0.seller, change.shards);
        let name = NAMES.key((shard, &*one.0.seller, &*one.0.namespace));
        match (change.before, change.after) {
            (None, Some(_)) => {
                batch.set(name, Vec::new());
            }
            (Some(_), None) => {
                batch.delete(name);
            }
            _ => {}
        }
        let Some(after) = change.after else { return };
        let known = change.before.map_or(0, |before| before.internal().last_load);
        for queued in after.internal().queue.iter().filter(|load| load.number > known) {
            let key = load_key(shard, &one.name(), queued.number);
            batch.put(key, 1, fresh_load(&one.0, queued).encode_to_vec());
        }
    }

    fn key(shard: u32, id: &FeedName) -> Key {
        FEEDS.key((shard, &*id.to_string()))
    }

    fn scan(shard: u32) -> Scan {
        FEEDS.prefix((shard,))
    }
}

pub(crate) fn load_key(seller_shard: u32, feed: &FeedName, number: u64) -> Key {
    LOADS.key((seller_shard, &*feed.seller, &*feed.namespace, number.cast_signed()))
}

fn fresh_load(feed: &Feed, queued: &QueuedLoad) -> Load {
    Load {
        seller: feed.seller.clone(),
        namespace: feed.namespace.clone(),
        number: queued.number,
        state: State::STATE_QUEUED.into(),
        origin: queued.origin,
        bytes: queued.bytes,
        hash: queued.hash.clone(),
        create_time: queued.create_time.clone(),
        keeping: Some(LoadKeeping { file: queued.file.clone(), ..LoadKeeping::default() }).into(),
        ..Load::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_fields_are_named_and_can_be_taken_over() {
        let before = StoredFeed(Feed { seller: "ann".to_owned(), ..Feed::default() });
        let mut after = before.clone();
        after.0.paused = true;
        after.internal_mut().read_load = 3;
        let changed = StoredFeed::changed_fields(&before, &after);
        assert_eq!(changed, Fields::of(["paused", "read_load"]));
        let mut taken = before.clone();
        taken.take_fields(&changed, &after);
        assert_eq!(taken, after);
    }

    #[test]
    fn the_last_load_that_waits_is_read_next() {
        let queued = |number| QueuedLoad { number, ..QueuedLoad::default() };
        let mut feed = StoredFeed(Feed::default());
        assert_eq!(feed.next_load(), None);
        feed.internal_mut().queue = vec![queued(1), queued(2)];
        assert_eq!(feed.next_load().unwrap().number, 2);
        feed.internal_mut().read_load = 2;
        assert_eq!(feed.next_load(), None);
    }
}
