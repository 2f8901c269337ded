//! The command line as a whole: the guide's lines, JSON of every command that reads, the use of
//! stdout and stderr, completions and manual pages.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

mod guide;
mod json;
mod outputs;
mod shell;
