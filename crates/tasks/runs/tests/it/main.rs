//! Runs with real processes and real connections.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod commands;
mod common;
mod grpc;
mod http;
mod limits;
mod restarts;
mod secured;
mod server;
