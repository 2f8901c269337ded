//! The tables. Values are JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{Key, Row, Table, TableDef};
use url::Url;

use crate::error::{PhotoError, Result};
use crate::limits::SHARDS;

/// Photos by the hash of their bytes.
pub(crate) static PHOTOS: Table<(u32, String)> = Table::versioned("photos", &["shard", "photo"]).large();

/// Photos of URLs by the hash of the URL.
pub(crate) static URLS: Table<(u32, String)> = Table::versioned("photo_urls", &["shard", "url"]);

/// Failures of URLs by the hash of the URL.
pub(crate) static ERRORS: Table<(u32, String)> = Table::versioned("photo_errors", &["shard", "url"]);

/// For the schema of a store.
#[must_use]
pub fn tables() -> Vec<&'static TableDef> {
    vec![PHOTOS.def(), URLS.def(), ERRORS.def()]
}

/// The key of a hash in one of the tables.
pub(crate) fn key(table: &'static Table<(u32, String)>, hash: &str) -> Key {
    let shard = u32::from_str_radix(hash.get(..8).unwrap_or_default(), 16).unwrap_or_default() % SHARDS;
    table.key((shard, hash))
}

/// The hash of a normalised URL.
pub(crate) fn url_hash(url: &str) -> String {
    let plain = Url::parse(url.trim()).map(|mut url| {
        url.set_fragment(None);
        url.to_string()
    });
    blake3::hash(plain.as_deref().unwrap_or(url.trim()).as_bytes()).to_hex().to_string()
}

pub(crate) fn read<T: DeserializeOwned>(row: &Row) -> Result<T> {
    serde_json::from_slice(&row.value)
        .map_err(|error| PhotoError::Damaged { place: row.key.to_string(), detail: error.to_string() })
}

pub(crate) fn write<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("numbers, texts and lists can be written as JSON")
}
