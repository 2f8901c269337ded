//! Refusals: one type for everything that a call can be refused for, and what clients see of it.
//!
//! Every refusal carries `google.rpc.ErrorInfo` (reason, domain `torg`, metadata); a wrong request also `google.rpc.BadRequest` with its fields. Clients of gRPC
//! find them in `grpc-status-details-bin`, clients of JSON in `details`, where `debug` shows them in plain JSON.

mod ctl;
mod domain;
mod feeds;
mod ours;
mod tasks;

use std::collections::BTreeMap;

use access::Verdict;
use buffa::Message;
use connectrpc::{ConnectError, ErrorCode, ErrorDetail};
use offers::masks::MaskError;
use offers::validation::Violation;
use offers::{OfferId, WrongId};
use serde::Serialize;
use wire::google::rpc::bad_request::FieldViolation;
use wire::google::rpc::{BadRequest, ErrorInfo, RetryInfo};

use crate::limits::{REFUSAL_FIELDS_BYTES_MAX, REFUSAL_PATH_BYTES_MAX, REFUSAL_TEXT_BYTES_MAX, RETRY_AFTER};

/// The domain of every reason.
pub const DOMAIN: &str = "torg";
/// Where a text was cut.
/// Bytes that go before a message within another.
const FRAME_BYTES: usize = 3;

/// A call that is not served, and why. Becomes a [`ConnectError`] by `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    code: ErrorCode,
    reason: &'static str,
    text: String,
    metadata: BTreeMap<String, String>,
    fields: Vec<FieldFault>,
    is_passing: bool,
}

/// A field of a request that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFault {
    /// The path, as the contract names it.
    pub field: String,
    /// For programs, in capitals.
    pub reason: String,
    /// For people.
    pub text: String,
}

impl FieldFault {
    /// A fault of a field.
    pub fn new(field: impl Into<String>, reason: impl Into<String>, text: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into(), text: text.into() }
    }
}

impl Refusal {
    /// A refusal with a reason for programs, in capitals, and a text for people.
    pub fn new(code: ErrorCode, reason: &'static str, text: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            text: text.into(),
            metadata: BTreeMap::new(),
            fields: Vec::new(),
            is_passing: false,
        }
    }

    /// Says something more to programs.
    #[must_use]
    pub fn with(mut self, name: &str, value: &impl ToString) -> Self {
        self.metadata.insert(name.to_owned(), value.to_string());
        self
    }

    /// The same call may succeed a little later.
    #[must_use]
    pub fn passing(mut self) -> Self {
        self.is_passing = true;
        self
    }

    /// The kind.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The reason for programs.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.reason
    }

    /// The text for people.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The fields that are wrong.
    #[must_use]
    pub fn fields(&self) -> &[FieldFault] {
        &self.fields
    }

    /// A wrong request, with every field that is wrong.
    #[must_use]
    pub fn wrong(reason: &'static str, fields: Vec<FieldFault>) -> Self {
        let text = match &*fields {
            [] => "the request is wrong".to_owned(),
            [one] => told(one),
            [first, rest @ ..] => format!("{} (and {} more)", told(first), rest.len()),
        };
        Self { fields, ..Self::new(ErrorCode::InvalidArgument, reason, text) }
    }

    /// A wrong request: one field.
    pub fn wrong_field(field: &str, reason: &'static str, text: impl Into<String>) -> Self {
        Self::wrong(reason, vec![FieldFault::new(field, reason, text)])
    }

    /// Something that has to be given.
    #[must_use]
    pub fn required(field: &str) -> Self {
        Self::wrong_field(field, "REQUIRED", "has to be given")
    }

    /// There is no such offer, as far as this caller may know.
    #[must_use]
    pub fn no_offer(id: OfferId) -> Self {
        Self::new(ErrorCode::NotFound, "OFFER_NOT_FOUND", format!("there is no offer {id}"))
            .with("offer", &id)
    }

    /// There is no such seller, as far as this caller may know.
    #[must_use]
    pub fn no_seller() -> Self {
        Self::new(ErrorCode::NotFound, "SELLER_NOT_FOUND", "there is no such seller")
    }

    /// A text that is no id.
    #[must_use]
    pub fn wrong_id(field: &str, wrong: &WrongId) -> Self {
        let reason = match wrong {
            WrongId::Form => "WRONG_ID_FORM",
            WrongId::Check => "WRONG_ID_DIGIT",
        };
        Self::wrong("WRONG_ID", vec![FieldFault::new(field, reason, wrong.to_string())])
    }

    /// A mask that cannot be used.
    #[must_use]
    pub fn wrong_mask(field: &str, wrong: &MaskError) -> Self {
        let reason = match wrong {
            MaskError::Unknown { .. } => "UNKNOWN_PATH",
            MaskError::NotSellers { .. } => "NOT_SETTABLE",
            MaskError::Ambiguous { .. } => "AMBIGUOUS_PATH",
            MaskError::TooManyPaths { .. } | MaskError::PathTooLong { .. } => "TOO_LONG",
            _ => "WRONG_PATH",
        };
        Self::wrong("WRONG_FIELD_MASK", vec![FieldFault::new(field, reason, wrong.to_string())])
    }

    /// An offer that may not stand. `field` is where the request has it; an empty list is no refusal.
    pub fn of_violations(field: &str, violations: &[Violation]) -> Result<(), Self> {
        let at =
            |within: &str| if within.is_empty() { field.to_owned() } else { format!("{field}.{within}") };
        let fault =
            |found: &Violation| FieldFault::new(at(&found.field), found.code.to_uppercase(), &found.text);
        if violations.is_empty() {
            return Ok(());
        }
        Err(Self::wrong("INVALID_OFFER", violations.iter().map(fault).collect()))
    }

    /// What a verdict comes to; `missing` is the answer for what does not exist.
    pub fn of_verdict(verdict: Verdict, missing: impl FnOnce() -> Self) -> Result<(), Self> {
        match verdict {
            Verdict::Allowed => Ok(()),
            Verdict::Missing => Err(missing()),
            Verdict::Forbidden => Err(Self::forbidden()),
            Verdict::SignIn => Err(Self::sign_in()),
        }
    }

    /// The caller's roles do not suffice.
    #[must_use]
    pub fn forbidden() -> Self {
        Self::new(ErrorCode::PermissionDenied, "FORBIDDEN", "your roles do not allow this")
    }

    /// Nobody knows who calls.
    #[must_use]
    pub fn sign_in() -> Self {
        Self::new(ErrorCode::Unauthenticated, "SIGN_IN", "sign in first: send a token or an API key")
    }
}

