//! Refusals of values.

use connectrpc::ErrorCode;
use ctl::Error;

use super::Refusal;

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Name { .. } => Self::wrong_field("parameter", "WRONG_NAME", text),
            Error::Author => {
                Self::new(ErrorCode::FailedPrecondition, "NO_NAME", "the credential has no subject")
            }
            Error::Reason => Self::wrong_field("reason", "TOO_LONG", text),
            Error::TooManyChanges(_) => Self::wrong_field("changes", "TOO_MANY", text),
            Error::Twice(parameter) => {
                Self::wrong_field("changes", "TWICE", text).with("parameter", &parameter)
            }
            Error::MovesBack { parameter, current, wanted } => {
                let refusal = Self::new(ErrorCode::FailedPrecondition, "MOVES_BACK", text);
                refusal.with("parameter", &parameter).with("current", &current).with("wanted", &wanted)
            }
            Error::OtherKind { parameter, current, wanted } => {
                let refusal = Self::new(ErrorCode::FailedPrecondition, "OTHER_KIND", text);
                refusal.with("parameter", &parameter).with("current", &current).with("wanted", &wanted)
            }
            Error::OtherVersion { parameter, expected, actual, .. } => {
                let refusal = Self::new(ErrorCode::Aborted, "VERSION_CONFLICT", text);
                refusal.with("parameter", &parameter).with("expected", &expected).with("actual", &actual)
            }
            Error::OtherValue { parameter, .. } => {
                Self::new(ErrorCode::Aborted, "VALUE_CONFLICT", text).with("parameter", &parameter)
            }
            Error::Contended => Self::new(ErrorCode::Aborted, "CONTENDED", text).passing(),
            Error::Store(error @ store::Error::Unresolved { .. }) => {
                let text = "the outcome is unknown: repeat the call";
                Self::away("OUTCOME_UNKNOWN", text, &error)
            }
            Error::Store(error) => Self::of_store(&error),
            damaged @ Error::Damaged { .. } => Self::damaged(&damaged),
            other => Self::internal(&other),
        }
    }
}
