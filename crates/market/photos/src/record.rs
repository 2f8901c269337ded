//! What is kept of photos, of URLs and of failures.

use serde::{Deserialize, Serialize};

/// A photo that was taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Photo {
    /// The BLAKE3 hash of the bytes that were downloaded, as 64 hexadecimal digits: the photo's name.
    pub hash: String,
    /// Its width in pixels, the right way up.
    pub width: u32,
    /// Its height in pixels, the right way up.
    pub height: u32,
    /// The bytes that were downloaded.
    pub bytes: u64,
    /// What they were: `JPEG`, `PNG`, `WebP` or `GIF`.
    pub kind: String,
    /// The files that were made, the largest first.
    pub sizes: Vec<Size>,
    /// How they were made: [`Config::recipe`](crate::Config::recipe).
    pub recipe: String,
    /// Photos that look alike have hashes that differ in few bits.
    pub look: u64,
    /// How sharp it is: the variance of its second derivative. Below some tens a photo is blurred.
    pub sharpness: f64,
    /// Its mean colour, `#rrggbb`, to show before the photo is there.
    pub colour: String,
    /// When it was taken first, in milliseconds since 1970.
    pub taken_ms: i64,
}

impl Photo {
    /// In how many of 64 bits two photos look different.
    #[must_use]
    pub fn distance(&self, other: &Self) -> u32 {
        (self.look ^ other.look).count_ones()
    }

    /// The smallest file whose long side has at least so many pixels, or the largest one.
    #[must_use]
    pub fn at_least(&self, side: u32) -> Option<&Size> {
        let is_enough = |size: &&Size| size.width.max(size.height) >= side;
        self.sizes.iter().rev().find(is_enough).or(self.sizes.first())
    }
}

/// One file of a photo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// The configured long side.
    pub side: u32,
    /// The file's own width.
    pub width: u32,
    /// The file's own height.
    pub height: u32,
    /// The file's bytes.
    pub bytes: u64,
    /// Its name: what [`Photos::serve`](crate::Photos::serve) takes.
    pub path: String,
}

/// What is known of a URL that led to a photo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UrlRow {
    pub(crate) url: String,
    /// The hash of the photo.
    pub(crate) photo: String,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    /// When the server was asked last.
    pub(crate) checked_ms: i64,
}

/// Why a URL gave no photo, the last time it was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlError {
    /// The URL as it was given.
    pub url: String,
    /// The reason in one word, stable: `private_address`, `status`, `too_many_pixels`...
    pub code: String,
    /// What, where, and what to do: for the seller.
    pub message: String,
    /// Times that it was tried.
    pub tries: u32,
    /// When it failed first, in milliseconds since 1970.
    pub first_ms: i64,
    /// When it failed last.
    pub last_ms: i64,
    /// When it is tried again; `None`: not until the URL changes or somebody asks to forget it.
    pub next_try_ms: Option<i64>,
}
