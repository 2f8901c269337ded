//! The work of a process, one file a role.

pub mod feeds;
pub mod tasks;
