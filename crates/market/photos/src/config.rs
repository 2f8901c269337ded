//! Configuration of downloads and sizes.

use std::time::Duration;

use crate::limits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The long sides of the files in pixels. Photos are never enlarged.
    pub sizes: Vec<u32>,
    /// From 1 to 100.
    pub quality: u8,
    pub bytes_max: u64,
    pub download_time_max: Duration,
    /// Width times height.
    pub pixels_max: u64,
    /// Concurrent downloads. Memory for this many times [`bytes_max`](Self::bytes_max) may be in
    /// use.
    pub downloads_max: usize,
    /// Concurrent downloads from one host. Waiting for a host does not occupy one of
    /// `downloads_max`.
    pub downloads_per_host_max: usize,
    /// Pictures that are processed concurrently; zero: the number of processors.
    pub workers: usize,
    /// Memory for all pictures in work.
    pub memory_bytes: u64,
    /// Attempts before a temporary error counts as permanent.
    pub tries_max: u32,
    /// The pause after the first failure; it doubles.
    pub retry_first: Duration,
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
    /// A short hash of the settings: the same photo with the same recipe gives the same files.
    #[must_use]
    pub fn recipe(&self) -> String {
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable();
        let all = format!("{} {} {sizes:?}", limits::RECIPE, self.quality);
        blake3::hash(all.as_bytes()).to_hex()[..8].to_owned()
    }

    /// The sizes without zero and duplicates, the largest first.
    pub(crate) fn sides(&self) -> Vec<u32> {
        let mut sides: Vec<u32> = self.sizes.iter().copied().filter(|side| *side > 0).collect();
        sides.sort_unstable_by(|a, b| b.cmp(a));
        sides.dedup();
        sides
    }
}
