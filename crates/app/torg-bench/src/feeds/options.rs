//! Command-line options of the feeds benchmark.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::run::{Run, market_config};
use node::config::Config;

/// The benchmark of feeds.
#[derive(Clone, Debug, Args)]
pub(crate) struct FeedsBench {
    #[command(flatten)]
    pub(super) run: Run,
    /// Sizes of the files that are checked, in MB; the figures at the head of the line are those of
    /// the first.
    #[arg(long, value_name = "MB", value_delimiter = ',', default_value = "100,500", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(super) sizes: Vec<u64>,
    /// Times that the sides take turns with each file; the figures are medians.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=50))]
    pub(super) rounds: u64,
    /// Offers of the feed that is loaded and then loaded again.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1000..=500_000))]
    pub(super) offers: u64,
    /// Seconds of each measurement of `bench offers`, with which loads are compared; 0 leaves it
    /// out.
    #[arg(long, value_name = "S", default_value_t = 5)]
    pub(super) seconds: u64,
    /// Offers of the big seller beside whom small ones load.
    #[arg(long, value_name = "N", default_value_t = 500_000, value_parser = clap::value_parser!(u64).range(1000..=2_000_000))]
    pub(super) big_seller: u64,
    /// Small sellers.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(super) small_sellers: u64,
    /// Offers of each small seller.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(super) small_offers: u64,
    /// Leaves out all but these measurements.
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<Part>,
    /// Checks one file in a process of its own, for a run that started it.
    #[arg(long, hide = true, requires = "file")]
    pub(super) child: Option<Child>,
    /// The file for it.
    #[arg(long, hide = true)]
    pub(super) file: Option<PathBuf>,
}

/// A measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    /// Files are checked, beside `xmllint`.
    Check,
    /// A file becomes offers, and a second one changes some of them.
    Load,
    /// Small sellers beside a big one.
    Fairness,
}

/// What is done in a process of its own, so that only it counts for the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Child {
    /// Splits, checks by the schema, and parses.
    Check,
    /// Also recognises categories, attributes and places, and checks by the catalogue.
    Unify,
}

impl FeedsBench {
    pub(super) fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    /// The folder with all files of a run, which creates and removes it.
    pub(super) fn folder(&self) -> PathBuf {
        self.run.folder().join("feeds")
    }

    /// The PostgreSQL schema that a measurement creates and removes.
    pub(super) fn schema(side: &str) -> String {
        format!("bench_feeds_{side}")
    }

    pub(super) fn config(&self, side: &str) -> Config {
        let folder = self.folder().join(side);
        let url = self.run.store_url(&Self::schema(side), &folder);
        market_config(folder, &url)
    }
}
