//! The rows of photos, URLs and failures.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Photo {
    /// The BLAKE3 hash of the downloaded bytes as 64 hexadecimal digits.
    pub hash: String,
    /// After rotation.
    pub width: u32,
    /// After rotation.
    pub height: u32,
    /// The size of the download.
    pub bytes: u64,
    /// `JPEG`, `PNG`, `WebP` or `GIF`.
    pub kind: String,
    /// The files, the largest first.
    pub sizes: Vec<Size>,
    /// See [`Config::recipe`](crate::Config::recipe).
    pub recipe: String,
    /// A perceptual hash: similar photos differ in few bits.
    pub look: u64,
    /// The variance of the second derivative. Photos below some tens are blurred.
    pub sharpness: f64,
    /// The mean colour, `#rrggbb`, to show while the photo is loading.
    pub colour: String,
    /// Milliseconds since 1970.
    pub taken_ms: i64,
}

impl Photo {
    /// The number of different bits, of 64.
    #[must_use]
    pub fn distance(&self, other: &Self) -> u32 {
        (self.look ^ other.look).count_ones()
    }

    /// The smallest file with a long side of at least this many pixels, or the largest one.
    #[must_use]
    pub fn at_least(&self, side: u32) -> Option<&Size> {
        let is_enough = |size: &&Size| size.width.max(size.height) >= side;
        self.sizes.iter().rev().find(is_enough).or(self.sizes.first())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// As configured.
    pub side: u32,
    pub width: u32,
    pub height: u32,
    pub bytes: u64,
    /// The name for [`Photos::serve`](crate::Photos::serve).
    pub path: String,
}

/// The row of a URL with a photo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UrlRow {
    pub(crate) url: String,
    pub(crate) photo: String,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    /// The last request.
    pub(crate) checked_ms: i64,
}

/// The last failure of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlError {
    /// As given.
    pub url: String,
    /// A stable code: `private_address`, `status`, `too_many_pixels`...
    pub code: String,
    /// A message for the seller.
    pub message: String,
    /// Attempts.
    pub tries: u32,
    /// Milliseconds since 1970.
    pub first_ms: i64,
    pub last_ms: i64,
    /// `None`: not until the URL changes or is forgotten.
    pub next_try_ms: Option<i64>,
}
