//! The rows of API keys.

use serde::{Deserialize, Serialize};
use store::{Row, Table, TableDef};

use super::ApiKey;
use crate::role::Roles;
use crate::time::Time;
use crate::{Error, Result};

/// One row for each key, all in shard zero: [`KeyRow`] as JSON.
pub(super) static KEYS: Table<(u32, String)> = Table::versioned("access_keys", &["shard", "id"]);
/// The last use of each key, in milliseconds since 1970. A table of its own, so that a use never
/// conflicts with a revocation.
pub(super) static USES: Table<(u32, String)> = Table::plain("access_key_uses", &["shard", "id"]);

/// The tables that a store must be opened with.
#[must_use]
pub fn tables() -> [&'static TableDef; 3] {
    [KEYS.def(), USES.def(), crate::secret::SECRETS.def()]
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeyRow {
    pub(super) name: String,
    #[serde(with = "hex")]
    pub(super) hash: Vec<u8>,
    pub(super) roles: Roles,
    pub(super) seller: Option<String>,
    pub(super) created: Time,
    pub(super) expires: Option<Time>,
    pub(super) revoked: Option<Time>,
}

impl KeyRow {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // Only texts and numbers, so JSON cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(super) fn from_bytes(id: &str, bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes)
            .map_err(|error| Error::Row { id: id.to_owned(), why: error.to_string() })
    }

    pub(super) fn shown(&self, id: &str, last_used: Option<Time>) -> ApiKey {
        ApiKey {
            id: id.to_owned(),
            name: self.name.clone(),
            roles: self.roles,
            seller: self.seller.clone(),
            created: self.created,
            expires: self.expires,
            revoked: self.revoked,
            last_used,
        }
    }
}

/// The id in the key of a row.
pub(super) fn id(row: &Row) -> Result<String> {
    Ok(KEYS.parts(&row.key)?.1)
}

pub(super) fn used_at(row: Option<&Row>) -> Option<Time> {
    std::str::from_utf8(&row?.value).ok()?.parse().ok().map(Time::from_ms)
}

mod hex {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&text::hex(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let digit = |letter: u8| char::from(letter).to_digit(16);
        let bytes: Option<Vec<u8>> =
            pairs.iter().map(|[high, low]| Some((digit(*high)? * 16 + digit(*low)?) as u8)).collect();
        bytes.filter(|_| rest.is_empty()).ok_or_else(|| D::Error::custom("no hash"))
    }
}
