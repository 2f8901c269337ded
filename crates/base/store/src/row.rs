//! Rows, as reads return them.

use bytes::Bytes;

use crate::key::Key;

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its key.
    pub key: Key,
    /// The version that it was put with; zero for plain rows and counters.
    pub version: u64,
    /// The value; for a counter, its amount as eight bytes, big end first.
    pub value: Bytes,
}

impl Row {
    /// A counter's row.
    #[must_use]
    pub fn counter(key: Key, amount: i64) -> Self {
        Self { key, version: 0, value: Bytes::copy_from_slice(&amount.to_be_bytes()) }
    }

    /// A counter's amount; zero for a row that is no counter.
    #[must_use]
    pub fn amount(&self) -> i64 {
        self.value.first_chunk().map_or(0, |bytes| i64::from_be_bytes(*bytes))
    }
}
