//! Feeds: loads sellers' files into the ad store and reports the problems of each file.
//!
//! ```text
//!  link ──► download (a stage: fetches, stores the file) ─┐
//!  upload ────────────────────────────────────────────────┴─► a load, queued
//!                process (a stage: reads, checks, unifies) ──► topic feed.offers ──► the ad store
//!                results (a consumer) ◄── topic feed.results ◄─────────────────────────┘
//! ```
//!
//! A feed is an entity of the watcher ([`StoredFeed`]), which provides one visit to a feed at a
//! time in all processes, timers, retries, take-over from a process that died, and `explain`.
//! Guarantees:
//! - A file is stored before its load exists. A load is retried until it ends.
//! - Batches of a load are numbered and always have the same offers: a process that takes a load
//!   over sends them again, and each is applied once. The end of a load is sent after all of its
//!   batches were acknowledged.
//! - A file that could not be read to its end removes no offer.
//! - Results are counted once for each batch.
//! - Loads of one feed run one after the other; a large one does not delay small ones of other
//!   feeds.
//!
//! Where things are: the API ([`Feeds`], `feeds.rs`), the entity (`feed.rs`), loads (`loads.rs`),
//! files (`files.rs`), fetching (`download.rs`), reading and sending (`process/`), changing offers
//! (`apply/`), results (`results.rs`), reports (`reports.rs`), monitoring (`survey.rs`), sellers'
//! categories (`mappings.rs`), cleanup (`cleanup.rs`), rows (`tables.rs`), [`limits`].

mod apply;
mod background;
mod cleanup;
mod download;
mod error;
mod feed;
mod feeds;
mod files;
pub mod limits;
mod loads;
mod mappings;
mod name;
mod nominatim;
mod offline;
mod process;
mod reports;
mod results;
mod survey;
mod tables;

pub use apply::{Begun, GROUP as LOADS_GROUP};
pub use download::Download;
pub use error::{Error, Result};
pub use feed::StoredFeed;
pub use feeds::{Config, Dependencies, Feeds, LoadHook};
pub use files::{Files, Spool, Spooled};
pub use mappings::Mapping;
pub use name::FeedName;
pub use nominatim::{Nominatim, NominatimOptions};
pub use offline::{Offline, OfflineSession};
pub use process::Process;
pub use reports::{CodeCount, ProblemCursor, ProblemFilter, ProblemPage};
pub use results::GROUP as RESULTS_GROUP;
pub use survey::{LastLoad, SurveyPage, Surveyed, Unreachable};
pub use tables::tables;
