//! The part of Torg's contract that an outside stage needs, generated from `proto/`.
//!
//! The crate `wire` has the rest and re-exports this one under the same paths.

extern crate self as wire_stages;

pub mod rpc;

#[allow(unreachable_pub, dead_code, unused_imports, clippy::all, clippy::pedantic, reason = "generated")]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/wire.rs"));
}

pub use generated::torg;
