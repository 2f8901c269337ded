//! The messages in the watcher's rows, generated from `proto/torg/watcher/v1/rows.proto`.

#[allow(missing_docs, unreachable_pub, dead_code, clippy::all, clippy::pedantic, reason = "generated")]
pub(crate) mod generated {
    include!(concat!(env!("OUT_DIR"), "/rows.rs"));
}

pub(crate) use generated::torg::watcher::v1::*;

use buffa::Message;
use bytes::Bytes;
use store::Row;

use crate::{Error, Result};

pub(crate) fn decode<M: Message + Default>(row: &Row) -> Result<M> {
    M::decode_from_slice(&row.value)
        .map_err(|error| Error::Damaged { place: row.key.to_string(), detail: error.to_string() })
}

pub(crate) fn encode(message: &impl Message) -> Bytes {
    message.encode_to_vec().into()
}
