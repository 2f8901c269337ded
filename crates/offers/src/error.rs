//! What can go wrong.

use contract::torg::offers::v1::Status;

use crate::id::OfferId;
use crate::status::Forbidden;

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
    /// There is no such offer.
    #[error("there is no offer {0}")]
    NotFound(OfferId),
    /// It has another version than the caller saw.
    #[error("offer {id} has version {actual} by now, not {expected}: read it again, and decide again")]
    OtherVersion {
        /// Which offer.
        id: OfferId,
        /// The version that the caller saw.
        expected: u64,
        /// The version that it has.
        actual: u64,
    },
    /// The status cannot be moved like this.
    #[error("offer {id}: {why}")]
    Forbidden {
        /// Which offer.
        id: OfferId,
        /// What the table of moves says.
        why: Forbidden,
    },
    /// A ban stands, so it cannot be shown again.
    #[error("offer {0} was banned before it was removed, and the ban stands: moderation has to lift it")]
    BanStands(OfferId),
    /// An offer of this status cannot be changed.
    #[error("offer {0} is {name} and cannot be changed", name = crate::status::name(*.1))]
    Closed(OfferId, Status),
    /// Others change the same thing all the time.
    #[error("offer {0} is being changed by others all the time: try again")]
    Contended(OfferId),
    /// A row cannot be read.
    #[error("{place} is damaged: {detail}")]
    Damaged {
        /// The row.
        place: String,
        /// What is wrong.
        detail: String,
    },
}
