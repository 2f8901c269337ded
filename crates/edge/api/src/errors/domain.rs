//! Refusals of offers.

use connectrpc::ErrorCode;
use offers::status::{Forbidden, name};
use offers::{Error, NotMoved, OfferId};

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
            Error::NotMoved { id, why: NotMoved::Forbidden(why) } => of_move(id, why, text),
            Error::NotMoved { id, why: NotMoved::BanStands } => {
                Self::new(ErrorCode::FailedPrecondition, "BAN_STANDS", text).with("offer", &id)
            }
            Error::Invalid(violations) => match Self::of_violations("offer", &violations) {
                Err(refusal) => refusal,
                Ok(()) => Self::internal(&"an invalid offer without violations"),
            },
            Error::NoDraft(id) => Self::new(ErrorCode::NotFound, "DRAFT_NOT_FOUND", text).with("draft", &id),
            Error::Mask(wrong) => Self::wrong_mask("update_mask", &wrong),
            Error::NoSeller => Self::sign_in(),
            Error::ExternalTaken { other, .. } => {
                Self::new(ErrorCode::AlreadyExists, "EXTERNAL_ID_TAKEN", text).with("offer", &other)
            }
            Error::KeyReused { key } => {
                Self::new(ErrorCode::AlreadyExists, "IDEMPOTENCY_KEY_REUSED", text).with("key", &key)
            }
            Error::TokenTooOld => Self::new(ErrorCode::OutOfRange, "TOKEN_TOO_OLD", text),
            Error::ForeignToken => Self::wrong_field("resume_token", "WRONG_TOKEN", text),
            Error::TooLarge { .. } => Self::wrong_field("offer", "TOO_LARGE", text),
            Error::Closed(id, status) => {
                let refusal = Self::new(ErrorCode::FailedPrecondition, "OFFER_CLOSED", text);
                refusal.with("offer", &id).with("status", &name(status))
            }
            Error::Contended(id) => {
                Self::new(ErrorCode::Aborted, "CONTENDED", text).with("offer", &id).passing()
            }
            Error::Store(error) => Self::of_store(&error),
            Error::Watcher(error) => Self::of_watcher(&error),
            Error::Topics(error) => Self::of_topics(&error),
            damaged @ Error::Damaged { .. } => Self::damaged(&damaged),
            other => Self::internal(&other),
        }
    }
}

fn of_move(id: OfferId, why: Forbidden, text: String) -> Refusal {
    let (code, reason, from, to) = match why {
        Forbidden::Unchanged(status) => (ErrorCode::FailedPrecondition, "STATUS_UNCHANGED", status, status),
        Forbidden::Impossible(from, to) => (ErrorCode::FailedPrecondition, "MOVE_NOT_POSSIBLE", from, to),
        Forbidden::WrongMover(from, to, _, _) => (ErrorCode::PermissionDenied, "MOVE_BY_OTHERS", from, to),
    };
    Refusal::new(code, reason, text).with("offer", &id).with("from", &name(from)).with("to", &name(to))
}
