//! Batches: the checks and writes of one atomic commit.

use std::fmt;

use bytes::Bytes;

use crate::key::Key;
use crate::limits::{ADD_MAX, BATCH_BYTES_MAX, BATCH_OPS_MAX, VALUE_BYTES_MAX};
use crate::table::Kind;
use crate::{Error, Result};

/// The unique id of a batch. It is written together with the batch, so that a caller can ask later
/// whether the batch was applied.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchId(pub u128);

impl fmt::Display for BatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for BatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A write to one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Plain rows have version zero.
    Put { version: u64, value: Bytes },
    /// Deleting an absent row is no error.
    Delete,
    /// Changes a counter by this amount.
    Add(i64),
}

/// An atomic change: checks that must hold, and writes that are applied if they all do.
///
/// Checks refer to the state before the batch. Writes take effect in order: of two writes to one
/// row the later wins, and adds to one counter sum up.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    id: Option<BatchId>,
    checks: Vec<(Key, u64)>,
    writes: Vec<(Key, Write)>,
    bytes: usize,
}

impl Batch {
    /// An empty batch. The store gives it an id when it is committed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty batch with capacity for this many checks and writes.
    #[must_use]
    pub fn with_capacity(checks: usize, writes: usize) -> Self {
        Self { checks: Vec::with_capacity(checks), writes: Vec::with_capacity(writes), ..Self::default() }
    }

    /// An empty batch with an id of the caller's choice, which must be unique. A caller that stored
    /// the id beforehand can ask after a crash whether the batch was applied.
    #[must_use]
    pub fn with_id(id: BatchId) -> Self {
        Self { id: Some(id), ..Self::default() }
    }

    /// Applies the batch only if the row has this version; zero means that there is no such row.
    pub fn check(&mut self, key: Key, version: u64) -> &mut Self {
        self.bytes += key.bytes().len();
        self.checks.push((key, version));
        self
    }

    /// Applies the batch only if there is no such row.
    pub fn check_absent(&mut self, key: Key) -> &mut Self {
        self.check(key, 0)
    }

    /// Writes a versioned row. The caller chooses the version, usually the checked one plus one.
    pub fn put(&mut self, key: Key, version: u64, value: impl Into<Bytes>) -> &mut Self {
        self.write(key, Write::Put { version, value: value.into() })
    }

    /// Writes a plain row.
    pub fn set(&mut self, key: Key, value: impl Into<Bytes>) -> &mut Self {
        self.write(key, Write::Put { version: 0, value: value.into() })
    }

    pub fn delete(&mut self, key: Key) -> &mut Self {
        self.write(key, Write::Delete)
    }

    pub fn add(&mut self, key: Key, delta: i64) -> &mut Self {
        self.write(key, Write::Add(delta))
    }

    fn write(&mut self, key: Key, write: Write) -> &mut Self {
        self.bytes += key.bytes().len() + if let Write::Put { value, .. } = &write { value.len() } else { 0 };
        self.writes.push((key, write));
        self
    }

    /// `None` before the commit, unless the caller chose one.
    #[must_use]
    pub fn id(&self) -> Option<BatchId> {
        self.id
    }

    pub(crate) fn set_id(&mut self, id: BatchId) {
        self.id = Some(id);
    }

    /// In the order in which they were added.
    #[must_use]
    pub fn checks(&self) -> &[(Key, u64)] {
        &self.checks
    }

    /// In the order in which they were added.
    #[must_use]
    pub fn writes(&self) -> &[(Key, Write)] {
        &self.writes
    }

    /// Bytes of all keys and values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.writes.is_empty()
    }

    /// Checks limits, and that every operation fits its table.
    pub(crate) fn validate(&self) -> Result<()> {
        let ops = self.checks.len() + self.writes.len();
        if ops > BATCH_OPS_MAX {
            return Err(Error::BatchTooLarge { count: ops, unit: "operations", max: BATCH_OPS_MAX });
        }
        if self.bytes > BATCH_BYTES_MAX {
            return Err(Error::BatchTooLarge { count: self.bytes, unit: "bytes", max: BATCH_BYTES_MAX });
        }
        for (key, version) in &self.checks {
            key.validate()?;
            if key.table().kind != Kind::Versioned {
                return Err(refuse("check", key, "only versioned rows can be checked"));
            }
            check_version_range(key, *version)?;
        }
        self.writes.iter().try_for_each(|(key, write)| validate_write(key, write))
    }
}

fn validate_write(key: &Key, write: &Write) -> Result<()> {
    key.validate()?;
    match (write, key.table().kind) {
        (Write::Put { .. } | Write::Delete, Kind::Counter) => {
            Err(refuse("put or delete", key, "counters only change by add"))
        }
        (Write::Add(_), Kind::Versioned | Kind::Plain) => {
            Err(refuse("add", key, "the table holds rows, not counters"))
        }
        (Write::Add(delta), Kind::Counter) if delta.unsigned_abs() > ADD_MAX.unsigned_abs() => {
            Err(refuse("add", key, "the step is too large"))
        }
        (Write::Put { version: 0, .. }, Kind::Versioned) => {
            Err(refuse("set", key, "a versioned row needs a version above zero: use put"))
        }
        (Write::Put { version: 1.., .. }, Kind::Plain) => {
            Err(refuse("put", key, "plain rows have no version: use set"))
        }
        (Write::Put { value, .. }, _) if value.len() > VALUE_BYTES_MAX => {
            let bytes = value.len();
            Err(Error::ValueTooLarge { key: key.to_string(), bytes, max: VALUE_BYTES_MAX })
        }
        (Write::Put { version, .. }, _) => check_version_range(key, *version),
        (Write::Delete | Write::Add(_), _) => Ok(()),
    }
}

fn check_version_range(key: &Key, version: u64) -> Result<()> {
    let fits = i64::try_from(version).is_ok();
    if fits { Ok(()) } else { Err(refuse("check or put", key, "versions have 63 bits")) }
}

fn refuse(operation: &'static str, key: &Key, reason: &'static str) -> Error {
    Error::BadOperation { operation, key: key.to_string(), reason }
}
