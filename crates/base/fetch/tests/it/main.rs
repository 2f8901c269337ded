//! The client against whatever a stranger's URL may lead to.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

mod addresses;
mod amounts;
mod credentials;
mod loopback;
mod redirects;
mod world;
