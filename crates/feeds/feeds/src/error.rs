//! The errors of this crate.

use std::sync::Arc;

use store::Row;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Watcher(#[from] watcher::Error),
    #[error(transparent)]
    Offers(#[from] offers::Error),
    #[error(transparent)]
    Topics(#[from] Arc<topics::Error>),
    #[error("files: {0}")]
    Files(Arc<object_store::Error>),
    #[error("local disk: {0}")]
    Disk(Arc<std::io::Error>),
    #[error("row {place} cannot be decoded: {detail}")]
    Damaged { place: String, detail: String },
    #[error("seller {seller} has no feed {namespace:?}")]
    NotFound { seller: String, namespace: String },
    #[error("the feed has no load {0}")]
    NoLoad(u64),
    #[error("seller {seller} already has a feed {namespace:?}: change it, or choose another namespace")]
    Exists { seller: String, namespace: String },
    #[error("{field}: {text}")]
    Invalid { field: String, text: String },
    #[error("the feed has version {actual}, not {expected}: read it again before you change it")]
    OtherVersion { expected: u64, actual: u64 },
    #[error("load {0} does not wait for a confirmation")]
    NotWaiting(u64),
    #[error("the feed is being deleted")]
    Deleting,
    /// The reading thread panicked.
    #[error("internal error: {0}")]
    Fault(String),
    #[error("too many concurrent changes of this feed: try again")]
    Contended,
}

impl Error {
    /// Whether a retry may succeed.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            // A missing file does not come back.
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
