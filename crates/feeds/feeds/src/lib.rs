//! Feeds: a seller's file on its way to live offers, and back as a report that says what to mend.
//!
//! ```text
//!  link ──► download (a stage: fetches, stores the file) ─┐
//!  upload ────────────────────────────────────────────────┴─► a load, queued
//!                process (a stage: reads, checks, unifies) ──► topic feed.offers ──► the ad store
//!                results (a consumer) ◄── topic feed.results ◄─────────────────────────┘
//! ```
//!
//! A feed is an entity of the watcher ([`StoredFeed`]); the watcher brings what such work needs: one visit to a feed at a time in all processes, timers, retries, take-over from
//! a process that died, `explain`. What is promised:
//! - A file is stored before its load is known. A load that is known is worked on until it has an end.
//! - Batches of a load have numbers and always the same offers: whoever takes a load over sends them again, and the ad store applies each once. The end of a load is
//!   sent after all of its batches were acknowledged.
//! - A file that could not be read to its end gives up no offer.
//! - Answers are counted once for each batch; statistics are what happened.
//! - Loads of one feed are worked on one after the other; a large one does not hold up small ones of others.
//!
//! Where things are: a feed (`feed.rs`), what callers hold ([`Feeds`], `feeds.rs`), loads (`loads.rs`), files (`files.rs`), fetching (`loader.rs`), reading and sending (`process/`),
//! answers (`results.rs`), reports (`reports.rs`), how all of them fare (`survey.rs`), what sellers' categories are (`mappings.rs`), what is thrown away (`cleaning.rs`). Rows are in `tables.rs`, limits in [`limits`].

mod apply;
mod cleaning;
mod error;
mod feed;
mod feeds;
mod files;
pub mod limits;
mod loader;
mod loads;
mod mappings;
mod name;
mod offline;
mod process;
mod reports;
mod results;
mod survey;
mod tables;

pub use apply::{Begun, GROUP as LOADS_GROUP};
pub use error::{Error, Result};
pub use feed::StoredFeed;
pub use feeds::{Config, Feeds, LoadWitness, Parts};
pub use files::{Files, Spool, Spooled};
pub use loader::Download;
pub use mappings::Mapping;
pub use name::FeedName;
pub use offline::{Offline, OfflineSession};
pub use process::Process;
pub use reports::{CodeCount, ProblemFilter, ProblemPage, ProblemPlace};
pub use results::GROUP as RESULTS_GROUP;
pub use survey::{LastLoad, SurveyPage, Surveyed, Unreachable};
pub use tables::tables;
