//! Rows.

use bytes::Bytes;

use crate::key::Key;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub key: Key,
    /// Zero for plain rows and counters.
    pub version: u64,
    /// For a counter its amount in eight bytes, big endian.
    pub value: Bytes,
}

impl Row {
    #[must_use]
    pub fn counter(key: Key, amount: i64) -> Self {
        Self { key, version: 0, value: Bytes::copy_from_slice(&amount.to_be_bytes()) }
    }

    /// The amount of a counter; zero for other rows.
    #[must_use]
    pub fn amount(&self) -> i64 {
        self.value.first_chunk().map_or(0, |bytes| i64::from_be_bytes(*bytes))
    }
}
