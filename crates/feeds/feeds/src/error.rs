//! What can go wrong.

use std::sync::Arc;

use store::Row;

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
    /// The ad store refused or failed.
    #[error(transparent)]
    Offers(#[from] offers::Error),
    /// A topic refused or failed.
    #[error(transparent)]
    Topics(#[from] Arc<topics::Error>),
    /// Files cannot be written or read.
    #[error("files: {0}")]
    Files(Arc<object_store::Error>),
    /// The disk of this machine cannot be written or read.
    #[error("this machine's disk: {0}")]
    Disk(Arc<std::io::Error>),
    /// A row cannot be read.
    #[error("{place} cannot be read: {detail}")]
    Damaged {
        /// Which.
        place: String,
        /// Why.
        detail: String,
    },
    /// There is no such feed.
    #[error("there is no feed {namespace:?} of {seller}")]
    NotFound {
        /// Whose.
        seller: String,
        /// Which.
        namespace: String,
    },
    /// There is no such load.
    #[error("the feed has no load {0}")]
    NoLoad(u64),
    /// The seller has it already.
    #[error("{seller} has a feed {namespace:?} already: change that one, or give another namespace")]
    Exists {
        /// Whose.
        seller: String,
        /// Which.
        namespace: String,
    },
    /// A value cannot be taken.
    #[error("{field}: {text}")]
    Invalid {
        /// Where.
        field: String,
        /// What is wrong, and what to do.
        text: String,
    },
    /// It has another version than the caller saw.
    #[error("the feed has version {actual} by now, not {expected}: read it again, and decide again")]
    OtherVersion {
        /// What the caller saw.
        expected: u64,
        /// What it has.
        actual: u64,
    },
    /// The load does not wait.
    #[error("load {0} does not wait for anybody")]
    NotWaiting(u64),
    /// The feed is being deleted.
    #[error("the feed is being deleted")]
    Deleting,
    /// The thread that read a file has panicked.
    #[error("Torg has a fault: {0}")]
    Fault(String),
    /// Others change the same feed all the time.
    #[error("others change this feed all the time: try again")]
    Contended,
}

impl Error {
    /// Whether it may pass by itself.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            // What is gone does not come back.
            Self::Files(error) => !matches!(**error, object_store::Error::NotFound { .. }),
            other => matches!(
                other,
                Self::Store(_)
                    | Self::Watcher(_)
                    | Self::Topics(_)
                    | Self::Disk(_)
                    | Self::Contended
                    | Self::Offers(_)
            ),
        }
    }
}

impl From<object_store::Error> for Error {
    fn from(error: object_store::Error) -> Self {
        Self::Files(Arc::new(error))
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Disk(Arc::new(error))
    }
}

pub(crate) fn damaged(row: &Row, error: impl std::fmt::Display) -> Error {
    Error::Damaged { place: format!("{:?}", row.key), detail: error.to_string() }
}

pub(crate) fn invalid(field: &str, text: impl Into<String>) -> Error {
    Error::Invalid { field: field.to_owned(), text: text.into() }
}
