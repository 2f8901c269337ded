//! What the domain refuses, as callers hear it.

use connectrpc::ErrorCode;
use offers::status::{Forbidden, name};
use offers::{Error, OfferId};

use super::Refusal;

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::NotFound(id) => Self::no_offer(id),
            Error::OtherVersion { id, expected, actual } => {
                let refusal = Self::new(ErrorCode::Aborted, "VERSION_CONFLICT", text);
                refusal.with("offer", &id).with("expected", &expected).with("actual", &actual)
            }
            Error::Forbidden { id, why } => of_move(id, why, text),
            Error::BanStands(id) => {
                Self::new(ErrorCode::FailedPrecondition, "BAN_STANDS", text).with("offer", &id)
            }
            Error::Closed(id, status) => {
                let refusal = Self::new(ErrorCode::FailedPrecondition, "OFFER_CLOSED", text);
                refusal.with("offer", &id).with("status", &name(status))
            }
            Error::Contended(id) => {
                Self::new(ErrorCode::Aborted, "CONTENDED", text).with("offer", &id).passing()
            }
            Error::Store(error) => Self::of_store(&error),
            Error::Watcher(error) => Self::of_watcher(&error),
            damaged @ Error::Damaged { .. } => Self::damaged(&damaged),
            other => Self::internal(&other),
        }
    }
}

fn of_move(id: OfferId, why: Forbidden, text: String) -> Refusal {
    let (code, reason, from, to) = match why {
        Forbidden::There(status) => (ErrorCode::FailedPrecondition, "STATUS_UNCHANGED", status, status),
        Forbidden::Never(from, to) => (ErrorCode::FailedPrecondition, "MOVE_NOT_POSSIBLE", from, to),
        Forbidden::NotYou(from, to, _, _) => (ErrorCode::PermissionDenied, "MOVE_BY_OTHERS", from, to),
    };
    Refusal::new(code, reason, text).with("offer", &id).with("from", &name(from)).with("to", &name(to))
}
