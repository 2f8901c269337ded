//! Decodes pictures within limits: first the header, then the pixels.

mod jpeg;
mod others;

use fetch::Kind;
use image::RgbImage;
use image::metadata::Orientation;

use crate::config::Config;
use crate::error::Refusal;
use crate::limits::{SIDE_MAX, SIDE_MIN};

/// Accepted kinds.
pub(crate) const KINDS: [Kind; 4] = [Kind::Jpeg, Kind::Png, Kind::WebP, Kind::Gif];

/// The header of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// The maximal memory for decoding, the decoded picture included.
    pub(crate) decode_bytes: u64,
}

/// A decoded picture before its rotation.
pub(crate) struct Picture {
    pub(crate) pixels: RgbImage,
    pub(crate) orientation: Orientation,
}

/// Reads and checks the header of a file, without memory that depends on the size of the picture.
pub(crate) fn head(bytes: &[u8], config: &Config) -> Result<Head, Refusal> {
    let head = match fetch::sniff(&bytes[..bytes.len().min(fetch::limits::SNIFF_BYTES)]) {
        Kind::Svg => return Err(Refusal::Svg),
        Kind::Jpeg => jpeg::head(bytes)?,
        kind @ (Kind::Png | Kind::WebP | Kind::Gif) => others::head(kind, bytes)?,
        kind => return Err(Refusal::Kind(kind)),
    };
    check(&head, config)?;
    Ok(head)
}

fn check(head: &Head, config: &Config) -> Result<(), Refusal> {
    let Head { width, height, .. } = *head;
    let pixels = u64::from(width) * u64::from(height);
    if pixels > config.pixels_max || width.max(height) > SIDE_MAX {
        return Err(Refusal::TooManyPixels { width, height, max: config.pixels_max });
    }
    if width.min(height) < SIDE_MIN {
        return Err(Refusal::TooSmall { width, height });
    }
    Ok(())
}

/// Decodes a file with a checked header.
pub(crate) fn picture(bytes: &[u8], head: &Head) -> Result<Picture, Refusal> {
    let picture = match head.kind {
        Kind::Jpeg => jpeg::picture(bytes)?,
        kind => others::picture(kind, bytes, head)?,
    };
    if picture.pixels.dimensions() != (head.width, head.height) {
        return Err(Refusal::Damaged("its size differs from its header".to_owned()));
    }
    Ok(picture)
}

fn damaged(error: impl std::fmt::Display) -> Refusal {
    Refusal::Damaged(error.to_string().chars().take(200).collect())
}
