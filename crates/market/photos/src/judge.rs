//! Measures of a picture: perceptual hash, sharpness, mean colour.

use image::{GrayImage, RgbImage};

/// A difference hash: whether each of 8 x 8 pixels is brighter than its right neighbour.
///
/// `thumb` is the picture at 9 x 8 pixels.
pub(crate) fn look(thumb: &GrayImage) -> u64 {
    let mut bits = 0;
    for y in 0..8 {
        for x in 0..8 {
            let is_brighter = thumb.get_pixel(x, y).0 > thumb.get_pixel(x + 1, y).0;
            bits = bits << 1 | u64::from(is_brighter);
        }
    }
    bits
}

/// The variance of the second derivative: large for sharp edges, small for blur.
pub(crate) fn sharpness(grey: &GrayImage) -> f64 {
    let (width, height) = (grey.width() as usize, grey.height() as usize);
    if width < 3 || height < 3 {
        return 0.0;
    }
    let (mut sum, mut squares) = (0_i64, 0_i64);
    let rows = grey.as_raw();
    for y in 1..height - 1 {
        let above = &rows[(y - 1) * width..y * width];
        let row = &rows[y * width..(y + 1) * width];
        let below = &rows[(y + 1) * width..(y + 2) * width];
        for x in 1..width - 1 {
            let around =
                i64::from(above[x]) + i64::from(below[x]) + i64::from(row[x - 1]) + i64::from(row[x + 1]);
            let value = around - 4 * i64::from(row[x]);
            sum += value;
            squares += value * value;
        }
    }
    let count = ((width - 2) * (height - 2)) as f64;
    let mean = sum as f64 / count;
    squares as f64 / count - mean * mean
}

/// Luma.
pub(crate) fn grey(rgb: &RgbImage) -> GrayImage {
    let mut grey = GrayImage::new(rgb.width(), rgb.height());
    for (to, from) in grey.pixels_mut().zip(rgb.pixels()) {
        let [red, green, blue] = from.0.map(u32::from);
        to.0 = [((77 * red + 150 * green + 29 * blue + 128) >> 8) as u8];
    }
    grey
}

/// The mean colour, `#rrggbb`.
pub(crate) fn colour(rgb: &RgbImage) -> String {
    let count = u64::from(rgb.width()) * u64::from(rgb.height());
    let mut sums = [0_u64; 3];
    for pixel in rgb.pixels() {
        for (sum, value) in sums.iter_mut().zip(pixel.0) {
            *sum += u64::from(value);
        }
    }
    let [red, green, blue] = sums.map(|sum| sum / count.max(1));
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blur_makes_a_picture_less_sharp() {
        let sharp = GrayImage::from_fn(100, 100, |x, y| {
            image::Luma([if (x / 7 + y / 5) % 2 == 0 { 30 } else { 220 }])
        });
        let blurred = image::imageops::blur(&sharp, 2.0);
        let flat = GrayImage::from_pixel(100, 100, image::Luma([90]));
        assert!(sharpness(&sharp) > 10.0 * sharpness(&blurred));
        assert!(sharpness(&blurred) > sharpness(&flat));
        assert!(sharpness(&flat).abs() < 1e-9);
    }

    #[test]
    fn the_mean_colour_is_the_mean() {
        let half =
            RgbImage::from_fn(10, 10, |x, _| image::Rgb(if x < 5 { [255, 0, 10] } else { [1, 0, 20] }));
        assert_eq!(colour(&half), "#80000f");
    }
}
