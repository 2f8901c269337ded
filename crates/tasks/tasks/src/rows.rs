//! What stands in the store, as messages of `proto/torg/tasks/v1/task.proto`, and back.

mod alert;
mod state;

use buffa::Message;
use buffa_types::google::protobuf::Timestamp as WireTime;
use ctl::messages;
use jiff::Timestamp;
use planner::board::{Cause, Chunk, Manual, Signed};
use store::Row;
use wire::torg::tasks::v1 as proto;

use crate::error::{Error, Result};

pub(crate) use alert::alert_message;
pub(crate) use state::{read_state, state_message};

/// What is wrong with a message, for people.
type Detail = String;

/// Reads the value of a row.
pub(crate) fn decode<M: Message + Default>(row: &Row) -> Result<M> {
    M::decode_from_slice(&row.value).map_err(|error| damaged(row, error))
}

pub(crate) fn damaged(row: &Row, detail: impl std::fmt::Display) -> Error {
    Error::Damaged { place: row.key.to_string(), detail: detail.to_string() }
}

/// A moment of a message that may be left out.
pub(crate) fn read_time(time: Option<&WireTime>) -> Result<Option<Timestamp>, Detail> {
    time.map(messages::read_time).transpose()
}

/// A moment of a message that must be there.
pub(crate) fn needed_time(time: Option<&WireTime>) -> Result<Timestamp, Detail> {
    read_time(time)?.ok_or_else(|| "a moment is missing".to_owned())
}

pub(crate) fn signed_message(signed: &Signed) -> proto::Signed {
    proto::Signed {
        by: signed.by.clone(),
        reason: signed.reason.clone(),
        time: Some(messages::time(signed.at)).into(),
        ..Default::default()
    }
}

fn read_signed(signed: &proto::Signed) -> Result<Signed, Detail> {
    let at = needed_time(signed.time.as_option())?;
    Ok(Signed { by: signed.by.clone(), reason: signed.reason.clone(), at })
}

fn manual_message(manual: &Manual) -> proto::ManualRun {
    let signed = Some(signed_message(&manual.signed)).into();
    proto::ManualRun { signed, record: manual.record, ..Default::default() }
}

fn read_manual(manual: &proto::ManualRun) -> Result<Manual, Detail> {
    let signed = manual.signed.as_option().ok_or("a run that was asked for is nobody's")?;
    Ok(Manual { signed: read_signed(signed)?, record: manual.record })
}

/// Why a run is made, as messages carry it.
#[must_use]
pub fn cause_message(cause: &Cause) -> proto::Cause {
    let kind = match cause {
        Cause::Trigger => None,
        Cause::Manual(manual) => Some(manual_message(manual).into()),
        Cause::Chunk(chunk) => {
            let (start, end) =
                (Some(messages::time(chunk.start)).into(), Some(messages::time(chunk.end)).into());
            Some(proto::SeenChunk { start, end, ..Default::default() }.into())
        }
    };
    proto::Cause { kind, ..Default::default() }
}

pub(crate) fn read_cause(cause: Option<&proto::Cause>) -> Result<Cause, Detail> {
    use proto::cause::Kind;
    Ok(match cause.and_then(|cause| cause.kind.as_ref()) {
        None => Cause::Trigger,
        Some(Kind::Manual(manual)) => Cause::Manual(read_manual(manual)?),
        Some(Kind::Chunk(chunk)) => Cause::Chunk(Chunk {
            start: needed_time(chunk.start.as_option())?,
            end: needed_time(chunk.end.as_option())?,
        }),
    })
}
