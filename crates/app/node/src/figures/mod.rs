//! How Torg fares, kept in memory: figures over time, what is wrong now, and who serves what.
//!
//! ```text
//!  calls ── this process ── the store, when it is its time ──► Sampler, every 2 s ──► Observatory ──► ObserveService, /metrics
//! ```
//!
//! What is promised:
//! - Whoever asks is answered from memory, also while the store is away. What is told is as old as
//!   the last sample.
//! - A look at the store takes no longer than [`STORE_TIME_MAX`](limits::STORE_TIME_MAX). What was
//!   read is held to be true for a while, then, or after several looks that failed, it is not
//!   known, never zero. Looks that take long are made seldom.
//! - Memory is bounded: by the number of figures, and by the points of each ([`limits`]).
//! - A problem is gone with the first sample after its cause.

mod calls;
mod feeds;
mod gone;
pub(crate) mod limits;
mod looks;
mod metrics;
mod moment;
mod names;
mod pings;
mod probe;
mod problems;
mod rates;
mod sample;
mod sampler;
mod series;
mod shown;
mod spans;
mod stages;
mod topics;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clock::Time;
use watcher::Cluster;

pub(crate) use calls::Calls;
pub(crate) use looks::{Sources, WorkSeen};
pub(crate) use metrics::{Metrics, Usage};
pub(crate) use probe::Probe;
pub(crate) use problems::{Problem, Severity};
pub(crate) use sample::{Measure, Value};
pub(crate) use sampler::{Parts, Sampler};
pub(crate) use shown::{Shown, ShownFigure, Wanted as FiguresWanted};

use moment::Moment;
use sample::Sample;
use shown::Figures;

/// What was seen. Cheap to clone; all clones show the same.
#[derive(Clone)]
pub struct Observatory {
    process: Arc<str>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    figures: Figures,
    measures: Vec<Measure>,
    problems: Vec<Problem>,
    /// When it was looked last.
    looked: Option<Moment>,
    stand: Option<Stand>,
}

/// Who serves what.
#[derive(Clone, Debug)]
pub struct Stand {
    pub cluster: Cluster,
    /// The oldest change on its way to the topic, by shard, and when that was read; `None` if it is
    /// not known.
    pub export_waits: Option<(Time, BTreeMap<u32, Time>)>,
    pub shards: u32,
    pub lease_time: Duration,
    /// Who has the work beside that on offers; nothing if it is not known.
    pub works: Vec<WorkSeen>,
}

impl Observatory {
    /// Of a process of this name.
    pub fn new(process: &str) -> Observatory {
        Observatory { process: Arc::from(process), state: Arc::default() }
    }

    /// The name of the process.
    pub fn process(&self) -> &str {
        &self.process
    }

    /// Figures whose names begin so, over the last time, with no more than so many points each.
    pub fn figures(&self, wanted: &FiguresWanted, back: Duration, points_max: u32) -> Shown {
        self.state().figures.read(wanted, back, points_max)
    }

    /// Whether there are more figures than are kept.
    fn is_full(&self) -> bool {
        self.state().figures.is_full()
    }

    /// The lines of `/metrics`, by name.
    pub fn measures(&self) -> Vec<Measure> {
        self.state().measures.clone()
    }

    /// What is wrong, the worst first; and when that was looked at, and how long ago that is.
    pub fn problems(&self) -> (Vec<Problem>, Option<(Time, Duration)>) {
        let state = self.state();
        let looked = state.looked.map(|looked| (looked.time, looked.instant.elapsed()));
        (state.problems.clone(), looked)
    }

    /// Who serves what, as it was known last.
    pub fn stand(&self) -> Option<Stand> {
        self.state().stand.clone()
    }

    /// Takes in what a sample came to. If nobody knows who serves what, what was known last stays.
    fn tell(&self, now: Moment, sample: Sample, problems: Vec<Problem>, stand: Option<Stand>) {
        let Sample { points, mut measures } = sample;
        // Lines of one name stand together.
        measures.sort_by(|a, b| (a.name.name, &a.labels).cmp(&(b.name.name, &b.labels)));
        let mut state = self.state();
        state.figures.record(now.time, points);
        state.measures = measures;
        state.problems = problems;
        state.looked = Some(now);
        if stand.is_some() {
            state.stand = stand;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
