//! Drafts: incomplete offers, one for each owner.

mod rule;

pub use rule::{Decision, Seen, Whose, decide};
