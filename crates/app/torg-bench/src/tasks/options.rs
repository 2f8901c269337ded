//! Command-line options of the tasks benchmark.

use clap::{Args, ValueEnum};

use crate::home::Home;
use crate::run::Run;

/// The benchmark of tasks.
#[derive(Clone, Debug, Args)]
pub(crate) struct TasksBench {
    #[command(flatten)]
    pub(super) run: Run,
    /// Tasks beside which Dagster is measured.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(100..=100_000))]
    pub(super) tasks: u64,
    /// Tasks when growth is measured; 0 leaves that out.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(0..=200_000))]
    pub(super) many_tasks: u64,
    /// Changes of a value, one after the other, with each number of tasks.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) rounds: u64,
    /// Processes that are started, one after the other.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) starts: u64,
    /// Seconds in which values change as fast as they can.
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) seconds: u64,
    /// Callers that change values at the same time.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(super) callers: u64,
    /// Evaluations of Dagster (bench/peers/dagster/install gets it); 0 leaves it out.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(super) dagster_rounds: u64,
    /// Memory for the cache of the embedded engine, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    pub(super) cache_mb: u64,
    /// Leaves out all but these measurements.
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    pub(super) only: Vec<Part>,
}

/// A measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    /// From one change to the decisions of all tasks that it concerns; and Dagster.
    Decide,
    /// From one change to the start of a process.
    Start,
    /// As many changes as can be made.
    Sustain,
}

impl TasksBench {
    pub(super) fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    /// The folder of the processes that runs start.
    pub(super) fn runs_folder(&self) -> std::path::PathBuf {
        self.run.folder().join("runs")
    }

    pub(super) fn home(&self, side: &str) -> anyhow::Result<Home> {
        Home::of(self.run.postgres(), &self.run.folder(), ("tasks", side), self.cache_mb)
    }
}
