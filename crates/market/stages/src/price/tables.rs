//! The tables. Values are JSON.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use store::{Key, Row, Table, TableDef};
use xxhash_rust::xxh3::xxh3_64;

use super::PriceError;
use crate::limits::PRICE_SHARDS;

/// Prices of a group by partition of the topic: each part has one writer.
static GROUPS: Table<(u32, String, u32)> =
    Table::versioned("price_groups", &["shard", "price_group", "part"]).large();

/// The groups of an offer, so that it can be removed from them.
static MEMBERS: Table<(u32, String)> = Table::versioned("price_members", &["shard", "offer"]);

/// The progress of the first reading of all offers.
static MARKS: Table<(u32, String)> = Table::versioned("price_marks", &["shard", "mark"]);

/// For the schema of a store.
#[must_use]
pub fn price_tables() -> Vec<&'static TableDef> {
    vec![GROUPS.def(), MEMBERS.def(), MARKS.def()]
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    /// For people.
    pub(super) group: String,
    /// Offers with prices in millionths; the newest last.
    pub(super) samples: Vec<(String, i64)>,
}

/// The groups of an offer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Member {
    /// The version of the offer.
    pub(super) version: u64,
    /// Keys of groups.
    pub(super) groups: Vec<String>,
    pub(super) micros: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    /// The next shard.
    pub(super) shard: u32,
}

pub(super) fn group_key(group: &str, part: u32) -> Key {
    GROUPS.key((shard_of(group), group, part))
}

pub(super) fn member_key(offer: &str) -> Key {
    MEMBERS.key((shard_of(offer), offer))
}

pub(super) fn mark_key() -> Key {
    MARKS.key((0, "filled"))
}

fn shard_of(text: &str) -> u32 {
    (xxh3_64(text.as_bytes()) % u64::from(PRICE_SHARDS)) as u32
}

/// The decoded row with its version; the default and zero without a row.
pub(super) fn read<T: DeserializeOwned + Default>(row: Option<&Row>) -> Result<(T, u64), PriceError> {
    let Some(row) = row else { return Ok((T::default(), 0)) };
    let damaged = |error: serde_json::Error| PriceError::Damaged {
        place: row.key.to_string(),
        detail: error.to_string(),
    };
    Ok((serde_json::from_slice(&row.value).map_err(damaged)?, row.version))
}

pub(super) fn write<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("numbers, texts and lists can be written as JSON")
}
