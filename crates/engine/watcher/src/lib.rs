//! The engine that makes entities evolve.
//!
//! Whenever an [`Entity`] changes, every [`Stage`] that is interested gets to visit it, and may change it again, keep a private state beside
//! it, and ask for a visit at a later time. A stage is a pure function of the entity and its state: it is called again when somebody else
//! changed the entity meanwhile.
//!
//! What is promised: one entity is visited by one stage at a time; what comes of a visit is one commit, made only on what the stage saw; a timer never
//! fires early and survives restarts; every change reaches the topic at least once, in order; nothing that waits is forgotten. The model
//! with a picture is in `docs/watcher.md`.
//!
//! Where things are:
//! - what a user writes and holds: [`Entity`] (`entity.rs`), [`Stage`] (`stage.rs`), [`Watcher`] (`watcher.rs`), [`Config`] (`config.rs`);
//! - what a change brings about: `change.rs`, `queue.rs` (the rule of the queues), `budget.rs` (stages that fight), `system.rs`, `ask.rs` and `wishes.rs` (questions and what comes of them);
//! - the loop: `run.rs` and `run/` (looking into queues, the end of a call), with `schedule/` (what to do next, and why not), `peek.rs` (what waits), `visit.rs` and `answer.rs` (a visit and what becomes of it);
//! - beside the loop: `keeping.rs` and `shards.rs` (leases), `relay/` (topic and `on_saved`), `crawl.rs` (the re-crawl);
//! - what people ask and order: `explain/`, `board.rs`, `controls.rs`, `requests.rs`;
//! - rows and limits: `tables.rs`, `rows.rs`, [`limits`].

#![allow(clippy::similar_names, reason = "a stage has a state")]

/// Whether a bug is planted; without the feature `simulation` there are none.
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

mod ahead;
mod answer;
mod ask;
mod board;
mod bucket;
mod budget;
mod call;
mod change;
mod config;
mod controls;
mod crawl;
mod entity;
mod error;
mod explain;
mod fields;
#[cfg(feature = "simulation")]
#[doc(hidden)]
pub mod insight;
mod keeping;
pub mod limits;
mod opening;
mod parked;
mod peek;
#[cfg(feature = "simulation")]
#[doc(hidden)]
pub mod planted;
mod queue;
mod rehearse;
mod relay;
mod requests;
mod rows;
mod run;
mod schedule;
mod shards;
mod speed;
mod stage;
mod system;
mod tables;
/// The clock that everything here is given.
mod time {
    pub use clock::{Clock, Time};
}
mod times;
mod visit;
mod watcher;
mod wishes;

pub use ahead::Ahead;
pub use board::{Counts, FailedVisit, Outage, SeenFight, StageStatus};
pub use budget::{Author, Fight, Slowed};
pub use config::{Budget, Config, StageLimits};
pub use controls::{Control, OtherLimits, Pause};
pub use crawl::Recrawl;
pub use entity::{Entity, Evolved, shard_of};
pub use error::{Error, Result};
pub use explain::{
    Asking, Cluster, Counted, Depth, Explanation, Failed, Faring, Holder, LastVisit, ProcessSeen,
    StageReport, Standing, Waits, Why,
};
pub use fields::Fields;
pub use parked::Parked;
pub use queue::Lane;
pub use rehearse::{Outcome, Rehearsed};
pub use requests::State;
pub use schedule::{Blocked, Line};
pub use shards::Fence;
pub use stage::{Answer, Change, Interest, NewState, Saved, Stage, StageError, Subject, Wish};
pub use tables::tables;
pub use time::{Clock, Time};
pub use times::Times;
pub use watcher::{Found, Setup, Watcher};
