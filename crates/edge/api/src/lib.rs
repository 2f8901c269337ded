//! The RPC layer over offers, feeds, tasks and values.
//!
//! A handler takes the [`Caller`](access::Caller) from the request ([`caller`]), validates the
//! request ([`limits`], [`tokens`], masks and validation of the crate `offers`), calls the domain,
//! and converts errors to a [`Refusal`] ([`errors`]).
//!
//! Guarantees:
//! - A request without a caller is refused.
//! - Another seller's object gives the same bytes as a missing one.
//! - Every refusal has a reason for programs; an invalid request names all invalid fields that fit
//!   into the response headers.
//! - An internal error shows nothing but the id under which it was logged.
//! - No request, token or key causes a panic.

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
mod service;
mod stages;
mod streams;
mod tasks;
pub mod tokens;

pub use self::ctl::CtlCalls;
pub use self::feeds::{FeedCalls, ProblemRow, Report, Upload, language_of};
pub use errors::{FieldFault, Refusal};
pub use market::{Market, register, register_ctl, register_feeds, register_tasks};
pub use tasks::TaskCalls;
