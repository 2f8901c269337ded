//! What a run measures, and how.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::{folder, postgres_url, process};
use node::config::{BuiltInStage, Config, Url};

/// The schema of PostgreSQL that a run makes and removes again.
const SCHEMA: &str = "bench_offers";

/// The offers' benchmark.
#[derive(Clone, Debug, Args)]
pub(crate) struct OffersBench {
    /// fjall:DIR (made and removed again; by default a folder beside the current one) or postgres://...
    #[arg(long, value_name = "URL")]
    store: Option<String>,
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
    /// Times that writes through RPC and those of the hand-made service take turns; their figures are summed.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=20))]
    pub(super) turns: u64,
    /// Prints only the JSON line.
    #[arg(long)]
    pub(super) json: bool,
}

impl OffersBench {
    pub(super) fn time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    pub(super) fn warm_up_time(&self) -> Duration {
        Duration::from_secs(self.warm_up)
    }

    /// Where the run may make its folder.
    pub(super) fn parent_folder(&self) -> PathBuf {
        folder(self.store.as_deref())
    }

    /// The folder of the embedded store, and of the server's log; made and removed again.
    pub(super) fn folder(&self) -> PathBuf {
        self.parent_folder().join("offers")
    }

    /// The server of the store, if it is PostgreSQL.
    pub(super) fn store_server(&self) -> Option<&str> {
        postgres_url(self.store.as_deref())
    }

    /// The server of the hand-made service, if there is one.
    pub(super) fn handmade_server(&self) -> Option<&str> {
        self.postgres.as_deref().or_else(|| self.store_server())
    }

    pub(super) fn engine(&self) -> &'static str {
        if self.store_server().is_some() { "postgres" } else { "fjall" }
    }

    pub(super) fn schema() -> &'static str {
        SCHEMA
    }

    pub(super) fn store_url(&self) -> String {
        match self.store_server() {
            Some(url) => {
                let sign = if url.contains('?') { '&' } else { '?' };
                format!("{url}{sign}schema={SCHEMA}")
            }
            None => format!("fjall:{}", self.folder().join("store").display()),
        }
    }

    /// What the server runs with: the defaults, but for places and for stages that look at what the offers of a benchmark do not have.
    pub(super) fn config(&self) -> Config {
        let mut config = Config { data_dir: self.folder(), ..Config::default() };
        config.feeds.spool_dir = config.data_dir.join("spool");
        config.tasks.runs_dir = config.data_dir.join("runs");
        config.files.url = Url::from(&*format!("file:{}", config.data_dir.join("files").display()));
        config.store.url = Url::from(&*self.store_url());
        // Offers of a benchmark have photos that are nowhere, and prices that say nothing.
        config.stages.built_in = vec![BuiltInStage::Expiry, BuiltInStage::Evolution];
        config
    }

    pub(super) fn say(&self, line: &str) {
        if !self.json {
            process::print_line(line);
        }
    }
}
