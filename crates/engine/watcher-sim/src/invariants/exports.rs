use std::collections::BTreeMap;

use watcher::insight::{Head, RowKey};

use super::{End, Invariant, Seen, require};

/// The topic has every version of every entity, the first time in order; repeats are allowed.
pub(crate) struct Exports;

impl Invariant for Exports {
    fn name(&self) -> &'static str {
        "exports come in order and without gaps"
    }

    fn at_end(&mut self, end: &End<'_>) -> Option<Seen> {
        let mut newest: BTreeMap<&str, u64> = BTreeMap::new();
        for (entity, version) in end.exported {
            let newest = newest.entry(entity).or_default();
            if *version > *newest + 1 {
                return Some(Err(format!("{entity} v{version} came after v{newest}")));
            }
            *newest = (*newest).max(*version);
        }
        let mut last: BTreeMap<String, u64> = BTreeMap::new();
        let mut waiting: BTreeMap<String, u64> = BTreeMap::new();
        for (place, row) in end.tables.places() {
            match place {
                RowKey::Entity { entity, .. } => _ = last.insert(entity, row.version),
                RowKey::Head { entity, .. } => {
                    let removed = row.read::<Head>().removed_version;
                    let last = last.entry(entity).or_default();
                    *last = (*last).max(removed);
                }
                RowKey::Outbox { entity, version, .. } => {
                    let first = waiting.entry(entity).or_insert(version);
                    *first = (*first).min(version);
                }
                _ => {}
            }
        }
        let look = |(entity, last): (&String, &u64)| {
            let expected = waiting.get(entity).map_or(*last, |first| first - 1);
            let newest = newest.get(&**entity).copied().unwrap_or(0);
            require(newest >= expected, || format!("{entity} v{expected} was never exported, only v{newest}"))
        };
        Some(last.iter().map(look).fold(Ok(()), Seen::and))
    }
}
