//! Runs stages over entities that change.
//!
//! Whenever an [`Entity`] changes, every interested [`Stage`] visits it, and may change it again,
//! keep a private state beside it, and request a visit at a later time. A stage is a pure function
//! of the entity and its state: it is called again if the entity changed meanwhile.
//!
//! Guarantees: one entity is visited by one stage at a time; the result of a visit is one commit,
//! made only on what the stage saw; a timer never fires early and survives restarts; every change
//! reaches the topic at least once, in order; nothing that waits is forgotten. `docs/watcher.md`
//! has the model with a picture.
//!
//! Where things are:
//! - what a user implements and calls: [`Entity`] (`entity.rs`), [`Stage`] (`stage.rs`),
//!   [`Watcher`] (`watcher.rs`, `open.rs`), [`Config`] (`config.rs`);
//! - the effects of a change: `change.rs`, `queue.rs` (the queue rule), `rules.rs` (which stages it
//!   concerns), `budget.rs` (stages that fight), `system.rs`, `ask.rs` and `enqueue.rs` (questions
//!   to stages);
//! - the loop: `run.rs` and `run/`, with `schedule/` (what to do next, and why not), `scan.rs`
//!   (what is due), `visit.rs` and `answer.rs` (a visit and its result);
//! - beside the loop: `lease.rs`, `relay/` (topic and `on_saved`), `crawl.rs` (the re-crawl);
//! - for operators: `explain/`, `status.rs`, `controls.rs`, `requests.rs`, `rehearse.rs`;
//! - rows and limits: `tables.rs`, `rows.rs`, [`limits`].

#![allow(clippy::similar_names, reason = "a stage has a state")]

/// Whether a bug is planted; never without the feature `simulation`.
#[cfg(feature = "simulation")]
macro_rules! planted {
    ($bug:ident) => {
        crate::planted::is_planted(crate::planted::Bug::$bug)
    };
}
#[cfg(not(feature = "simulation"))]
macro_rules! planted {
    ($bug:ident) => {
        false
    };
}

mod answer;
mod ask;
mod budget;
mod call;
mod change;
mod config;
mod controls;
mod crawl;
mod enqueue;
mod entity;
mod error;
mod explain;
mod fields;
#[cfg(feature = "simulation")]
#[doc(hidden)]
pub mod insight;
mod latencies;
mod lease;
pub mod limits;
mod metrics;
mod open;
mod parked;
#[cfg(feature = "simulation")]
#[doc(hidden)]
pub mod planted;
mod queue;
mod rehearse;
mod relay;
mod requests;
mod rows;
mod rules;
mod run;
mod scan;
mod schedule;
mod stage;
mod status;
mod system;
mod tables;
mod token_bucket;
mod upcoming;
mod visit;
mod watcher;

pub use budget::{Author, Fight, Slowed};
pub use clock::{Clock, Time};
pub use config::{Budget, Config, StageLimits};
pub use controls::{Control, LimitOverrides, Pause};
pub use crawl::Recrawl;
pub use entity::{ChangeContext, Entity, Prepared, shard_of};
pub use error::{Error, Result};
pub use explain::{
    Asking, Cluster, Depth, Explanation, Failed, Holder, LastVisit, ProcessSeen, QueueCounts, StageReport,
    StagesSnapshot, VisitReason, VisitStatus, Waits,
};
pub use fields::Fields;
pub use latencies::Latencies;
pub use lease::Fence;
pub use parked::Parked;
pub use queue::Lane;
pub use rehearse::{Outcome, Rehearsed};
pub use requests::State;
pub use schedule::{Blocked, Line};
pub use stage::{Answer, Change, Interest, NewState, Saved, Schedule, Stage, StageError, Subject};
pub use status::{Counts, FailedVisit, Outage, SeenFight, StageStatus};
pub use tables::tables;
pub use upcoming::Upcoming;
pub use watcher::{Setup, Versioned, Watcher};
