//! PNG, WebP and GIF; the first frame of animations.

use std::io::Cursor;

use fetch::Kind;
use image::codecs::gif::GifDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, Limits, Rgb, RgbImage, RgbaImage};

use super::{Head, Picture, damaged};
use crate::error::Refusal;

/// Memory by pixel that decoders use in addition to the result: a second frame, indexes, rows.
const WORK_BYTES: u64 = 8;
const RGB_BYTES: u64 = 3;

/// Unpacked metadata: a colour profile can be a decompression bomb too.
const METADATA_BYTES: u64 = 4 * 1024 * 1024;

type Decoder<'a> = Box<dyn ImageDecoder + 'a>;

pub(super) fn head(kind: Kind, bytes: &[u8]) -> Result<Head, Refusal> {
    let decoder = open(kind, bytes, METADATA_BYTES)?;
    let (width, height) = decoder.dimensions();
    let by_pixel = u64::from(decoder.color_type().bytes_per_pixel()) + WORK_BYTES + RGB_BYTES;
    let decode_bytes = u64::from(width) * u64::from(height) * by_pixel + METADATA_BYTES;
    Ok(Head { kind, width, height, decode_bytes })
}

pub(super) fn picture(kind: Kind, bytes: &[u8], head: &Head) -> Result<Picture, Refusal> {
    let mut decoder = open(kind, bytes, head.decode_bytes)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let pixels = DynamicImage::from_decoder(decoder).map_err(told)?;
    let pixels = match pixels {
        DynamicImage::ImageRgb8(rgb) => rgb,
        other if other.color().has_alpha() => on_white(&other.into_rgba8()),
        other => other.into_rgb8(),
    };
    Ok(Picture { pixels, orientation })
}

fn open(kind: Kind, bytes: &[u8], bytes_max: u64) -> Result<Decoder<'_>, Refusal> {
    let input = Cursor::new(bytes);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(bytes_max);
    let mut decoder: Decoder<'_> = match kind {
        Kind::Png => return Ok(Box::new(PngDecoder::with_limits(input, limits).map_err(told)?)),
        Kind::WebP => Box::new(WebPDecoder::new(input).map_err(told)?),
        Kind::Gif => Box::new(GifDecoder::new(input).map_err(told)?),
        other => return Err(Refusal::Kind(other)),
    };
    decoder.set_limits(limits).map_err(told)?;
    Ok(decoder)
}

fn told(error: image::ImageError) -> Refusal {
    let is_end = |io: &std::io::Error| io.kind() == std::io::ErrorKind::UnexpectedEof;
    let mut cause = std::error::Error::source(&error);
    let mut ends_early = matches!(&error, image::ImageError::IoError(io) if is_end(io));
    while let Some(one) = cause {
        ends_early |= one.downcast_ref::<std::io::Error>().is_some_and(is_end);
        cause = one.source();
    }
    if ends_early { Refusal::Truncated } else { damaged(error) }
}

/// Blends transparent pixels with white.
fn on_white(rgba: &RgbaImage) -> RgbImage {
    let mut rgb = RgbImage::new(rgba.width(), rgba.height());
    for (to, from) in rgb.pixels_mut().zip(rgba.pixels()) {
        let [red, green, blue, alpha] = from.0.map(u16::from);
        let mix = |colour: u16| ((colour * alpha + 255 * (255 - alpha) + 127) / 255) as u8;
        *to = Rgb([mix(red), mix(green), mix(blue)]);
    }
    rgb
}
