//! Limits and defaults.

use std::time::Duration;

pub const URL_BYTES_MAX: usize = 4096;
pub const REDIRECTS_MAX: u32 = 5;
pub const PORTS: [u16; 4] = [80, 443, 8080, 8443];
/// Bytes of the head of an answer.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Headers of an answer.
pub const HEADERS_MAX: usize = 128;
/// Addresses of one name that are tried.
pub const ADDRESSES_TRIED_MAX: usize = 4;
/// Addresses of one name that are checked.
pub const ADDRESSES_MAX: usize = 64;
/// Received bytes.
pub const BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Decompressed bytes.
pub const UNPACKED_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Ratio of decompressed to received bytes.
pub const RATIO_MAX: u64 = 100;
/// Below this many decompressed bytes the ratio is not checked: small texts of blanks are no
/// attack.
pub const RATIO_FREE_BYTES: u64 = 1024 * 1024;
/// Compressed bytes of one step: the output is up to 1032 times as much.
pub const UNPACK_STEP_BYTES: usize = 1024;
/// Bytes for the detection of the type.
pub const SNIFF_BYTES: usize = 512;
/// Time for name resolution, connection and TLS handshake.
pub const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Time from the request to the head of the answer.
pub const FIRST_BYTE_TIME_MAX: Duration = Duration::from_secs(20);
/// Total time with redirects and body.
pub const TOTAL_TIME_MAX: Duration = Duration::from_secs(120);
/// Slowest accepted speed in bytes a second.
pub const SPEED_MIN: u64 = 1024;
/// Window of the speed.
pub const SPEED_WINDOW: Duration = Duration::from_secs(10);
/// Longest stored validator.
pub const VALIDATOR_BYTES_MAX: usize = 512;
pub const SHOWN_URL_CHARS: usize = 300;
/// Bytes of a proxy's answer to CONNECT.
pub const PROXY_ANSWER_BYTES_MAX: usize = 8 * 1024;
