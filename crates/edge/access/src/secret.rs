//! Secrets shared by all processes of a store, created on first use.
//!
//! They protect what clients hold, such as cookies; a reader of the store does not need them.

use store::{Batch, Read as _, Store, Table};

use crate::api_keys::Entropy;
use crate::{Error, Result};

/// One row for each purpose, all in shard zero: the bytes themselves.
pub(crate) static SECRETS: Table<(u32, String)> = Table::versioned("access_secrets", &["shard", "purpose"]);

const BYTES: usize = 32;

/// The same for every process of the store.
pub async fn shared_secret(store: &Store, entropy: &Entropy, purpose: &str) -> Result<[u8; BYTES]> {
    let key = SECRETS.key((0, purpose));
    if let Some(row) = store.get_one(&key).await? {
        return read(purpose, &row.value);
    }
    let mut secret = [0; BYTES];
    entropy.fill(&mut secret)?;
    let mut batch = Batch::new();
    batch.check_absent(key.clone()).put(key.clone(), 1, secret.to_vec());
    if store.commit(batch).await?.is_applied() {
        return Ok(secret);
    }
    // Another process was first: use its secret.
    let row = store.get_one(&key).await?.ok_or_else(|| Error::Busy { id: purpose.to_owned() })?;
    read(purpose, &row.value)
}

fn read(purpose: &str, bytes: &[u8]) -> Result<[u8; BYTES]> {
    let why = || Error::Row { id: purpose.to_owned(), why: format!("{} bytes instead of 32", bytes.len()) };
    bytes.try_into().map_err(|_| why())
}
