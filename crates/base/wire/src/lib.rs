//! The public contract of Torg: messages and services, generated from `proto/`.
//!
//! Stored values are messages of the contract too, so that an earlier version keeps the fields that
//! a later one adds. What outside stages need is compiled in `wire-stages` and re-exported here.

#[allow(unreachable_pub, dead_code, unused_imports, clippy::all, clippy::pedantic, reason = "generated")]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/wire.rs"));
}

pub use generated::{google, torg};
#[doc(inline)]
pub use wire_stages::rpc;

/// The descriptors of all proto files.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/all.bin"));

/// The descriptors of the services that a Torg process serves, for reflection and for checks of
/// JSON.
pub const SERVED_DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/served.bin"));
