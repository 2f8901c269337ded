//! Tasks on a store: commits what the [`planner`] decides, starts runs once and finds them again,
//! and serves queries and manual actions.
//!
//! A task is an entity of the [`watcher`], in one shard: the process that serves that shard is the
//! leader, and its fence guards every commit. Every change of a task goes to the watcher's topic,
//! at least once and in order; a stage ([`Webhook`]) delivers alerts, with the watcher's retries.
//!
//! Guarantees:
//! - No change without its firing: every new leader rebuilds the planner from the store; marks of
//!   changed values are forgotten only under the fence, once the planner has them.
//! - One run of a task at a time: a start is committed, with its place, before anything is started;
//!   a run in another place counts as lost only when its time there is over.
//! - A run that ended unobserved is found, one that died is tried again, none is started twice: see
//!   [`runs`].
//! - What a check saw is remembered in the commit of the success, together with the values that the
//!   run sets.
//!
//! Where things are: the API ([`Tasks`], `service.rs`), manual actions (`actions.rs`), queries
//! (`queries.rs`), task files (`definitions.rs`), what is run (`spec.rs`), tracking of runs
//! (`run_tracker.rs`, [`Executor`]), the leader's loop (`leader.rs`, `leader/`), alerts
//! (`alerts.rs`), rows (`tables.rs`, `rows/`, `entity.rs`), limits ([`limits`]).

mod actions;
mod alerts;
mod core;
mod definitions;
mod entity;
mod error;
mod executor;
mod leader;
pub mod limits;
mod queries;
mod rows;
mod run_tracker;
mod service;
mod spec;
mod tables;
mod time;

pub use actions::Applied;
pub use alerts::Webhook;
pub use definitions::{Definitions, File, deployed_at};
pub use entity::TaskEntity;
pub use error::{Error, Result};
pub use executor::{ExecuteError, Executor};
pub use planner::Unhealthy;
pub use queries::{Filter, Listed};
pub use rows::cause_message;
pub use service::{Setup, Tasks};
pub use spec::Variables;
pub use tables::tables;
