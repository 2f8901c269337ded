//! What can go wrong.

use store::Row;
use wire::torg::offers::v1::Status;

use crate::id::OfferId;
use crate::masks::MaskError;
use crate::moves::NotMoved;
use crate::validation::Violation;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not done.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The watcher refused or failed.
    #[error(transparent)]
    Watcher(#[from] watcher::Error),
    /// A topic refused or failed.
    #[error(transparent)]
    Topics(#[from] std::sync::Arc<topics::Error>),
    /// There is no such offer.
    #[error("there is no offer {0}")]
    NotFound(OfferId),
    /// There is no such draft, or it is not this owner's.
    #[error("there is no draft {0}")]
    NoDraft(OfferId),
    /// A draft is published by a seller.
    #[error("a draft is published by a seller: log in first")]
    NoSeller,
    /// It has another version than the caller saw.
    #[error("{id} has version {actual} by now, not {expected}: read it again, and decide again")]
    OtherVersion {
        /// Which offer or draft.
        id: OfferId,
        /// The version that the caller saw.
        expected: u64,
        /// The version that it has.
        actual: u64,
    },
    /// It must not be published like this: everything that is wrong.
    #[error("the offer is wrong in {} ways: {}", .0.len(), told(.0))]
    Invalid(Vec<Violation>),
    /// A path that cannot be changed.
    #[error(transparent)]
    Mask(#[from] MaskError),
    /// The status cannot be moved like this.
    #[error("offer {id}: {why}")]
    NotMoved {
        /// Which offer.
        id: OfferId,
        /// What the rules say.
        why: NotMoved,
    },
    /// An offer of this status cannot be changed.
    #[error("offer {0} is {name} and cannot be changed", name = crate::status::name(*.1))]
    Closed(OfferId, Status),
    /// Another offer has the same id in the same feed.
    #[error("offer {other} has the id {external:?} in the feed {namespace:?} already: change that one")]
    ExternalTaken {
        /// The feed.
        namespace: String,
        /// The id in it.
        external: String,
        /// The offer that has it.
        other: String,
    },
    /// The idempotency key was used for another call.
    #[error("the idempotency key {key:?} was used for another call: take a new one for each call")]
    KeyReused {
        /// The key.
        key: String,
    },
    /// Changes from this place on are not kept any more.
    #[error("changes from this place on are not kept any more: begin anew, without a token")]
    TokenTooOld,
    /// A place of another watch.
    #[error("this token is of another watch: begin anew, without a token")]
    OthersToken,
    /// Others change the same thing all the time.
    #[error("{0} is being changed by others all the time: try again")]
    Contended(OfferId),
    /// It has grown too large.
    #[error("{id} would have {bytes} bytes, at most {max} can be kept")]
    TooLarge {
        /// Which offer or draft.
        id: OfferId,
        /// Its bytes.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// A row cannot be read.
    #[error("{place} is damaged: {detail}")]
    Damaged {
        /// The row.
        place: String,
        /// What is wrong.
        detail: String,
    },
}

/// The first few violations, for people.
fn told(violations: &[Violation]) -> String {
    let first = violations.iter().take(5).map(|violation| format!("{}: {}", violation.field, violation.text));
    first.collect::<Vec<_>>().join("; ")
}

/// A row that cannot be read.
pub(crate) fn damaged(row: &Row, error: impl std::fmt::Display) -> Error {
    Error::Damaged { place: row.key.to_string(), detail: error.to_string() }
}
