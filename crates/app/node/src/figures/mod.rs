//! In-memory monitoring: figures over time, current problems, and the processes that own each part.
//!
//! ```text
//! calls, process, store ──► Sampler, every 2 s ──► Observatory ──► ObserveService, /metrics
//! ```
//!
//! Guarantees:
//! - Requests are answered from memory, also while the store is unavailable. The answers are as old
//!   as the last sample.
//! - A reading from the store is bounded by [`STORE_TIME_MAX`](limits::STORE_TIME_MAX). A value
//!   expires after a while or after several failed readings and is then unknown, never zero. Slow
//!   readings are repeated less often.
//! - Memory is bounded by the number of series and the points of each ([`limits`]).
//! - A problem disappears with the first sample after its cause.

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

/// The latest results of the sampler. Cheap to clone; clones share them.
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
    /// When the last sample was taken.
    looked: Option<Moment>,
    stand: Option<Stand>,
}

/// The processes and the parts they own.
#[derive(Clone, Debug)]
pub struct Stand {
    pub cluster: Cluster,
    /// The oldest unexported change by shard, and when it was read. `None` if unknown.
    pub export_waits: Option<(Time, BTreeMap<u32, Time>)>,
    pub shards: u32,
    pub lease_time: Duration,
    /// The owners of background work other than that on offers. Empty if unknown.
    pub works: Vec<WorkSeen>,
}

impl Observatory {
    pub fn new(process: &str) -> Observatory {
        Observatory { process: Arc::from(process), state: Arc::default() }
    }

    pub fn process(&self) -> &str {
        &self.process
    }

    /// Matching figures over the time `back`, with at most `points_max` points each.
    pub fn figures(&self, wanted: &FiguresWanted, back: Duration, points_max: u32) -> Shown {
        self.state().figures.read(wanted, back, points_max)
    }

    /// True if there are more figures than are kept.
    fn is_full(&self) -> bool {
        self.state().figures.is_full()
    }

    /// The lines of `/metrics`, sorted by name.
    pub fn measures(&self) -> Vec<Measure> {
        self.state().measures.clone()
    }

    /// Current problems, the worst first, with the time of the sample and its age.
    pub fn problems(&self) -> (Vec<Problem>, Option<(Time, Duration)>) {
        let state = self.state();
        let looked = state.looked.map(|looked| (looked.time, looked.instant.elapsed()));
        (state.problems.clone(), looked)
    }

    /// The last known owners of all parts.
    pub fn stand(&self) -> Option<Stand> {
        self.state().stand.clone()
    }

    /// Stores the results of a sample. If `stand` is unknown, the previous one stays.
    fn tell(&self, now: Moment, sample: Sample, problems: Vec<Problem>, stand: Option<Stand>) {
        let Sample { points, mut measures } = sample;
        // Lines of one name must be adjacent.
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
