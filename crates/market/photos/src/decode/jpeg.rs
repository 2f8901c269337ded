//! JPEG.

use fetch::Kind;
use image::RgbImage;
use image::metadata::Orientation;
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use super::{Head, Picture, damaged};
use crate::error::Refusal;
use crate::limits::{JPEG_SCANS_MAX, SIDE_MAX};

/// Bytes of a decoded pixel.
const RGB_BYTES: u64 = 3;
/// Files in several passes need all coefficients at once, one for each component of each pixel.
const COEFFICIENT_BYTES: u64 = 2;

pub(super) fn head(bytes: &[u8]) -> Result<Head, Refusal> {
    let mut decoder = open(bytes);
    decoder.decode_headers().map_err(damaged)?;
    let info = decoder.info().ok_or_else(|| damaged("it has no head"))?;
    let (width, height) = (u32::from(info.width), u32::from(info.height));
    let kept = if keeps_coefficients(bytes) { COEFFICIENT_BYTES * u64::from(info.components) } else { 0 };
    let pixels = u64::from(width.next_multiple_of(16)) * u64::from(height.next_multiple_of(16));
    let decode_bytes = pixels * (RGB_BYTES + kept);
    Ok(Head { kind: Kind::Jpeg, width, height, decode_bytes })
}

pub(super) fn picture(bytes: &[u8]) -> Result<Picture, Refusal> {
    if !has_end(bytes) {
        return Err(Refusal::Truncated);
    }
    let mut decoder = open(bytes);
    let pixels = decoder.decode().map_err(damaged)?;
    let info = decoder.info().ok_or_else(|| damaged("it has no head"))?;
    let orientation = decoder.exif().and_then(|exif| Orientation::from_exif_chunk(exif));
    let pixels = RgbImage::from_raw(info.width.into(), info.height.into(), pixels)
        .ok_or_else(|| damaged("pixels are missing"))?;
    Ok(Picture { pixels, orientation: orientation.unwrap_or(Orientation::NoTransforms) })
}

fn open(bytes: &[u8]) -> JpegDecoder<ZCursor<&[u8]>> {
    // As large as the format allows, so that our own check refuses the file.
    let side = SIDE_MAX as usize * 4;
    let options = DecoderOptions::default()
        .set_max_width(side)
        .set_max_height(side)
        .jpeg_set_max_scans(JPEG_SCANS_MAX)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    JpegDecoder::new_with_options(ZCursor::new(bytes), options)
}

/// The segments before the first scan: the marker, start and end of each.
fn segments(bytes: &[u8]) -> impl Iterator<Item = (u8, usize, usize)> {
    let mut at = 2;
    std::iter::from_fn(move || {
        while bytes.get(at) == Some(&0xFF) && bytes.get(at + 1) == Some(&0xFF) {
            at += 1;
        }
        let (&[0xFF, marker, high, low], _) = bytes.get(at..)?.split_first_chunk()? else { return None };
        let (from, to) = (at + 4, at + 2 + usize::from(u16::from_be_bytes([high, low])));
        at = to;
        Some((marker, from, to))
    })
}

const START_OF_SCAN: u8 = 0xDA;

/// Whether the picture has several passes: progressive, or not all components in the first scan.
fn keeps_coefficients(bytes: &[u8]) -> bool {
    let mut components = 0;
    for (marker, from, _) in segments(bytes) {
        match marker {
            0xC2 | 0xC6 | 0xCA | 0xCE => return true,
            0xC0 | 0xC1 => components = bytes.get(from + 5).copied().unwrap_or_default(),
            START_OF_SCAN => return bytes.get(from).is_none_or(|in_scan| *in_scan < components),
            _ => {}
        }
    }
    false
}

/// Whether an end marker follows the first scan. The decoder fills missing parts with grey.
fn has_end(bytes: &[u8]) -> bool {
    let scan = segments(bytes).find(|(marker, ..)| *marker == START_OF_SCAN);
    let Some((_, _, data)) = scan else { return false };
    bytes.get(data..).is_some_and(|data| data.windows(2).any(|pair| pair == [0xFF, 0xD9]))
}
