//! Command-line options of the stages benchmark.

use clap::{Args, ValueEnum};
use watcher::StageLimits;
use wire::torg::stages::v1::OutsideStage;

use crate::home::Home;
use crate::run::Run;

/// The benchmark of stages.
#[derive(Clone, Debug, Args)]
pub(crate) struct StagesBench {
    #[command(flatten)]
    pub(super) run: Run,
    /// Offers of about 2 KB that one stage visits, on each side.
    #[arg(long, value_name = "N", default_value_t = 40_000, value_parser = clap::value_parser!(u64).range(1000..))]
    pub(super) offers: u64,
    /// Offers that eight stages visit, on each side.
    #[arg(long, value_name = "N", default_value_t = 24_000, value_parser = clap::value_parser!(u64).range(100..))]
    pub(super) shared_offers: u64,
    /// Seconds for each measurement that goes by time.
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) seconds: u64,
    /// Times that the sides take turns, each with its part of the offers.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=20))]
    pub(super) turns: u64,
    /// Calls of a stage at the same time.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) calls: u32,
    /// Offers in one call of a stage.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) batch: u32,
    /// Memory for the cache of the embedded engine, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    pub(super) cache_mb: u64,
    /// Visits of Restate (bench/peers/restate/install gets it); 0 leaves it out.
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub(super) restate_visits: u64,
    /// Photos to make sizes of; 0 leaves them out.
    #[arg(long, value_name = "N", default_value_t = 48)]
    pub(super) photos: u64,
    /// Leaves out all but these measurements.
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    pub(super) only: Vec<Part>,
    /// Does one part in a process of its own, for a run that started it.
    #[arg(long, hide = true)]
    pub(super) child: Option<Child>,
}

/// A measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    /// A stage that does nothing, behind gRPC and in process.
    Noop,
    /// A stage that changes the offer and its state and arms a timer, behind gRPC and in process;
    /// and Restate.
    Stateful,
    /// What a call through the bridge takes when little happens.
    Idle,
    /// Eight stages beside a dead and a slow one.
    Others,
    /// 12 MP to four sizes.
    Photos,
}

/// What is done in a process of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Child {
    /// Serves the stages of a run until its standard input ends.
    Plugin,
    /// Makes sizes of photos, so that only they count for the memory.
    Photos,
}

impl StagesBench {
    pub(super) fn wants(&self, part: Part) -> bool {
        let is_left_out = part == Part::Photos && self.photos == 0;
        !is_left_out && (self.only.is_empty() || self.only.contains(&part))
    }

    /// Where the store of one side stands.
    pub(super) fn home(&self, side: &str) -> anyhow::Result<Home> {
        Home::of(self.run.postgres(), &self.run.folder(), ("stages", side), self.cache_mb)
    }

    /// The limits of every stage of a run, in process or outside.
    pub(super) fn limits(&self) -> StageLimits {
        let (calls_max, batch_max) = (self.calls as usize, self.batch as usize);
        StageLimits { calls_max, batch_max, ..StageLimits::default() }
    }

    /// The declaration of an outside stage that may change prices.
    pub(super) fn declared(&self, id: &str, address: &str) -> OutsideStage {
        let mask = buffa_types::google::protobuf::FieldMask {
            paths: vec!["price".to_owned()],
            ..Default::default()
        };
        OutsideStage {
            id: id.to_owned(),
            endpoints: vec![format!("http://{address}")],
            may_change: mask.into(),
            calls_max: self.calls,
            batch_max: self.batch,
            ..OutsideStage::default()
        }
    }
}
