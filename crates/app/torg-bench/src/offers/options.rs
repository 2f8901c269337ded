//! Command-line options of the offers benchmark.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::run::{Run, market_config};
use node::config::Config;

/// The PostgreSQL schema that a run creates and removes.
pub(super) const SCHEMA: &str = "bench_offers";

/// The offers' benchmark.
#[derive(Clone, Debug, Args)]
pub(crate) struct OffersBench {
    #[command(flatten)]
    pub(super) run: Run,
    /// Offers of many sellers.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..))]
    pub(super) offers: u64,
    /// Offers of one seller more, whose cabinet is measured; 0 leaves that out.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(super) big_seller: u64,
    /// Seconds for each measurement.
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Seconds of the same before each measurement.
    #[arg(long, value_name = "S", default_value_t = 2)]
    warm_up: u64,
    /// Calls on their way at the same time, of readers and of writers each.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=500))]
    pub(super) callers: u64,
    /// Connections of the client.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(super) connections: u64,
    /// Reads in a second that are asked for beside writes at a set rate.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) read_rate: u64,
    /// Writes in a second that are asked for beside reads at a set rate.
    #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) write_rate: u64,
    /// The client takes compressed answers, as some do by default.
    #[arg(long)]
    pub(super) gzip: bool,
    /// The server of the hand-made service beside an embedded store; by default that of --store.
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// Connections of the hand-made service.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=500))]
    pub(super) handmade_connections: u64,
    /// Times that writes through RPC and those of the hand-made service take turns; their figures
    /// are summed.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=20))]
    pub(super) turns: u64,
}

impl OffersBench {
    pub(super) fn time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    pub(super) fn warm_up_time(&self) -> Duration {
        Duration::from_secs(self.warm_up)
    }

    /// The folder of the embedded store and of the server's log, which a run creates and removes.
    pub(super) fn folder(&self) -> PathBuf {
        self.run.folder().join("offers")
    }

    /// The server of the hand-made service, if there is one.
    pub(super) fn handmade_server(&self) -> Option<&str> {
        self.postgres.as_deref().or_else(|| self.run.postgres())
    }

    pub(super) fn config(&self) -> Config {
        let folder = self.folder();
        let url = self.run.store_url(SCHEMA, &folder);
        market_config(folder, &url)
    }
}
