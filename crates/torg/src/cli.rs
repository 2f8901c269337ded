//! The command line. Each command has a module that runs it: `serve.rs`; `config` is short enough to stand here.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};

use crate::bench::{self, Bench};
use crate::commands::{
    self, catalog::CatalogCommand, ctl::CtlCommand, explain::ExplainCommand, feed::FeedCommand,
    keys::KeysCommand, stages::StagesCommand, store::StoreCommand, tasks::TasksCommand, topic::TopicCommand,
};
use crate::config::{self, Effective, Flag, Sources};
use crate::errors::advised;
use crate::{logging, serve};

/// The back end of a classified-ads marketplace.
#[derive(Debug, Parser)]
#[command(name = "torg", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs Torg until it is told to stop (SIGTERM, Ctrl-C).
    Serve {
        /// Puts a few sellers and offers into an empty store, to have something to look at.
        #[arg(long)]
        demo: bool,
        #[command(flatten)]
        settings: Settings,
    },
    /// Prints the configuration in effect as TOML and tells where each value came from.
    Config(Settings),
    /// Checks, copies or prints a whole store.
    Store {
        #[command(subcommand)]
        command: StoreCommand,
        #[command(flatten)]
        settings: Settings,
    },
    /// Shows topics and their messages.
    Topic {
        #[command(subcommand)]
        command: TopicCommand,
        #[command(flatten)]
        settings: Settings,
    },
    /// Makes, lists and revokes API keys.
    Keys {
        #[command(subcommand)]
        command: KeysCommand,
        #[command(flatten)]
        settings: Settings,
    },
    /// Finds and shows categories, checks catalogue files, surveys what a new version does to the offers.
    Catalog {
        #[command(subcommand)]
        command: CatalogCommand,
        #[command(flatten)]
        settings: Settings,
    },
    /// Explains where something stands, and why.
    Explain {
        #[command(subcommand)]
        command: ExplainCommand,
        #[command(flatten)]
        settings: Settings,
    },
    /// Shows, registers, pauses, rehearses stages.
    Stages {
        #[command(subcommand)]
        command: StagesCommand,
        #[command(flatten)]
        settings: Settings,
    },
    /// Checks sellers' files, makes, loads and shows feeds.
    Feed {
        #[command(subcommand)]
        command: FeedCommand,
        #[command(flatten)]
        settings: Settings,
    },
    /// Puts reactive tasks to work, shows, explains and mends them; checks, draws, simulates and compares their files.
    Tasks {
        #[command(subcommand)]
        command: TasksCommand,
        #[command(flatten)]
        settings: Settings,
    },
    /// Shows, sets and watches the values that tasks wait on.
    Ctl {
        #[command(subcommand)]
        command: CtlCommand,
        #[command(flatten)]
        settings: Settings,
    },
    /// Measures Torg beside what it is compared with.
    #[command(subcommand)]
    Bench(Bench),
}

/// Settings that every command takes. Each has a key in the file and a `TORG_...` variable; the command line wins.
#[derive(Debug, Args)]
struct Settings {
    /// The configuration file; without it ./torg.toml, if it exists.
    #[arg(long, global = true, value_name = "FILE", env = "TORG_CONFIG")]
    config: Option<PathBuf>,
    /// Address and port for HTTP and RPC, such as 127.0.0.1:8080.
    #[arg(long, global = true, value_name = "ADDR")]
    listen: Option<String>,
    /// The folder for everything embedded.
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<String>,
    #[arg(long, global = true, value_name = "URL", help = "fjall:DIR, postgres://... or memory:")]
    store: Option<String>,
    #[arg(long, global = true, value_name = "URL", help = "store, or kafka://host:port")]
    topics: Option<String>,
    #[arg(long, global = true, value_name = "URL", help = "file:DIR or s3://bucket/prefix")]
    files: Option<String>,
    /// Which parts to run: api,scheduler,loader,processor,reactive,console.
    #[arg(long, global = true, value_name = "LIST")]
    roles: Option<String>,
}

impl Settings {
    fn load(self) -> anyhow::Result<Effective> {
        let flags = [
            ("--listen", "listen", self.listen),
            ("--data", "data_dir", self.data),
            ("--store", "store.url", self.store),
            ("--topics", "topics.url", self.topics),
            ("--files", "files.url", self.files),
            ("--roles", "roles", self.roles),
        ];
        let sources = Sources {
            file: self.config,
            // A variable that is no Unicode cannot be one of ours.
            environment: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            flags: flags
                .into_iter()
                .filter_map(|(flag, key, value)| Some(Flag { name: flag, key, value: value? }))
                .collect(),
        };
        config::load(&sources).map_err(|error| advised(&error, error.hint()))
    }
}

/// Runs the command; what comes back is for [`crate::errors::report`].
pub(crate) fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        Command::Serve { demo, settings } => {
            let effective = settings.load()?;
            logging::init(&effective.config.log)?;
            for warning in &effective.warnings {
                tracing::warn!("{warning}");
            }
            runtime()?.block_on(serve::run(effective.config, demo))
        }
        Command::Config(settings) => print(&settings.load()?.to_toml()),
        Command::Store { command, settings } => {
            let effective = settings.load()?;
            logging::init(&for_commands())?;
            runtime()?.block_on(commands::store::run(command, &effective.config))
        }
        Command::Topic { command, settings } => {
            let effective = settings.load()?;
            logging::init(&for_commands())?;
            runtime()?.block_on(commands::topic::run(command, &effective.config))
        }
        Command::Keys { command, settings } => {
            let effective = settings.load()?;
            logging::init(&for_commands())?;
            runtime()?.block_on(commands::keys::run(command, &effective.config))
        }
        Command::Catalog { command, settings } => {
            let effective = settings.load()?;
            logging::init(&for_commands())?;
            runtime()?.block_on(commands::catalog::run(command, &effective.config))
        }
        Command::Explain { command, settings } => {
            let effective = settings.load()?;
            logging::init(&for_commands())?;
            runtime()?.block_on(commands::explain::run(command, &effective.config))
        }
        Command::Stages { command, settings } => {
            let effective = settings.load()?;
            logging::init(&for_commands())?;
            runtime()?.block_on(commands::stages::run(command, &effective.config))
        }
        Command::Feed { command, settings } => {
            let effective = settings.load()?;
            logging::init(&for_commands())?;
            runtime()?.block_on(commands::feed::run(command, &effective.config))
        }
        Command::Tasks { command, settings } => {
            if let Some(outcome) = command.offline() {
                return outcome;
            }
            let effective = settings.load()?;
            logging::init(&for_commands())?;
            runtime()?.block_on(commands::tasks::run(command, &effective.config))
        }
        Command::Ctl { command, settings } => {
            let effective = settings.load()?;
            logging::init(&for_commands())?;
            runtime()?.block_on(commands::ctl::run(command, &effective.config))
        }
        Command::Bench(bench) => runtime()?.block_on(bench::run(bench)),
    }
}

/// What a command logs: it says everything else on stdout, or as its error.
fn for_commands() -> config::Log {
    config::Log { format: config::LogFormat::Human, level: "error".to_owned() }
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")
}

/// Writes to stdout; a reader that went away (`| head`) is no error.
fn print(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to stdout")
        }
        _ => Ok(()),
    }
}
