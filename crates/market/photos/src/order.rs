//! The display order of photos.

use crate::limits::SAME_PHOTO_BITS;
use crate::record::Photo;

pub trait PhotoOrder: Send + Sync {
    /// A permutation of the positions of `photos` in display order.
    fn order(&self, photos: &[Photo]) -> Vec<usize>;
}

/// Sharp photos before blurred ones, large before small; near-duplicates of better photos at the
/// end. Equally good photos keep the seller's order.
#[derive(Clone, Copy, Debug)]
pub struct BestFirst {
    /// Photos are near-duplicates if their hashes differ in at most this many bits.
    pub same_photo_bits: u32,
}

impl Default for BestFirst {
    fn default() -> Self {
        Self { same_photo_bits: SAME_PHOTO_BITS }
    }
}

impl PhotoOrder for BestFirst {
    fn order(&self, photos: &[Photo]) -> Vec<usize> {
        let mut best: Vec<usize> = (0..photos.len()).collect();
        best.sort_by(|a, b| score(&photos[*b]).total_cmp(&score(&photos[*a])));
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for position in best {
            let is_same = |other: &usize| photos[position].distance(&photos[*other]) <= self.same_photo_bits;
            if first.iter().any(is_same) { last.push(position) } else { first.push(position) }
        }
        first.append(&mut last);
        first
    }
}

/// Sharpness and size count logarithmically, up to where differences become invisible.
fn score(photo: &Photo) -> f64 {
    const SHARP_ENOUGH: f64 = 2000.0;
    const LARGE_ENOUGH: f64 = 4_000_000.0;
    let pixels = f64::from(photo.width) * f64::from(photo.height);
    let steps = photo.sharpness.clamp(1.0, SHARP_ENOUGH).log2() + pixels.clamp(1.0, LARGE_ENOUGH).log2();
    // Small differences are noise.
    steps.round()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn photo(look: u64, sharpness: f64, width: u32) -> Photo {
        Photo {
            hash: String::new(),
            width,
            height: width * 3 / 4,
            bytes: 0,
            kind: "JPEG".to_owned(),
            sizes: Vec::new(),
            recipe: String::new(),
            look,
            sharpness,
            colour: "#000000".to_owned(),
            taken_ms: 0,
        }
    }

    #[test]
    fn sharp_and_large_photos_come_first_and_copies_last() {
        let photos = [
            photo(0xF0F0, 5.0, 2000),
            photo(0xFFFF_0000, 900.0, 2000),
            photo(0xFFFF_0001, 900.0, 600),
            photo(0x00FF_0000_0000, 900.0, 600),
            photo(0xAAAA_0000_0000_0000, 910.0, 2010),
        ];
        assert_eq!(BestFirst::default().order(&photos), [1, 4, 3, 0, 2]);
        assert!(BestFirst::default().order(&[]).is_empty());
    }

    #[test]
    fn equally_good_photos_keep_their_order() {
        let photos = [photo(0xFF, 500.0, 1000), photo(0xFF00, 501.0, 1000), photo(0xFF_0000, 499.0, 1001)];
        assert_eq!(BestFirst::default().order(&photos), [0, 1, 2]);
    }
}
