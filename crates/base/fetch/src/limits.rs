//! Every limit and default of the crate, in one place.

use std::time::Duration;

/// Longest URL.
pub const URL_BYTES_MAX: usize = 4096;
/// Redirects that are followed by default.
pub const REDIRECTS_MAX: u32 = 5;
/// Ports that may be asked by default.
pub const PORTS: [u16; 4] = [80, 443, 8080, 8443];
/// Bytes of an answer's head: its status line and headers.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Headers of an answer.
pub const HEADERS_MAX: usize = 128;
/// Addresses of one name that are tried.
pub const ADDRESSES_TRIED_MAX: usize = 4;
/// Addresses of one name that are looked at.
pub const ADDRESSES_MAX: usize = 64;
/// Bytes as they come over the wire, by default.
pub const BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes after unpacking, by default.
pub const UNPACKED_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How many times larger the unpacked body may be than the packed one, by default.
pub const RATIO_MAX: u64 = 100;
/// Below this many unpacked bytes the ratio does not matter: small texts of blanks are no attack.
pub const RATIO_FREE_BYTES: u64 = 1024 * 1024;
/// Packed bytes that are unpacked at a time: 1032 times as many may come out.
pub const UNPACK_STEP_BYTES: usize = 1024;
/// Bytes by which the type of a body is told.
pub const SNIFF_BYTES: usize = 512;
/// Time for looking up the name, connecting and the TLS handshake, by default.
pub const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Time from the request to the head of the answer, by default.
pub const FIRST_BYTE_TIME_MAX: Duration = Duration::from_secs(20);
/// Time for everything, redirects and body included, by default.
pub const TOTAL_TIME_MAX: Duration = Duration::from_secs(120);
/// Slowest speed that is waited for, by default, in bytes a second.
pub const SPEED_MIN: u64 = 1024;
/// The time over which the speed is taken, by default.
pub const SPEED_WINDOW: Duration = Duration::from_secs(10);
/// Longest tag or date of an answer that is kept for the next request.
pub const VALIDATOR_BYTES_MAX: usize = 512;
/// Characters of a URL that an error shows.
pub const SHOWN_URL_CHARS: usize = 300;
/// Bytes of what a proxy answers to CONNECT.
pub const PROXY_ANSWER_BYTES_MAX: usize = 8 * 1024;
