//! The scheduler of reactive tasks: what [`planner::board`] decides becomes durable, runs are started once and found again, and people see and change it.
//!
//! A task is an entity of the [`watcher`], of one shard: whoever serves that shard decides, and its fence guards every commit. Every change of a task goes to
//! the watcher's topic, at least once and in order; alerts are told by a stage ([`Webhook`]), with the watcher's retries.
//!
//! What is promised:
//! - No change without its firing: what the board knows is made anew from the store by every new owner; marks of changed values are only forgotten
//!   under the fence, when the board has them.
//! - One run of a task at a time: a start is committed before anything is started, with the place where it will be; a run at another place counts as lost only when
//!   its time is over there.
//! - A run that ended while nobody looked is found, one that died is tried again, none is started twice: see [`runs`].
//! - What a check saw is remembered with the commit of the success, together with the values that the run sets.
//!
//! Where things are: the way in ([`Scheduler`]), what people do (`people.rs`) and see (`look.rs`), task files (`definitions.rs`), what is run
//! (`spec.rs`), who looks after runs (`attendant.rs`, [`Carrier`]), the loop (`live.rs` and `live/`), alerts (`alerts.rs`), rows (`tables.rs`, `rows/`, `entity.rs`), limits ([`limits`]).

mod alerts;
mod attendant;
mod carrying;
mod core;
mod definitions;
mod entity;
mod error;
pub mod limits;
mod live;
mod look;
mod people;
mod rows;
mod scheduler;
mod spec;
mod tables;
mod time;

pub use alerts::Webhook;
pub use carrying::{Carrier, CarryError};
pub use definitions::{Definitions, File, deployed_at};
pub use entity::TaskEntity;
pub use error::{Error, Result};
pub use look::{Filter, Listed};
pub use people::Applied;
pub use planner::board::Troubled;
pub use rows::cause_message;
pub use scheduler::{Scheduler, Setup};
pub use spec::Variables;
pub use tables::tables;
