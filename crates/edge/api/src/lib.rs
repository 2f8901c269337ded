//! The RPC layer over offers, feeds, reactive tasks and the values that they wait on.
//!
//! A handler takes the [`Caller`](access::Caller) out of the request ([`caller`]), checks what was sent ([`limits`], [`tokens`], and the masks and the
//! validation of the crate `offers`), asks the domain, and turns what went wrong into a [`Refusal`] ([`errors`]), which every client can read.
//!
//! What is promised:
//! - A request without a caller is refused, never served.
//! - What belongs to another seller is answered byte by byte as what does not exist.
//! - Every refusal has a reason for programs; a wrong request names every field that is wrong, as far as it fits into the headers that clients take.
//! - An error of ours shows nothing but the id under which it was logged.
//! - No request, token or key leads to a panic.

mod cabinet;
pub mod caller;
mod catalogue;
mod ctl;
mod drafts;
pub mod errors;
mod feeds;
pub mod limits;
mod market;
mod moderation;
mod names;
pub mod offers;
mod stages;
mod tasks;
pub mod tokens;

pub use self::ctl::CtlCalls;
pub use self::feeds::{FeedCalls, ProblemRow, Report, Upload, language_of};
pub use errors::{FieldFault, Refusal};
pub use market::{Market, register, register_ctl, register_feeds, register_tasks};
pub use tasks::TaskCalls;
