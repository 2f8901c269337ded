//! Converts sixteen rows of a picture to luma and subsampled chroma.

use image::RgbImage;

/// Sixteen rows, padded at the right and the bottom with the last pixels.
pub(super) struct Band {
    /// Units of 16 x 16 pixels in a row.
    units: usize,
    /// 16 rows.
    luma: Vec<f32>,
    /// Chroma, 8 rows each of half the width.
    blue: Vec<f32>,
    red: Vec<f32>,
}

impl Band {
    pub(super) fn new(picture: &RgbImage) -> Self {
        let units = picture.width().div_ceil(16) as usize;
        Self { units, luma: vec![0.0; units * 256], blue: vec![0.0; units * 64], red: vec![0.0; units * 64] }
    }

    pub(super) fn units(&self) -> usize {
        self.units
    }

    /// Reads the rows from `top` on.
    pub(super) fn read(&mut self, picture: &RgbImage, top: u32) {
        let (width, last) = (picture.width() as usize, picture.height() - 1);
        let row = |at: u32| {
            let from = (top + at).min(last) as usize * width * 3;
            &picture.as_raw()[from..from + width * 3]
        };
        let wide = self.units * 16;
        for pair in 0..8 {
            let (upper, lower) = (row(pair * 2), row(pair * 2 + 1));
            let at = pair as usize;
            read_luma(upper, &mut self.luma[at * 2 * wide..][..wide]);
            read_luma(lower, &mut self.luma[(at * 2 + 1) * wide..][..wide]);
            let half = at * wide / 2..(at + 1) * wide / 2;
            read_colours(upper, lower, &mut self.blue[half.clone()], &mut self.red[half]);
        }
    }

    /// One of the four luma blocks of a unit.
    pub(super) fn luma(&self, unit: usize, part: usize) -> [[f32; 8]; 8] {
        block(&self.luma, self.units * 16, unit * 16 + part % 2 * 8, part / 2 * 8)
    }

    pub(super) fn blue(&self, unit: usize) -> [[f32; 8]; 8] {
        block(&self.blue, self.units * 8, unit * 8, 0)
    }

    pub(super) fn red(&self, unit: usize) -> [[f32; 8]; 8] {
        block(&self.red, self.units * 8, unit * 8, 0)
    }
}

#[inline]
fn block(plane: &[f32], stride: usize, left: usize, top: usize) -> [[f32; 8]; 8] {
    let mut block = [[0.0; 8]; 8];
    for (at, row) in block.iter_mut().enumerate() {
        row.copy_from_slice(&plane[(top + at) * stride + left..][..8]);
    }
    block
}

fn read_luma(row: &[u8], luma: &mut [f32]) {
    let mut filled = 0;
    for (to, pixel) in luma.iter_mut().zip(row.chunks_exact(3)) {
        let [red, green, blue] = [pixel[0], pixel[1], pixel[2]].map(f32::from);
        *to = 0.299 * red + 0.587 * green + 0.114 * blue - 128.0;
        filled += 1;
    }
    fill(luma, filled);
}

/// Averages four pixels.
fn read_colours(upper: &[u8], lower: &[u8], blues: &mut [f32], reds: &mut [f32]) {
    let mut filled = 0;
    let pairs = upper.chunks(6).zip(lower.chunks(6));
    for ((to_blue, to_red), (upper, lower)) in blues.iter_mut().zip(reds.iter_mut()).zip(pairs) {
        // The last pixel of an odd row stands for its missing neighbour.
        let right = upper.len() - 3;
        let sum = |at: usize| {
            let four = [upper[at], upper[right + at], lower[at], lower[right + at]].map(u32::from);
            four.iter().sum::<u32>() as f32 / 4.0
        };
        let [red, green, blue] = [sum(0), sum(1), sum(2)];
        *to_blue = -0.168_735_9 * red - 0.331_264_1 * green + 0.5 * blue;
        *to_red = 0.5 * red - 0.418_687_6 * green - 0.081_312_4 * blue;
        filled += 1;
    }
    fill(blues, filled);
    fill(reds, filled);
}

fn fill(row: &mut [f32], filled: usize) {
    let last = row[filled.saturating_sub(1)];
    row[filled..].fill(last);
}
