//! How photos are taken and made.

use std::time::Duration;

use crate::limits;

/// Every value has a default that is right for a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The long sides of the files that are made, in pixels. A photo is never made larger than it is.
    pub sizes: Vec<u32>,
    /// The quality of the files, from 1 to 100.
    pub quality: u8,
    /// Bytes of one download.
    pub bytes_max: u64,
    /// Time for one download.
    pub download_time_max: Duration,
    /// Pixels of one picture.
    pub pixels_max: u64,
    /// Downloads at a time. So many times [`bytes_max`](Self::bytes_max) may be held in memory.
    pub downloads_max: usize,
    /// Downloads from one host at a time. What waits for its host takes no place of others.
    pub downloads_per_host_max: usize,
    /// Pictures that are worked on at a time; zero: as many as there are processors.
    pub workers: usize,
    /// Bytes for pictures that are being worked on, all together.
    pub memory_bytes: u64,
    /// Times that a passing error is tried before it counts as lasting.
    pub tries_max: u32,
    /// The pause after the first failure; each further one is twice as long.
    pub retry_first: Duration,
    /// The longest pause.
    pub retry_max: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            sizes: limits::SIZES.to_vec(),
            quality: limits::QUALITY,
            bytes_max: limits::BYTES_MAX,
            download_time_max: limits::DOWNLOAD_TIME_MAX,
            pixels_max: limits::PIXELS_MAX,
            downloads_max: limits::DOWNLOADS_MAX,
            downloads_per_host_max: limits::DOWNLOADS_PER_HOST_MAX,
            workers: 0,
            memory_bytes: limits::MEMORY_BYTES,
            tries_max: limits::TRIES_MAX,
            retry_first: limits::RETRY_FIRST,
            retry_max: limits::RETRY_MAX,
        }
    }
}

impl Config {
    /// How files are made, in eight letters: the same photo made by the same recipe becomes the same files.
    #[must_use]
    pub fn recipe(&self) -> String {
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable();
        let all = format!("{} {} {sizes:?}", limits::RECIPE, self.quality);
        blake3::hash(all.as_bytes()).to_hex()[..8].to_owned()
    }

    /// The sizes, largest first, each once, none of them zero.
    pub(crate) fn sides(&self) -> Vec<u32> {
        let mut sides: Vec<u32> = self.sizes.iter().copied().filter(|side| *side > 0).collect();
        sides.sort_unstable_by(|a, b| b.cmp(a));
        sides.dedup();
        sides
    }
}
