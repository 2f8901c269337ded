//! Refusals: the error type of all calls, and its wire form.
//!
//! Every refusal carries `google.rpc.ErrorInfo` (reason, domain `torg`, metadata); an invalid
//! request also `google.rpc.BadRequest` with its fields. gRPC clients find them in
//! `grpc-status-details-bin`, JSON clients in `details`, where `debug` shows them as plain JSON.

mod ctl;
mod domain;
mod feeds;
mod internal;
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

/// The domain of all reasons.
pub const DOMAIN: &str = "torg";
/// The end of a truncated text.
const ELLIPSIS: &str = "…";
/// Overhead of a nested message in bytes.
const FRAME_BYTES: usize = 3;

/// The refusal of a call. `?` converts it to a [`ConnectError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    code: ErrorCode,
    reason: &'static str,
    text: String,
    metadata: BTreeMap<String, String>,
    fields: Vec<FieldFault>,
    is_passing: bool,
}

/// An invalid field of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFault {
    /// The path in the contract.
    pub field: String,
    /// For programs, in capitals.
    pub reason: String,
    pub text: String,
}

impl FieldFault {
    pub fn new(field: impl Into<String>, reason: impl Into<String>, text: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into(), text: text.into() }
    }
}

impl Refusal {
    /// `reason` is for programs, in capitals; `text` is for people.
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

    /// Adds metadata.
    #[must_use]
    pub fn with(mut self, name: &str, value: &impl ToString) -> Self {
        self.metadata.insert(name.to_owned(), value.to_string());
        self
    }

    /// Marks the refusal as temporary.
    #[must_use]
    pub fn passing(mut self) -> Self {
        self.is_passing = true;
        self
    }

    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.reason
    }

    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    #[must_use]
    pub fn fields(&self) -> &[FieldFault] {
        &self.fields
    }

    /// An invalid request with all its invalid fields.
    #[must_use]
    pub fn wrong(reason: &'static str, fields: Vec<FieldFault>) -> Self {
        let text = match &*fields {
            [] => "the request is invalid".to_owned(),
            [one] => described(one),
            [first, rest @ ..] => format!("{} (and {} more)", described(first), rest.len()),
        };
        Self { fields, ..Self::new(ErrorCode::InvalidArgument, reason, text) }
    }

    /// An invalid request with one invalid field.
    pub fn wrong_field(field: &str, reason: &'static str, text: impl Into<String>) -> Self {
        Self::wrong(reason, vec![FieldFault::new(field, reason, text)])
    }

    /// A missing field.
    #[must_use]
    pub fn required(field: &str) -> Self {
        Self::wrong_field(field, "REQUIRED", "is required")
    }

    /// The offer does not exist for this caller.
    #[must_use]
    pub fn no_offer(id: OfferId) -> Self {
        Self::new(ErrorCode::NotFound, "OFFER_NOT_FOUND", format!("there is no offer {id}"))
            .with("offer", &id)
    }

    /// The seller does not exist for this caller.
    #[must_use]
    pub fn no_seller() -> Self {
        Self::new(ErrorCode::NotFound, "SELLER_NOT_FOUND", "there is no such seller")
    }

    /// An invalid id.
    #[must_use]
    pub fn wrong_id(field: &str, wrong: &WrongId) -> Self {
        let reason = match wrong {
            WrongId::Form => "WRONG_ID_FORM",
            WrongId::Check => "WRONG_ID_DIGIT",
        };
        Self::wrong("WRONG_ID", vec![FieldFault::new(field, reason, wrong.to_string())])
    }

    /// An invalid field mask.
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

    /// The violations of an offer. `field` is its place in the request; an empty list is no
    /// refusal.
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

    /// Converts a verdict; `missing` is the refusal for a missing object.
    pub fn of_verdict(verdict: Verdict, missing: impl FnOnce() -> Self) -> Result<(), Self> {
        match verdict {
            Verdict::Allowed => Ok(()),
            Verdict::Missing => Err(missing()),
            Verdict::Forbidden => Err(Self::forbidden()),
            Verdict::SignIn => Err(Self::sign_in()),
        }
    }

    #[must_use]
    pub fn forbidden() -> Self {
        Self::new(ErrorCode::PermissionDenied, "FORBIDDEN", "your roles do not allow this")
    }

    #[must_use]
    pub fn sign_in() -> Self {
        Self::new(ErrorCode::Unauthenticated, "SIGN_IN", "sign in first: send a token or an API key")
    }
}

fn described(fault: &FieldFault) -> String {
    format!("{}: {}", fault.field, fault.text)
}

impl From<Refusal> for ConnectError {
    fn from(refusal: Refusal) -> Self {
        let Refusal { code, reason, text, mut metadata, fields, is_passing } = refusal;
        let (shown, left_out) = fit(fields);
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

/// The fields that fit into the response headers, and the number of omitted ones.
fn fit(fields: Vec<FieldFault>) -> (BadRequest, usize) {
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

/// Truncates a text to this many bytes.
#[must_use]
pub fn short(mut text: String, most: usize) -> String {
    if text.len() > most {
        let end = (0..=most - ELLIPSIS.len()).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        text.push_str(ELLIPSIS);
    }
    text
}

/// A detail in binary form, and as JSON for people.
fn detail(name: &str, message: &(impl Message + Serialize)) -> ErrorDetail {
    ErrorDetail { debug: serde_json::to_value(message).ok(), ..ErrorDetail::from_message(name, message) }
}
