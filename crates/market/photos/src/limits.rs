//! Every limit and default of the crate, in one place.

use std::time::Duration;

/// The long sides of the sizes that are made by default, in pixels.
pub const SIZES: [u32; 4] = [1600, 800, 320, 120];
/// The quality of the files by default, from 1 to 100.
pub const QUALITY: u8 = 82;
/// Bytes of one download, by default.
pub const BYTES_MAX: u64 = 24 * 1024 * 1024;
/// Time for one download, by default.
pub const DOWNLOAD_TIME_MAX: Duration = Duration::from_secs(60);
/// Pixels of one picture, by default.
pub const PIXELS_MAX: u64 = 50_000_000;
/// Pixels of one side.
pub const SIDE_MAX: u32 = 16_384;
/// Pixels of the shorter side: less is a counting pixel, not a photo.
pub const SIDE_MIN: u32 = 16;
/// Bytes for pictures that are being worked on, all together, by default.
pub const MEMORY_BYTES: u64 = 640 * 1024 * 1024;
/// What memory is reserved in.
pub const MEMORY_UNIT_BYTES: u64 = 64 * 1024;
/// Downloads at a time, by default.
pub const DOWNLOADS_MAX: usize = 16;
/// Downloads from one host at a time, by default.
pub const DOWNLOADS_PER_HOST_MAX: usize = 4;
/// Times that a passing error is tried, by default.
pub const TRIES_MAX: u32 = 8;
/// The pause after the first failure, by default.
pub const RETRY_FIRST: Duration = Duration::from_secs(60);
/// The longest pause, by default.
pub const RETRY_MAX: Duration = Duration::from_secs(24 * 3600);
/// Scans of a progressive JPEG: each costs time for the whole picture.
pub const JPEG_SCANS_MAX: usize = 100;
/// Shards of the tables.
pub const SHARDS: u32 = 64;
/// Bytes of a message or URL that a row keeps.
pub const TEXT_BYTES_MAX: usize = 4096;
/// Times that a commit is tried because others came between.
pub const ATTEMPTS_MAX: u32 = 10;
/// Rows of a page of errors.
pub const PAGE_MAX: usize = 1000;
/// The long side of the picture by which sharpness is judged.
pub const SHARPNESS_SIDE: u32 = 800;
/// Bits in which the perceptual hashes of two photos of the same thing differ at most.
pub const SAME_PHOTO_BITS: u32 = 6;
/// The version of how files are made. Raise it whenever the same photo would become other bytes: names of files hold it.
pub const RECIPE: u32 = 1;
/// How long a file may be kept by caches: a year.
pub const CACHE_SECONDS: u32 = 31_536_000;
/// Photos whose files are looked for at the same time.
pub const SURVEYED_FILES_AT_ONCE: usize = 8;
/// Times that a look at what speaks S3 is tried again: whoever looks wants to know why it does not answer.
pub const LOOK_RETRIES_MAX: usize = 1;
/// For how long it is tried again.
pub const LOOK_RETRY_TIME_MAX: Duration = Duration::from_secs(3);
