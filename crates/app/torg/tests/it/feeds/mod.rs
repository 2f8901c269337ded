//! Feeds of a running process: from a file to live offers and to a report, by upload and by link.

#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

mod changes;
mod files;
mod links;
mod processes;
mod recorded;
mod rig;
