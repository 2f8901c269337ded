use watcher::insight::RowKey;

use super::{Invariant, Seen};
use crate::tables::{Tables, lease_of};

/// A process that ends in order leaves its shards to others, and nothing that says that it lives.
pub(crate) struct HandOver;

impl Invariant for HandOver {
    fn name(&self) -> &'static str {
        "who ends in order leaves its shards"
    }

    fn at_rest(&mut self, tables: &Tables) -> Option<Seen> {
        let mut left = tables.places().filter(|(place, row)| match place {
            RowKey::Instance { .. } => true,
            RowKey::Lease { .. } => !lease_of(Some(row)).0.is_empty(),
            _ => false,
        });
        Some(left.next().map_or(Ok(()), |(place, row)| Err(format!("{place:?} is still there: {row:?}"))))
    }
}
