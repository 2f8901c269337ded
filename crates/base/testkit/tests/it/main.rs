//! The services that tests get: what they promise, on real servers.

mod kafka;
mod ports;
mod postgres;
