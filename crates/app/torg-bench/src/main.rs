//! `torg-bench`: benchmarks of Torg and of its references, in one process, on one disk, in one run.
//!
//! Absolute figures depend on the machine; ratios carry over to others. Every benchmark prints a
//! table for people and, as its last line, one JSON object for machines, whose first key is
//! `bench`.

mod at_work;
mod console;
mod data;
mod feeds;
mod figure;
mod home;
mod machine;
mod measure;
mod observe;
mod offers;
mod process;
mod processor;
mod resting;
mod run;
mod serving;
mod stages;
mod store;
mod tasks;
mod topics;
mod watcher;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use node::config::{Flag, Sources};
use node::environment::Production;

use self::run::Run;

/// The same allocator as the server's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures Torg beside what it is compared with.
#[derive(Debug, Parser)]
#[command(name = "torg-bench", version)]
struct Cli {
    #[command(subcommand)]
    bench: Bench,
}

/// What can be measured.
#[derive(Debug, Subcommand)]
enum Bench {
    /// Commits and reads of the store, beside the bare engine.
    Store(StoreBench),
    /// Appends and reads of topics, beside the bare engine.
    Topics(TopicsBench),
    /// Visits of stages, beside plain commits of the same rows and, on PostgreSQL, a job queue.
    Watcher(watcher::WatcherBench),
    /// Offers through the RPC port of a serving process, beside the same without RPC and beside a
    /// hand-made service on PostgreSQL.
    Offers(Box<offers::OffersBench>),
    /// Stages behind gRPC, beside the same in process, beside stages that are dead or slow, beside
    /// Restate; photos beside `ImageMagick`.
    Stages(stages::StagesBench),
    /// Tasks: from a change to decisions and to the start of a process, beside Dagster; and as many
    /// changes as can be made.
    Tasks(tasks::TasksBench),
    /// Files of feeds checked, beside `xmllint`; loaded to live offers, beside writes of offers;
    /// small sellers beside a big one.
    Feeds(feeds::FeedsBench),
    /// Pages of the console over many offers and stages: how long they take, how large the first
    /// is, what viewers cost.
    Console(console::ConsoleBench),
    /// The server under measurement, configured by the environment.
    #[command(hide = true)]
    Serve,
}

/// The store's benchmark.
#[derive(Debug, Args)]
struct StoreBench {
    #[command(flatten)]
    run: Run,
    /// Offers in the base when the main figures are taken.
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    rows: u64,
    /// Offers in the base when growth is measured; 0 leaves that out.
    #[arg(long, value_name = "N", default_value_t = 2_000_000)]
    grown_rows: u64,
    /// Seconds for each measurement.
    #[arg(long, value_name = "S", default_value_t = 10)]
    seconds: u64,
    /// Callers that commit at the same time.
    #[arg(long, value_name = "N", default_value_t = 64)]
    callers: usize,
    /// Memory for the cache of the embedded engine, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    cache_mb: u64,
    /// Times that both sides take turns; their figures are summed.
    #[arg(long, value_name = "N", default_value_t = 3)]
    turns: u32,
    /// Leaves out the bare engine, for long runs.
    #[arg(long)]
    alone: bool,
}

/// The topics' benchmark.
#[derive(Debug, Args)]
struct TopicsBench {
    #[command(flatten)]
    run: Run,
    /// Where the messages are: store, or kafka://HOST:PORT (where the topic stays, but keeps
    /// messages for an hour only).
    #[arg(long, value_name = "URL", default_value = "store")]
    topics: String,
    /// Seconds for each measurement.
    #[arg(long, value_name = "S", default_value_t = 5)]
    seconds: u64,
    /// Times that both sides take turns; their figures are summed.
    #[arg(long, value_name = "N", default_value_t = 3)]
    turns: u32,
    /// Callers that append at the same time.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..))]
    callers: u64,
    /// Bytes of each message, beside its key of 16 bytes.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    payload_bytes: usize,
    /// Partitions of the topic.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    partitions: u32,
}

fn main() -> ExitCode {
    if let Some(code) = node::roles::tasks::supervised(std::env::args_os()) {
        return code;
    }
    match run(Cli::parse().bench) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", terminal::errors::report(&error));
            ExitCode::FAILURE
        }
    }
}

fn run(bench: Bench) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match bench {
            Bench::Store(args) => store::run(args).await,
            Bench::Topics(args) => topics::run(args).await,
            Bench::Watcher(args) => watcher::run(args).await,
            Bench::Offers(args) => offers::run(*args).await,
            Bench::Stages(args) => stages::run(args).await,
            Bench::Feeds(args) => feeds::run(args).await,
            Bench::Tasks(args) => tasks::run(args).await,
            Bench::Console(args) => console::run(args).await,
            Bench::Serve => serve().await,
        }
    })
}

async fn serve() -> anyhow::Result<()> {
    let flag = |name, key, value: &str| Flag { name, key, value: value.to_owned() };
    let environment = std::env::vars().filter(|(name, _)| name.starts_with("TORG_")).collect();
    let flags = vec![flag("--listen", "listen", "127.0.0.1:0"), flag("--data", "data_dir", ".")];
    let effective = node::config::load(&Sources { file: None, environment, flags })?;
    node::logging::init(&effective.config.log)?;
    node::serve(effective.config, Box::new(|_| Ok(Arc::new(Production)))).await
}
