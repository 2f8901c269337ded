//! Limits and defaults.

use std::time::Duration;

/// Default long sides in pixels.
pub const SIZES: [u32; 4] = [1600, 800, 320, 120];
/// Default quality, from 1 to 100.
pub const QUALITY: u8 = 82;
/// Default size of a download.
pub const BYTES_MAX: u64 = 24 * 1024 * 1024;
/// Default time of a download.
pub const DOWNLOAD_TIME_MAX: Duration = Duration::from_secs(60);
/// Default width times height.
pub const PIXELS_MAX: u64 = 50_000_000;
/// In pixels.
pub const SIDE_MAX: u32 = 16_384;
/// The shorter side in pixels: smaller files are tracking pixels.
pub const SIDE_MIN: u32 = 16;
/// Default memory for all pictures in work.
pub const MEMORY_BYTES: u64 = 640 * 1024 * 1024;
/// The unit of reservations.
pub const MEMORY_UNIT_BYTES: u64 = 64 * 1024;
/// Default concurrent downloads.
pub const DOWNLOADS_MAX: usize = 16;
/// Default concurrent downloads from one host.
pub const DOWNLOADS_PER_HOST_MAX: usize = 4;
/// Default attempts after temporary errors.
pub const TRIES_MAX: u32 = 8;
/// Default pause after the first failure.
pub const RETRY_FIRST: Duration = Duration::from_secs(60);
/// Default maximal pause.
pub const RETRY_MAX: Duration = Duration::from_secs(24 * 3600);
/// Scans of a progressive JPEG: each costs a pass over the whole picture.
pub const JPEG_SCANS_MAX: usize = 100;
pub const SHARDS: u32 = 64;
/// Messages and URLs in rows.
pub const TEXT_BYTES_MAX: usize = 4096;
/// Attempts of a commit after conflicts.
pub const ATTEMPTS_MAX: u32 = 10;
/// Rows in a page of errors.
pub const PAGE_MAX: usize = 1000;
/// The long side of the picture whose sharpness is measured.
pub const SHARPNESS_SIDE: u32 = 800;
/// Different bits in the perceptual hashes of two photos of the same thing.
pub const SAME_PHOTO_BITS: u32 = 6;
/// Increase it when the same photo would give other bytes: file names contain it.
pub const RECIPE: u32 = 1;
/// One year.
pub const CACHE_SECONDS: u32 = 31_536_000;
/// Photos checked concurrently.
pub const SURVEYED_FILES_AT_ONCE: usize = 8;
/// Retries of a check whether S3 answers.
pub const CHECK_RETRIES_MAX: usize = 1;
pub const CHECK_RETRY_TIME_MAX: Duration = Duration::from_secs(3);
