//! Remote stages over real connections.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod plugins;
mod registry;
mod support;
mod tls;
