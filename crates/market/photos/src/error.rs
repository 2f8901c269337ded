//! What can go wrong.

use fetch::Kind;

use crate::record::UrlError;

/// The crate's result.
pub type Result<T, E = PhotoError> = std::result::Result<T, E>;

/// Why there is no photo.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PhotoError {
    /// The URL, or what it led to, was refused or failed, now or earlier. It is remembered: the row says why, how often and when it is tried again.
    #[error("{}: {}", .0.url, .0.message)]
    Refused(Box<UrlError>),
    /// The store refused or failed. The URL is not to blame.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Files cannot be written or read. The URL is not to blame.
    #[error("photo files: {0}")]
    Files(#[from] object_store::Error),
    /// Others change the same rows all the time.
    #[error("the rows of {0} are being changed by others all the time: try again")]
    Contended(String),
    /// A row cannot be read.
    #[error("{place} is damaged: {detail}")]
    Damaged {
        /// The row.
        place: String,
        /// What is wrong.
        detail: String,
    },
    /// The place for files is not one.
    #[error("{0:?} is no place for files: use file:FOLDER, memory: or s3://BUCKET/PREFIX{1}")]
    BadPlace(String, &'static str),
}

impl PhotoError {
    /// Whether the same call may succeed later without anybody changing the URL. A refused URL is worth asking again only when its row says so.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Refused(error) => error.next_try_ms.is_some(),
            Self::Store(_) | Self::Files(_) | Self::Contended(_) => true,
            Self::Damaged { .. } | Self::BadPlace(..) => false,
        }
    }
}

/// Why a picture was not made from bytes that came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A kind of file that is not taken.
    #[error("the file is {0}, not a photo: use JPEG, PNG, WebP or GIF")]
    Kind(Kind),
    /// SVG is a program more than a picture.
    #[error("SVG drawings are not taken: export it as PNG or JPEG")]
    Svg,
    /// Too many pixels.
    #[error("the picture is {width} x {height} pixels, more than {max} in all: make it smaller")]
    TooManyPixels {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
        /// The limit.
        max: u64,
    },
    /// It would need more memory than there is for pictures.
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
    /// Too small to show.
    #[error("the picture is {width} x {height} pixels: nobody would see anything, use a larger one")]
    TooSmall {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// It ends early.
    #[error("the file ends in the middle of the picture: upload it again")]
    Truncated,
    /// It cannot be decoded.
    #[error("the file is damaged ({0}): save it again in another program")]
    Damaged(String),
}

impl Refusal {
    /// The name in one word, stable: tables and reports keep it.
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
