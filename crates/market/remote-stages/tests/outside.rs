//! Outside stages over real connections.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

#[path = "outside/common.rs"]
mod common;
#[path = "outside/plugins.rs"]
mod plugins;
#[path = "outside/tls.rs"]
mod tls;
#[path = "outside/workshop.rs"]
mod workshop;
