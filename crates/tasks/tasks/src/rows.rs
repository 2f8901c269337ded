//! Stored messages of `proto/torg/tasks/v1/task.proto`.

mod state;

use buffa::{EnumValue, Message};
use buffa_types::google::protobuf::Timestamp as WireTime;
use ctl::messages;
use jiff::Timestamp;
use planner::{Alert, Cause, Chunk, Manual, Outcome, Signed};
use store::Row;
use wire::torg::tasks::v1 as proto;

use crate::error::{Error, Result};

pub(crate) use state::{read_state, state_message};

/// What is wrong with a message, for people.
type Detail = String;

pub(crate) fn decode<M: Message + Default>(row: &Row) -> Result<M> {
    M::decode_from_slice(&row.value).map_err(|error| damaged(row, error))
}

pub(crate) fn damaged(row: &Row, detail: impl std::fmt::Display) -> Error {
    Error::Damaged { place: row.key.to_string(), detail: detail.to_string() }
}

/// A moment of a message that may be missing.
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
    let signed = manual.signed.as_option().ok_or("a requested run has no author")?;
    Ok(Manual { signed: read_signed(signed)?, record: manual.record })
}

/// A cause as a message.
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

pub(crate) fn alert_message(alert: &Alert, number: u64, at: Timestamp) -> proto::TaskAlert {
    use proto::task_alert::Kind;
    let kind = match alert {
        Alert::Silent { .. } => Kind::KIND_SILENT,
        Alert::SilenceEnded => Kind::KIND_SILENCE_ENDED,
        Alert::Failing { .. } => Kind::KIND_FAILING,
        Alert::Recovered => Kind::KIND_RECOVERED,
        Alert::GaveUp { .. } => Kind::KIND_GAVE_UP,
        Alert::Regressed { .. } => Kind::KIND_REGRESSED,
        Alert::RegressionEnded { .. } => Kind::KIND_MENDED,
        Alert::BackfillStopped { .. } => Kind::KIND_BACKFILL_STOPPED,
        Alert::BackfillDone { .. } => Kind::KIND_BACKFILL_DONE,
    };
    proto::TaskAlert {
        number,
        time: Some(messages::time(at)).into(),
        kind: EnumValue::Known(kind),
        text: alert.to_string(),
        ..Default::default()
    }
}

/// The outcome of a run and its error, as messages carry them.
pub(crate) fn outcome_message(outcome: &Outcome) -> (EnumValue<proto::task_run::Outcome>, String) {
    use proto::task_run::Outcome as Kind;
    let (kind, error) = match outcome {
        Outcome::Succeeded { .. } => (Kind::OUTCOME_SUCCEEDED, String::new()),
        Outcome::Failed { error } => (Kind::OUTCOME_FAILED, error.clone()),
        Outcome::Lost => (Kind::OUTCOME_LOST, String::new()),
    };
    (EnumValue::Known(kind), error)
}
