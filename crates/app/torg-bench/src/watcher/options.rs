//! Command-line options of the watcher benchmark.

use clap::{Args, ValueEnum};
use watcher::{Config, StageLimits};

use crate::home::Home;
use crate::run::Run;

/// Shards of all measurements except the idle one.
pub(super) const SHARDS: u32 = 64;

/// The watcher's benchmark.
#[derive(Clone, Debug, Args)]
pub(crate) struct WatcherBench {
    #[command(flatten)]
    pub(super) run: Run,
    /// Entities of 2 KB to visit in each measurement.
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1000..))]
    pub(super) entities: u64,
    /// Seconds for each measurement that goes by time.
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) seconds: u64,
    /// Memory for the cache of the embedded engine, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    pub(super) cache_mb: u64,
    /// Due entries of the deep queues, with small entities; 0 leaves them out.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(super) deep: u64,
    /// Times that the sides take turns in the stateful measurement, each with its part of the
    /// entities.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=20))]
    pub(super) turns: u64,
    /// Callers that commit at the same time where rows are written without the watcher.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) callers: u64,
    /// Calls of a stage at the same time.
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(super) calls: usize,
    /// Entities in one call of a stage.
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(super) batch: usize,
    /// Measures graphile-worker too (bench/peers/graphile-worker/install gets it); needs
    /// PostgreSQL.
    #[arg(long)]
    pub(super) peer: bool,
    /// Jobs of the peer.
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u64).range(1000..))]
    pub(super) peer_jobs: u64,
    /// Leaves out all but these measurements.
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    pub(super) only: Vec<Part>,
    /// Does one part in a process of its own, for a run that started it.
    #[arg(long, hide = true)]
    pub(super) child: Option<Child>,
}

/// A measurement. Some stand on what another one leaves behind, which then is made too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    Burndown,
    Pickup,
    Recrawl,
    Stateful,
    Timers,
    Idle,
    Depth,
}

/// What is done in a process of its own, so that nothing else counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Child {
    Idle,
    DepthFill,
    DepthWork,
}

impl WatcherBench {
    pub(super) fn wants(&self, part: Part) -> bool {
        let is_left_out = part == Part::Depth && self.deep == 0;
        !is_left_out && (self.only.is_empty() || self.only.contains(&part))
    }

    pub(super) fn home(&self, part: &str) -> anyhow::Result<Home> {
        Home::of(self.run.postgres(), &self.run.folder(), ("watcher", part), self.cache_mb)
    }

    /// The watcher's configuration under measurement.
    pub(super) fn config(&self, shards: u32) -> Config {
        let stages = StageLimits { calls_max: self.calls, batch_max: self.batch, ..StageLimits::default() };
        Config { shards, stages, ..Config::default() }
    }
}
