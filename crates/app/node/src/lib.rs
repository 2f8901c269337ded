//! A server process: configuration, roles, network server and monitoring.
//!
//! [`serve`] runs a process to its end. It opens what the configuration names ([`parts`]), starts
//! the work of its roles ([`roles`]) under a supervisor ([`supervisor`]), and serves HTTP and RPC
//! on one port ([`server`]). The [`environment`] holds what differs between production and the
//! demo.
#![allow(clippy::must_use_candidate, reason = "a part of the program, not a library for others")]

mod actions;
pub mod auth;
mod built_in;
pub mod catalogue;
pub mod config;
pub mod environment;
mod figures;
mod health;
pub mod logging;
mod node;
pub mod parts;
pub mod roles;
pub mod server;
pub mod stages_file;
pub mod supervisor;
mod system_values;

pub use node::serve;
