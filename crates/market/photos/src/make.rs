//! Makes the sizes of a photo; synchronous.

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8x3;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};
use fetch::Kind;
use image::metadata::Orientation;
use image::{DynamicImage, RgbImage};

use crate::config::Config;
use crate::decode::{self, Head, Picture};
use crate::error::Refusal;
use crate::limits::SHARPNESS_SIDE;
use crate::{encode, judge};

/// A photo in its sizes, before it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// Of the downloaded file.
    pub kind: Kind,
    /// After rotation.
    pub width: u32,
    /// After rotation.
    pub height: u32,
    /// The largest first.
    pub sizes: Vec<MadeSize>,
    /// As in [`Photo::look`](crate::Photo::look).
    pub look: u64,
    /// As in [`Photo::sharpness`](crate::Photo::sharpness).
    pub sharpness: f64,
    /// As in [`Photo::colour`](crate::Photo::colour).
    pub colour: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeSize {
    /// The configured long sides that use this file: several if the photo is smaller than them.
    pub sides: Vec<u32>,
    pub width: u32,
    pub height: u32,
    /// A JPEG without metadata.
    pub file: Vec<u8>,
}

/// The size of the picture for the perceptual hash.
const LOOK_WIDTH: u32 = 9;
const LOOK_HEIGHT: u32 = 8;

/// The maximal memory of [`make`] in addition to the file.
pub(crate) fn memory_bytes(head: &Head, config: &Config) -> u64 {
    let largest = config.sides().first().copied().unwrap_or_default();
    let (width, height) = fit(head.width, head.height, largest);
    // Between the two passes of a resize; then the result, its rotated copy, the next size, grey
    // versions and files.
    let between = u64::from(width) * u64::from(head.height) * 3;
    let results = u64::from(width) * u64::from(height) * 3 * 5;
    head.decode_bytes + between + results
}

/// Decodes and measures a photo and makes its sizes.
pub(crate) fn make(bytes: &[u8], head: &Head, config: &Config) -> Result<Made, Refusal> {
    let picture = decode::picture(bytes, head)?;
    let orientation = picture.orientation;
    let mut resizer = Resizer::new();
    let steps = plan(head.width, head.height, &config.sides());
    let pictures = cascade(&mut resizer, picture, &steps)?;
    let (Some(largest), Some(smallest)) = (pictures.first(), pictures.last()) else {
        return Err(Refusal::Damaged("no sizes are configured".to_owned()));
    };
    let is_large = |picture: &&RgbImage| picture.width().max(picture.height()) >= SHARPNESS_SIDE;
    let judged = pictures.iter().rev().find(is_large).unwrap_or(largest);
    let thumb = shrink(&mut resizer, smallest, LOOK_WIDTH, LOOK_HEIGHT)?;
    let (width, height) = turned(head.width, head.height, orientation);
    Ok(Made {
        kind: head.kind,
        width,
        height,
        sizes: pictures.iter().zip(steps).map(|(picture, step)| finish(picture, step, config)).collect(),
        look: judge::look(&judge::grey(&thumb)),
        sharpness: judge::sharpness(&judge::grey(judged)),
        colour: judge::colour(smallest),
    })
}

/// A planned file: the configured sides that use it, and its size before rotation.
struct Step {
    sides: Vec<u32>,
    width: u32,
    height: u32,
}

/// The planned files, the largest first. Sides above the picture's own share one file.
fn plan(width: u32, height: u32, sides: &[u32]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for side in sides {
        let (width, height) = fit(width, height, *side);
        match steps.last_mut() {
            Some(last) if (last.width, last.height) == (width, height) => last.sides.push(*side),
            _ => steps.push(Step { sides: vec![*side], width, height }),
        }
    }
    steps
}

/// Makes each picture from the next larger one, which is faster and looks the same. Only the
/// largest one is rotated.
fn cascade(resizer: &mut Resizer, picture: Picture, steps: &[Step]) -> Result<Vec<RgbImage>, Refusal> {
    let Some(first) = steps.first() else { return Ok(Vec::new()) };
    let largest = if picture.pixels.dimensions() == (first.width, first.height) {
        picture.pixels
    } else {
        let largest = shrink(resizer, &picture.pixels, first.width, first.height)?;
        drop(picture.pixels);
        largest
    };
    let mut turning = DynamicImage::ImageRgb8(largest);
    turning.apply_orientation(picture.orientation);
    let mut pictures = vec![turning.into_rgb8()];
    for step in &steps[1..] {
        let (width, height) = turned(step.width, step.height, picture.orientation);
        let smaller = shrink(resizer, &pictures[pictures.len() - 1], width, height)?;
        pictures.push(smaller);
    }
    Ok(pictures)
}

fn finish(picture: &RgbImage, step: Step, config: &Config) -> MadeSize {
    let file = encode::jpeg(picture, config.quality);
    MadeSize { sides: step.sides, width: picture.width(), height: picture.height(), file }
}

/// Scales down so that the long side is `side`; a smaller picture keeps its size.
fn fit(width: u32, height: u32, side: u32) -> (u32, u32) {
    let long = width.max(height);
    if long <= side {
        return (width, height);
    }
    let scale = |length: u32| {
        let rounded = (u64::from(length) * u64::from(side) + u64::from(long) / 2) / u64::from(long);
        (rounded as u32).max(1)
    };
    (scale(width), scale(height))
}

/// Width and height after rotation.
fn turned(width: u32, height: u32, orientation: Orientation) -> (u32, u32) {
    match orientation {
        Orientation::Rotate90
        | Orientation::Rotate270
        | Orientation::Rotate90FlipH
        | Orientation::Rotate270FlipH => (height, width),
        _ => (width, height),
    }
}

fn shrink(resizer: &mut Resizer, from: &RgbImage, width: u32, height: u32) -> Result<RgbImage, Refusal> {
    let failed = |error: &dyn std::fmt::Display| Refusal::Damaged(error.to_string());
    // Typed, so that one pixel format is compiled and not thirteen.
    let source = TypedImageRef::<U8x3>::from_buffer(from.width(), from.height(), from.as_raw())
        .map_err(|error| failed(&error))?;
    let mut result = RgbImage::new(width, height);
    let mut target =
        TypedImage::<U8x3>::from_buffer(width, height, &mut result).map_err(|error| failed(&error))?;
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3));
    resizer.resize_typed(&source, &mut target, &options).map_err(|error| failed(&error))?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_the_shape_and_are_never_larger_than_the_picture() {
        assert_eq!(fit(4000, 3000, 1600), (1600, 1200));
        assert_eq!(fit(3000, 4000, 120), (90, 120));
        assert_eq!(fit(10_000, 20, 100), (100, 1));
        assert_eq!(fit(100, 80, 1600), (100, 80));
        let steps = plan(500, 400, &[1600, 800, 320, 120]);
        let told: Vec<_> = steps.iter().map(|step| (step.sides.clone(), step.width, step.height)).collect();
        assert_eq!(told, [(vec![1600, 800], 500, 400), (vec![320], 320, 256), (vec![120], 120, 96)]);
    }
}
