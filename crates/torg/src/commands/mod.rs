//! Commands that do one thing and end: one file each.

pub(crate) mod keys;
mod remote;
pub(crate) mod store;
pub(crate) mod topic;
mod topic_server;

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}
