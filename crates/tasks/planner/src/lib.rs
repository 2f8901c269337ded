//! Reactive tasks: work that runs when the data it reads has moved, at the right moment, once, with an answer to "why" and "why not".
//!
//! ```text
//!   values change ─┐                    ┌─► decisions, each committed as one, then confirmed
//!   runs end ──────┼──►  Board (pure) ──┤
//!   time passes ───┘                    └─► explain
//!                          ▲
//!                          └── simulate: the same board on a virtual clock
//! ```
//!
//! Where things are: the values that tasks wait on ([`ctl`]); what is decided, and how it is explained ([`board`]); what would happen ([`simulate`]); what a new configuration
//! would start at once ([`deploy`]); how definitions of files ([`plans`]) and recorded values ([`recorded`]) come here; how moments and values stand in messages
//! ([`messages`]). Limits are in [`limits`].

pub mod board;
pub mod deploy;
mod error;
pub mod limits;
pub mod plans;
pub mod recorded;
pub mod simulate;

pub use error::{Error, Result};
