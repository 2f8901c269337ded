//! What can go wrong.

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the watcher itself. What a stage says is a [`StageError`](crate::StageError).
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The topic refused or failed.
    #[error(transparent)]
    Topics(#[from] std::sync::Arc<topics::Error>),
    /// A row cannot be read.
    #[error("{place} is damaged: {detail}")]
    Damaged {
        /// The row.
        place: String,
        /// What is wrong.
        detail: String,
    },
    /// The watcher was set up in a way that cannot work.
    #[error("{what}")]
    Setup {
        /// What is wrong and what to do.
        what: String,
    },
    /// An entity or a state that cannot be kept.
    #[error("{kind} {id}: {what}")]
    Refused {
        /// The entity's kind.
        kind: &'static str,
        /// The entity's id.
        id: String,
        /// What is wrong and what to do.
        what: String,
    },
}
