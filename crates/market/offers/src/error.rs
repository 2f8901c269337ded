//! Errors of the ad store.

use store::Row;
use wire::torg::offers::v1::Status;

use crate::id::OfferId;
use crate::masks::MaskError;
use crate::moves::NotMoved;
use crate::validation::Violation;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Watcher(#[from] watcher::Error),
    #[error(transparent)]
    Topics(#[from] std::sync::Arc<topics::Error>),
    #[error("there is no offer {0}")]
    NotFound(OfferId),
    /// There is no such draft, or it belongs to another owner.
    #[error("there is no draft {0}")]
    NoDraft(OfferId),
    #[error("a draft is published by a seller: log in first")]
    NoSeller,
    /// The caller read another version.
    #[error("{id} has version {actual} now, not {expected}: read it again and repeat the change")]
    OtherVersion { id: OfferId, expected: u64, actual: u64 },
    #[error("the offer has {} violations: {}", .0.len(), first_few(.0))]
    Invalid(Vec<Violation>),
    #[error(transparent)]
    Mask(#[from] MaskError),
    #[error("offer {id}: {why}")]
    NotMoved { id: OfferId, why: NotMoved },
    #[error("offer {0} is {name} and cannot be changed", name = crate::status::name(*.1))]
    Closed(OfferId, Status),
    /// Another offer has the same id in the same feed.
    #[error("offer {other} already has the id {external:?} in the feed {namespace:?}: change that one")]
    ExternalTaken { namespace: String, external: String, other: String },
    /// Another request was made with the same idempotency key.
    #[error("the idempotency key {key:?} was used for another call: take a new one for each call")]
    KeyReused { key: String },
    /// The topic has dropped the changes behind the cursor.
    #[error("the changes behind this token are no longer stored: start again without a token")]
    TokenTooOld,
    #[error("this token is of another watch: start again without a token")]
    ForeignToken,
    /// Too many conflicts with other writers.
    #[error("{0} is being changed by others all the time: try again")]
    Contended(OfferId),
    /// An offer, a draft or the data of billing.
    #[error("{id} would have {bytes} bytes, at most {max} can be stored")]
    TooLarge { id: OfferId, bytes: usize, max: usize },
    #[error("{place} is damaged: {detail}")]
    Damaged { place: String, detail: String },
}

fn first_few(violations: &[Violation]) -> String {
    let first = violations.iter().take(5).map(|violation| format!("{}: {}", violation.field, violation.text));
    first.collect::<Vec<_>>().join("; ")
}

pub(crate) fn damaged(row: &Row, error: impl std::fmt::Display) -> Error {
    Error::Damaged { place: row.key.to_string(), detail: error.to_string() }
}
