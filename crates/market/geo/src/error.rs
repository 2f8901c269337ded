//! What can go wrong.

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why places could not be loaded, or a geocoder did not answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The data of places is damaged.
    #[error("line {line} of the places: {what}")]
    Data {
        /// The line, from 1 on; 0 if the file itself cannot be unpacked.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// The address of a geocoder is no URL of `http` or `https`.
    #[error("the geocoder's address {url:?} cannot be used: {what}")]
    BadUrl {
        /// What was given.
        url: String,
        /// What is wrong with it.
        what: String,
    },
    /// The geocoder could not be asked, or refused. Asking again later helps if it [is passing](Self::is_passing).
    #[error("the geocoder does not answer: {0}")]
    Fetch(#[from] fetch::Error),
    /// Too many questions wait for their turn.
    #[error("more than {0} questions wait for the geocoder: ask later")]
    Busy(usize),
    /// It answered something else than places.
    #[error("the geocoder's answer cannot be read: {0}")]
    BadAnswer(String),
}

impl Error {
    /// Whether the same question may be answered later without anybody changing anything. An offer goes on without its place then.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Data { .. } | Self::BadUrl { .. } => false,
            Self::Fetch(error) => error.is_passing(),
            Self::Busy(_) | Self::BadAnswer(_) => true,
        }
    }
}
