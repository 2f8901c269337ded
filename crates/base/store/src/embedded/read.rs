//! Reads, from the latest state or from a snapshot.

use std::sync::Arc;

use async_trait::async_trait;
use fjall::{Keyspace, Readable};

use super::errors::{engine_error, guarded};
use super::layout::Home;
use super::{Database, INLINE_ROWS_MAX, blocking};
use crate::engine::Read;
use crate::key::Key;
use crate::row::Row;
use crate::scan::{Page, Scan};
use crate::{Error, Result};

/// A state of the database that can be read.
pub(super) enum Moment<'a> {
    /// Rows of a group that is being applied may become visible before all of them are. The group
    /// is on the disk by then.
    Latest,
    Snapshot(&'a fjall::Snapshot),
}

impl Moment<'_> {
    fn get(&self, keyspace: &Keyspace, key: &[u8]) -> fjall::Result<Option<fjall::UserValue>> {
        match self {
            Self::Latest => keyspace.get(key),
            Self::Snapshot(snapshot) => snapshot.get(keyspace, key),
        }
    }
}

impl Database {
    pub(super) fn get(&self, moment: &Moment<'_>, keys: &[Key]) -> Result<Vec<Option<Row>>> {
        keys.iter().map(|key| self.get_one(moment, key)).collect()
    }

    pub(super) fn get_one(&self, moment: &Moment<'_>, key: &Key) -> Result<Option<Row>> {
        guarded(|| key.to_string(), || self.get_row(moment, key))
    }

    fn get_row(&self, moment: &Moment<'_>, key: &Key) -> Result<Option<Row>> {
        let home = self.home(key.table())?;
        let stored_key = home.stored_key(key.bytes());
        let stored =
            moment.get(&home.keyspace, &stored_key).map_err(|e| engine_error(&e, &key.to_string()))?;
        stored.map(|stored| home.row_of(key.clone(), &stored_key, &stored.into())).transpose()
    }

    pub(super) fn scan(&self, snapshot: &fjall::Snapshot, scan: &Scan) -> Result<Page> {
        guarded(|| scan.table.to_string(), || self.scan_page(snapshot, scan))
    }

    fn scan_page(&self, snapshot: &fjall::Snapshot, scan: &Scan) -> Result<Page> {
        let home = self.home(scan.table)?;
        let (from, to) = scan.encoded_range();
        let (from, to) = home.stored_range(&from, to.as_deref());
        if to <= from || scan.limit == 0 {
            return Ok(Page::default());
        }
        let mut rows = snapshot.range(&home.keyspace, from..to);
        let next = || if scan.descending { rows.next_back() } else { rows.next() };
        Page::gather(std::iter::from_fn(next).map(|guard| read_row(home, guard)), scan.limit)
    }
}

fn read_row(home: &Home, guard: fjall::Guard) -> Result<Row> {
    let (stored_key, stored) = guard.into_inner().map_err(|e| engine_error(&e, home.table.name))?;
    home.row(&stored_key, &stored.into())
}

/// A consistent view. It keeps the folder locked until it is dropped, even after the store is
/// closed.
pub(super) struct View {
    pub(super) database: Arc<Database>,
    pub(super) snapshot: fjall::Snapshot,
}

#[async_trait]
impl Read for View {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>> {
        self.require_open()?;
        if keys.len() <= INLINE_ROWS_MAX {
            return self.database.get(&Moment::Snapshot(&self.snapshot), keys);
        }
        let (database, snapshot, keys) = (Arc::clone(&self.database), self.snapshot.clone(), keys.to_vec());
        blocking(move || database.get(&Moment::Snapshot(&snapshot), &keys)).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Page> {
        self.require_open()?;
        if scan.limit <= INLINE_ROWS_MAX {
            return self.database.scan(&self.snapshot, scan);
        }
        let (database, snapshot, scan) = (Arc::clone(&self.database), self.snapshot.clone(), scan.clone());
        blocking(move || database.scan(&snapshot, &scan)).await
    }
}

impl View {
    fn require_open(&self) -> Result<()> {
        if self.database.is_closing() { Err(Error::Closed) } else { Ok(()) }
    }
}