fn told(fault: &FieldFault) -> String {
    format!("{}: {}", fault.field, fault.text)
}

impl From<Refusal> for ConnectError {
    fn from(refusal: Refusal) -> Self {
        let Refusal { code, reason, text, mut metadata, fields, is_passing } = refusal;
        let (shown, left_out) = fitting(fields);
        if left_out > 0 {
            metadata.insert("fields_left_out".to_owned(), left_out.to_string());
        }
        let info = ErrorInfo {
            reason: reason.to_owned(),
            domain: DOMAIN.to_owned(),
            metadata,
            ..ErrorInfo::default()
        };
        let mut error = Self::new(code, text::shortened_bytes(text, REFUSAL_TEXT_BYTES_MAX))
            .with_detail(detail("google.rpc.ErrorInfo", &info));
        if !shown.field_violations.is_empty() {
            error = error.with_detail(detail("google.rpc.BadRequest", &shown));
        }
        if is_passing {
            let retry = RetryInfo { retry_delay: Some(RETRY_AFTER.into()).into(), ..RetryInfo::default() };
            error = error.with_detail(detail("google.rpc.RetryInfo", &retry));
        }
        error
    }
}

/// As many fields as fit into the headers that clients take, and how many do not.
fn fitting(fields: Vec<FieldFault>) -> (BadRequest, usize) {
    let (all, mut bytes) = (fields.len(), 0);
    let mut shown = BadRequest::default();
    for FieldFault { field, reason, text } in fields {
        let violation = FieldViolation {
            field: text::shortened_bytes(field, REFUSAL_PATH_BYTES_MAX),
            description: text::shortened_bytes(text, REFUSAL_TEXT_BYTES_MAX),
            reason,
            ..FieldViolation::default()
        };
        bytes += violation.encoded_len() as usize + FRAME_BYTES;
        if bytes > REFUSAL_FIELDS_BYTES_MAX {
            break;
        }
        shown.field_violations.push(violation);
    }
    let left_out = all - shown.field_violations.len();
    (shown, left_out)
}

/// A detail in binary form, and as JSON for people who look at an answer.
fn detail(name: &str, message: &(impl Message + Serialize)) -> ErrorDetail {
    ErrorDetail { debug: serde_json::to_value(message).ok(), ..ErrorDetail::from_message(name, message) }
}
