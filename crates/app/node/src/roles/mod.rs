//! The background work of a process, one file per role.

pub(crate) mod api;
pub(crate) mod console;
pub(crate) mod feeds;
pub mod stages;
pub mod tasks;
