pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// `line` counts from 1; 0 if the file cannot be unpacked.
    #[error("line {line} of the places: {what}")]
    Data { line: usize, what: String },
    /// The same request may succeed later.
    #[error("the geocoder is unavailable: {0}")]
    GeocoderUnavailable(String),
    #[error("the geocoder cannot be used: {0}")]
    GeocoderRefused(String),
}

impl Error {
    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::GeocoderUnavailable(_))
    }
}
