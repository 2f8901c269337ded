//! Scans: the rows of one table between two bounds, in ascending or descending key order, in pages.

use std::ops::Bound;

use crate::key::{Key, KeyBytes, KeyValue, encode_prefix, prefix_end};
use crate::limits::{PAGE_BYTES_MAX, SCAN_ROWS_MAX};
use crate::row::Row;
use crate::table::TableDef;
use crate::{Error, Result};

/// Which rows to read.
///
/// A bound gives the first key columns. Rows that start with them are *at* the bound:
/// [`from`](Self::from) and [`through`](Self::through) include them, [`above`](Self::above) and
/// [`below`](Self::below) exclude them. A later call replaces an earlier one at the same end;
/// [`within`](Self::within) sets both.
#[derive(Clone, Debug)]
pub struct Scan {
    pub(crate) table: &'static TableDef,
    pub(crate) lower: Bound<Vec<KeyValue>>,
    pub(crate) upper: Bound<Vec<KeyValue>>,
    pub(crate) descending: bool,
    pub(crate) limit: usize,
    pub(crate) after: Option<Key>,
}

impl Scan {
    /// All rows of a table, in key order.
    #[must_use]
    pub const fn all(table: &'static TableDef) -> Self {
        let (lower, upper) = (Bound::Unbounded, Bound::Unbounded);
        Self { table, lower, upper, descending: false, limit: SCAN_ROWS_MAX, after: None }
    }

    /// Only rows whose first columns have these values.
    #[must_use]
    pub fn within(mut self, prefix: Vec<KeyValue>) -> Self {
        self.lower = Bound::Included(prefix.clone());
        self.upper = Bound::Included(prefix);
        self
    }

    /// Only rows at this bound or higher.
    #[must_use]
    pub fn from(mut self, bound: Vec<KeyValue>) -> Self {
        self.lower = Bound::Included(bound);
        self
    }

    /// Only rows higher than this bound.
    #[must_use]
    pub fn above(mut self, bound: Vec<KeyValue>) -> Self {
        self.lower = Bound::Excluded(bound);
        self
    }

    /// Only rows at this bound or lower.
    #[must_use]
    pub fn through(mut self, bound: Vec<KeyValue>) -> Self {
        self.upper = Bound::Included(bound);
        self
    }

    /// Only rows lower than this bound.
    #[must_use]
    pub fn below(mut self, bound: Vec<KeyValue>) -> Self {
        self.upper = Bound::Excluded(bound);
        self
    }

    /// Highest key first.
    #[must_use]
    pub fn descending(mut self) -> Self {
        self.descending = true;
        self
    }

    /// Rows in a page, never more than [`SCAN_ROWS_MAX`](crate::limits::SCAN_ROWS_MAX).
    #[must_use]
    pub fn limit(mut self, rows: usize) -> Self {
        self.limit = rows.min(SCAN_ROWS_MAX);
        self
    }

    /// Continues after this key, in the direction of the scan. The key need not exist any more.
    #[must_use]
    pub fn after(mut self, key: Key) -> Self {
        self.after = Some(key);
        self
    }

    #[must_use]
    pub fn table(&self) -> &'static TableDef {
        self.table
    }

    pub(crate) fn validate(&self) -> Result<()> {
        for bound in [&self.lower, &self.upper] {
            if let Bound::Included(values) | Bound::Excluded(values) = bound {
                self.validate_bound(values)?;
            }
        }
        match &self.after {
            Some(key) if key.table().name != self.table.name => {
                let reason = format!("a scan cannot continue after a key of table {}", key.table());
                Err(Error::BadKey { table: self.table.name, reason })
            }
            Some(key) => key.validate(),
            None => Ok(()),
        }
    }

    fn validate_bound(&self, values: &[KeyValue]) -> Result<()> {
        let fits = values.len() <= self.table.types.len()
            && values.iter().zip(self.table.types).all(|(value, ty)| value.ty() == *ty);
        let text_is_fine = !values.iter().any(|v| matches!(v, KeyValue::Text(t) if t.contains('\0')));
        if fits && text_is_fine {
            return Ok(());
        }
        let reason =
            format!("a bound must give the first of the columns ({})", self.table.columns.join(", "));
        Err(Error::BadKey { table: self.table.name, reason })
    }

    /// The bounds as encoded keys: from the first, included, to the second, excluded (`None`: to
    /// the end).
    pub(crate) fn encoded_range(&self) -> (KeyBytes, Option<KeyBytes>) {
        let mut from = match &self.lower {
            Bound::Unbounded => KeyBytes::new(),
            Bound::Included(values) => encode_prefix(values),
            Bound::Excluded(values) => match prefix_end(encode_prefix(values)) {
                Some(end) => end,
                None => return (KeyBytes::from_slice(&[0xFF]), Some(KeyBytes::new())),
            },
        };
        let mut to = match &self.upper {
            Bound::Unbounded => None,
            Bound::Included(values) => prefix_end(encode_prefix(values)),
            Bound::Excluded(values) => Some(encode_prefix(values)),
        };
        if let Some(after) = &self.after {
            if self.descending {
                let cursor = KeyBytes::from_slice(after.bytes());
                to = Some(to.map_or_else(|| cursor.clone(), |to| to.min(cursor.clone())));
            } else {
                let mut cursor = KeyBytes::from_slice(after.bytes());
                cursor.push(0);
                from = from.max(cursor);
            }
        }
        (from, to)
    }
}

/// A page of rows and its continuation.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// In the direction of the scan.
    pub rows: Vec<Row>,
    /// The argument of [`Scan::after`] for the next page; `None` at the end of the scan. A page may
    /// be shorter than the limit and still have a next one, because pages are limited in bytes too.
    pub next: Option<Key>,
}

impl Page {
    /// Takes rows until the limit of rows or bytes is reached.
    pub(crate) fn gather(rows: impl Iterator<Item = Result<Row>>, limit: usize) -> Result<Self> {
        let mut page = Self::default();
        let mut bytes = 0;
        for row in rows {
            let row = row?;
            bytes += row.value.len();
            page.rows.push(row);
            if page.rows.len() == limit || bytes >= PAGE_BYTES_MAX {
                page.next = page.rows.last().map(|row| row.key.clone());
                break;
            }
        }
        Ok(page)
    }
}
