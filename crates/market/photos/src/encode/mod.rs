//! A baseline JPEG encoder with 4:2:0 chroma subsampling, by ITU-T T.81.
//!
//! The pure Rust encoders are three times slower or have a licence that Torg does not accept.

mod bits;
mod planes;
mod tables;
mod transform;

use image::RgbImage;

use bits::{BitWriter, Code};
use planes::Band;
use tables::{AC_CHROMA, AC_LUMA, CHROMA, DC_CHROMA, DC_LUMA, HuffmanTable, LUMA, ZIGZAG, scaled};
use transform::Quantizer;

/// Encodes without metadata. Sides have 1 to 65535 pixels; the quality is from 1 to 100.
pub(crate) fn jpeg(picture: &RgbImage, quality: u8) -> Vec<u8> {
    let (luma, chroma) = (scaled(&LUMA, quality), scaled(&CHROMA, quality));
    let mut file = Vec::with_capacity(picture.as_raw().len() / 12 + 1024);
    write_head(&mut file, picture.width() as u16, picture.height() as u16, &luma, &chroma);
    let mut bits = BitWriter::new(file);
    let mut components = [
        Component::new(&luma, &DC_LUMA, &AC_LUMA),
        Component::new(&chroma, &DC_CHROMA, &AC_CHROMA),
        Component::new(&chroma, &DC_CHROMA, &AC_CHROMA),
    ];
    let mut band = Band::new(picture);
    for row in 0..picture.height().div_ceil(16) {
        band.read(picture, row * 16);
        for column in 0..band.units() {
            for part in 0..4 {
                components[0].write(&mut bits, &band.luma(column, part));
            }
            components[1].write(&mut bits, &band.blue(column));
            components[2].write(&mut bits, &band.red(column));
        }
    }
    let mut file = bits.finish();
    file.extend_from_slice(&[0xFF, 0xD9]);
    file
}

/// The encoder of one component.
struct Component {
    quantizer: Quantizer,
    dc: [Code; 256],
    ac: [Code; 256],
    /// The mean of the previous block: differences are written.
    last_mean: i32,
}

impl Component {
    fn new(table: &[u8; 64], dc: &HuffmanTable, ac: &HuffmanTable) -> Self {
        Self { quantizer: Quantizer::new(table), dc: dc.codes(), ac: ac.codes(), last_mean: 0 }
    }

    fn write(&mut self, bits: &mut BitWriter, block: &[[f32; 8]; 8]) {
        let values = self.quantizer.apply(block);
        let mean = values[0];
        bits.put_value(&self.dc, 0, mean - self.last_mean);
        self.last_mean = mean;
        let mut present = (1..64).fold(0_u64, |mask, at| mask | u64::from(values[at] != 0) << at);
        let mut next = 1;
        while present != 0 {
            let at = present.trailing_zeros();
            let mut zeros = at - next;
            while zeros > 15 {
                bits.put(self.ac[0xF0]);
                zeros -= 16;
            }
            bits.put_value(&self.ac, zeros, values[at as usize]);
            next = at + 1;
            present &= present - 1;
        }
        if next < 64 {
            bits.put(self.ac[0x00]);
        }
    }
}

fn write_head(file: &mut Vec<u8>, width: u16, height: u16, luma: &[u8; 64], chroma: &[u8; 64]) {
    file.extend_from_slice(&[0xFF, 0xD8]);
    segment(file, 0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0");
    for (id, table) in [(0, luma), (1, chroma)] {
        let mut content = vec![id];
        content.extend(ZIGZAG.iter().map(|at| table[usize::from(*at)]));
        segment(file, 0xDB, &content);
    }
    let [h1, h0] = height.to_be_bytes();
    let [w1, w0] = width.to_be_bytes();
    segment(file, 0xC0, &[8, h1, h0, w1, w0, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
    for (id, table) in [(0x00, &DC_LUMA), (0x10, &AC_LUMA), (0x01, &DC_CHROMA), (0x11, &AC_CHROMA)] {
        let mut content = vec![id];
        content.extend_from_slice(&table.lengths);
        content.extend_from_slice(table.symbols);
        segment(file, 0xC4, &content);
    }
    segment(file, 0xDA, &[3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0]);
}

fn segment(file: &mut Vec<u8>, marker: u8, content: &[u8]) {
    file.extend_from_slice(&[0xFF, marker]);
    file.extend_from_slice(&(content.len() as u16 + 2).to_be_bytes());
    file.extend_from_slice(content);
}

#[cfg(test)]
mod tests {
    use image::Rgb;
    use zune_core::bytestream::ZCursor;

    use super::*;

    fn scene(width: u32, height: u32) -> RgbImage {
        RgbImage::from_fn(width, height, |x, y| {
            let wave = ((x as f32 / 9.0).sin() * 40.0 + (y as f32 / 13.0).cos() * 30.0) as i32;
            let edge = if (x / 24 + y / 32) % 2 == 0 { 60 } else { 0 };
            let value = |base: i32| (base + wave + edge).clamp(0, 255) as u8;
            Rgb([value(90), value(110 + x as i32 % 40), value(60)])
        })
    }

    /// The mean squared difference of two pictures.
    fn difference(a: &[u8], b: &[u8]) -> f64 {
        assert_eq!(a.len(), b.len());
        let sum: i64 = a.iter().zip(b).map(|(a, b)| (i64::from(*a) - i64::from(*b)).pow(2)).sum();
        sum as f64 / a.len() as f64
    }

    #[test]
    fn what_is_written_is_read_the_same_at_every_size_and_quality() {
        for (width, height) in [(1, 1), (7, 5), (16, 16), (17, 33), (160, 120), (333, 97)] {
            let picture = scene(width, height);
            let mut last = f64::MAX;
            for (quality, most) in [(40, 260.0), (82, 120.0), (100, 60.0)] {
                let file = jpeg(&picture, quality);
                let mut decoder = zune_jpeg::JpegDecoder::new(ZCursor::new(&file[..]));
                let read = decoder.decode().unwrap();
                assert_eq!(
                    decoder.info().map(|info| (info.width.into(), info.height.into())),
                    Some((width, height))
                );
                let difference = difference(picture.as_raw(), &read);
                assert!(difference < most, "{width} x {height} at {quality}: {difference}");
                assert!(
                    difference <= last * 1.2 + 1.0,
                    "better quality is not worse: {difference} after {last}"
                );
                last = difference;
            }
        }
    }

    #[test]
    fn flat_colours_come_back_exactly_enough() {
        for colour in [[255, 255, 255], [0, 0, 0], [200, 30, 60], [10, 200, 90], [128, 128, 128]] {
            let picture = RgbImage::from_pixel(40, 24, Rgb(colour));
            let file = jpeg(&picture, 90);
            let read = zune_jpeg::JpegDecoder::new(ZCursor::new(&file[..])).decode().unwrap();
            assert!(difference(picture.as_raw(), &read) < 6.0, "{colour:?}");
        }
    }

    #[test]
    fn noise_of_full_strength_is_written_whole() {
        let mut state = 1_u32;
        let picture = RgbImage::from_fn(64, 64, |_, _| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Rgb(if state >> 31 == 0 { [0, 0, 0] } else { [255, 255, 255] })
        });
        let file = jpeg(&picture, 100);
        let read = zune_jpeg::JpegDecoder::new(ZCursor::new(&file[..])).decode().unwrap();
        assert!(difference(picture.as_raw(), &read) < 20.0);
    }
}
