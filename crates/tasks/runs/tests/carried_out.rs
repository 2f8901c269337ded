//! Runs with real processes and real connections.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

#[path = "carried_out/commands.rs"]
mod commands;
#[path = "carried_out/common.rs"]
mod common;
#[path = "carried_out/grpc.rs"]
mod grpc;
#[path = "carried_out/http.rs"]
mod http;
#[path = "carried_out/limits.rs"]
mod limits;
#[path = "carried_out/restarts.rs"]
mod restarts;
#[path = "carried_out/secured.rs"]
mod secured;
#[path = "carried_out/server.rs"]
mod server;
