//! The work of a process, one file a role.

pub(crate) mod api;
pub(crate) mod console;
pub(crate) mod feeds;
pub mod stages;
pub mod tasks;
