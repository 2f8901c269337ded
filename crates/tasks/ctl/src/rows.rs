//! Rows to values and back.

use buffa::Message;
use buffa_types::google::protobuf::Timestamp as WireTime;
use jiff::Timestamp;
use store::Row;
use triggers::Value;
use wire::torg::tasks::v1::{CtlChanged, CtlHistory, CtlValue, SeenValue};

use super::error::{Result, damaged};
use super::read::HistoryEntry;
use super::tables::HISTORY;
use crate::messages;

fn read_time(row: &Row, time: Option<&WireTime>) -> Result<Timestamp> {
    let read = time.map_or(Ok(Timestamp::UNIX_EPOCH), messages::read_time);
    read.map_err(|detail| damaged(row, detail))
}

/// A value that is neither a time nor a number was not written by this program.
fn read_value(row: &Row, value: Option<&SeenValue>) -> Result<Option<Value>> {
    value.map(messages::read_value).transpose().map_err(|detail| damaged(row, detail))
}

fn decoded<M: Message>(row: &Row) -> Result<M> {
    M::decode_from_slice(&row.value).map_err(|error| damaged(row, error))
}

#[derive(Clone, Debug, Default)]
pub(super) struct StoredValue {
    /// `None`: it was deleted.
    pub(super) value: Option<Value>,
    pub(super) author: String,
    pub(super) at: Timestamp,
    pub(super) history_from: u64,
}

impl StoredValue {
    pub(super) fn read(row: &Row) -> Result<Self> {
        let read: CtlValue = decoded(row)?;
        let value = read_value(row, read.value.as_option())?;
        let at = read_time(row, read.change_time.as_option())?;
        Ok(Self { value, author: read.author, at, history_from: read.history_from })
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let message = CtlValue {
            value: self.value.map(messages::value).into(),
            author: self.author.clone(),
            change_time: Some(messages::time(self.at)).into(),
            history_from: self.history_from,
            ..CtlValue::default()
        };
        message.encode_to_vec()
    }
}

impl HistoryEntry {
    pub(super) fn read(row: &Row) -> Result<Self> {
        let (.., version) = HISTORY.parts(&row.key)?;
        let read: CtlHistory = decoded(row)?;
        Ok(Self {
            version: u64::try_from(version).map_err(|error| damaged(row, error))?,
            before: read_value(row, read.before.as_option())?,
            after: read_value(row, read.after.as_option())?,
            at: read_time(row, read.change_time.as_option())?,
            author: read.author,
            moved_back: read.moved_back,
            reason: read.reason,
        })
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let message = CtlHistory {
            author: self.author.clone(),
            change_time: Some(messages::time(self.at)).into(),
            before: self.before.map(messages::value).into(),
            after: self.after.map(messages::value).into(),
            moved_back: self.moved_back,
            reason: self.reason.clone(),
            ..CtlHistory::default()
        };
        message.encode_to_vec()
    }
}

pub(super) fn encode_mark(value: Option<Value>, at: Timestamp) -> Vec<u8> {
    let (value, change_time) = (value.map(messages::value).into(), Some(messages::time(at)).into());
    CtlChanged { value, change_time, ..CtlChanged::default() }.encode_to_vec()
}

pub(super) fn read_mark(row: &Row) -> Result<(Option<Value>, Timestamp)> {
    let read: CtlChanged = decoded(row)?;
    let at = read_time(row, read.change_time.as_option())?;
    Ok((read_value(row, read.value.as_option())?, at))
}
