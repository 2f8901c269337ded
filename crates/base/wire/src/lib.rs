//! The public contract of Torg: messages and services, generated from `proto/`.
//!
//! Values that are stored are messages of the contract too, so that fields which a later version adds are kept by an earlier one.

#![allow(missing_docs, unreachable_pub, dead_code, clippy::all, clippy::pedantic, reason = "generated")]

connectrpc::include_generated!();

/// Every `.proto` file of the contract, for reflection and for checks of JSON.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
