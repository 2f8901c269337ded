//! Errors.

use fetch::Kind;

use crate::record::UrlError;

pub type Result<T, E = PhotoError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PhotoError {
    /// The URL or its content was refused or failed, now or earlier. Its row has the reason, the
    /// attempts and the time of the next one.
    #[error("{}: {}", .0.url, .0.message)]
    Refused(Box<UrlError>),
    /// Not caused by the URL.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Not caused by the URL.
    #[error("photo files: {0}")]
    Files(#[from] object_store::Error),
    #[error("others keep changing the rows of {0}: try again")]
    Contended(String),
    #[error("{place} is damaged: {detail}")]
    Damaged { place: String, detail: String },
    #[error("{0:?} is no valid URL for files: use file:FOLDER, memory: or s3://BUCKET/PREFIX{1}")]
    BadPlace(String, &'static str),
}

impl PhotoError {
    /// Whether the same call may succeed later. A refused URL is tried again only at the time in
    /// its row.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Refused(error) => error.next_try_ms.is_some(),
            Self::Store(_) | Self::Files(_) | Self::Contended(_) => true,
            Self::Damaged { .. } | Self::BadPlace(..) => false,
        }
    }
}

/// Why a picture is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    #[error("the file is {0}, not a photo: use JPEG, PNG, WebP or GIF")]
    Kind(Kind),
    /// SVG files can contain scripts.
    #[error("SVG drawings are not taken: export it as PNG or JPEG")]
    Svg,
    #[error("the picture is {width} x {height} pixels, more than {max} in all: make it smaller")]
    TooManyPixels {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
        /// The limit.
        max: u64,
    },
    /// The picture exceeds the memory budget.
    #[error(
        "the picture of {width} x {height} pixels needs {bytes} bytes of memory, at most {max} are given: make it smaller"
    )]
    TooMuchMemory {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
        /// What it would need.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    #[error("the picture is {width} x {height} pixels: use a larger one")]
    TooSmall {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    #[error("the file ends in the middle of the picture: upload it again")]
    Truncated,
    #[error("the file is damaged ({0}): save it again in another program")]
    Damaged(String),
}

impl Refusal {
    /// A stable code, used in tables and reports.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Kind(_) => "wrong_kind",
            Self::Svg => "svg",
            Self::TooManyPixels { .. } => "too_many_pixels",
            Self::TooMuchMemory { .. } => "too_much_memory",
            Self::TooSmall { .. } => "too_small",
            Self::Truncated => "truncated_file",
            Self::Damaged(_) => "damaged_file",
        }
    }
}
