//! The command line of `torg`: one module per command. [`main`] parses the arguments, loads the
//! configuration and runs the command.

mod catalog;
mod completions;
mod ctl;
mod doctor;
mod explain;
mod feed;
mod keys;
mod owner;
mod remote;
mod stages;
mod stages_new;
mod store;
mod tasks;
#[cfg(test)]
mod tests;
mod topic;
mod topic_server;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use node::config::{self, Config, Effective, Flag, Sources};
use node::environment::{Prepare, Production};
use node::logging;
use terminal::errors::advised;
use terminal::{json, print};

use self::catalog::CatalogCommand;
use self::completions::Man;
use self::ctl::CtlCommand;
use self::doctor::Examination;
use self::explain::ExplainCommand;
use self::feed::FeedCommand;
use self::keys::KeysCommand;
use self::stages::StagesCommand;
use self::store::StoreCommand;
use self::tasks::TasksCommand;
use self::topic::TopicCommand;

/// The back end of a classified-ads marketplace.
#[derive(Debug, Parser)]
#[command(name = "torg", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs Torg until it is told to stop (SIGTERM, Ctrl-C).
    Serve {
        #[command(flatten)]
        demo: demo::Flags,
        #[command(flatten)]
        settings: Settings,
    },
    /// The outside stage of the demo.
    #[command(hide = true)]
    DemoStage(demo::StageFlags),
    /// Looks at the store, topics, files, clocks, stages and all else that the configuration names,
    /// and says what is wrong.
    Doctor {
        #[command(flatten)]
        asked: Examination,
        #[command(flatten)]
        settings: Settings,
    },
    /// Prints the configuration in effect as TOML and tells where each value came from.
    Config {
        /// Prints one object of JSON instead: values, and the origins of those that were set.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        settings: Settings,
    },
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
    /// Finds and shows categories, checks catalogue files, surveys what a new version does to the
    /// offers.
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
    /// Puts reactive tasks to work, shows, explains and mends them; checks, draws, simulates and
    /// compares their files.
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
    /// Prints what a shell needs to complete the command line.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Named for those who know it from before.
    #[command(hide = true, disable_help_flag = true)]
    Bench {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        _arguments: Vec<String>,
    },
    /// Prints the manual page, or writes a page for every command into a folder.
    Man(Man),
}

/// Settings that every command takes. Each has a key in the file and a `TORG_...` variable; the
/// command line wins.
#[derive(Debug, Default, Args)]
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
    #[arg(
        long,
        global = true,
        value_name = "URL",
        help = "Where rows are kept: fjall:DIR, postgres://... or memory:"
    )]
    store: Option<String>,
    #[arg(
        long,
        global = true,
        value_name = "URL",
        help = "Where messages are kept: store, or kafka://host:port"
    )]
    topics: Option<String>,
    #[arg(
        long,
        global = true,
        value_name = "URL",
        help = "Where files are kept: file:DIR or s3://bucket/prefix"
    )]
    files: Option<String>,
    /// Which parts to run: api,stages,feeds,tasks,console.
    #[arg(long, global = true, value_name = "LIST")]
    roles: Option<String>,
}

impl Settings {
    /// The effective configuration. Errors are worded for users.
    fn load(self) -> anyhow::Result<Effective> {
        self.try_load().map_err(|error| advised(&error, error.hint()))
    }

    /// Runs a command with the effective configuration.
    fn run(self, command: impl AsyncFnOnce(&Config) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let effective = self.load()?;
        logging::init(&quiet())?;
        runtime()?.block_on(command(&effective.config))
    }

    fn try_load(self) -> Result<Effective, config::Error> {
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
            // A variable that is not valid Unicode cannot be one of Torg's.
            environment: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            flags: flags
                .into_iter()
                .filter_map(|(flag, key, value)| Some(Flag { name: flag, key, value: value? }))
                .collect(),
        };
        config::load(&sources)
    }
}

/// Runs the program: prints the error, if any, and returns the exit code.
#[must_use]
pub fn main() -> ExitCode {
    // This comes first: a supervisor of a run must have no extra threads or allocations.
    if let Some(code) = node::roles::tasks::supervised(std::env::args_os()) {
        return code;
    }
    // Usage errors exit in `parse`, with code 2.
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::remark(format!("{}\n", terminal::errors::report(&error)));
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        Command::Serve { demo, settings } => serve(demo, settings),
        Command::DemoStage(flags) => {
            logging::init(&quiet())?;
            runtime()?.block_on(demo::serve_stage(flags))
        }
        Command::Doctor { asked, settings } => {
            logging::init(&quiet())?;
            runtime()?.block_on(doctor::run(asked, settings.try_load()))
        }
        Command::Config { json: true, settings } => print(&[json(&settings.load()?.to_json())?]),
        Command::Config { json: false, settings } => print(&[settings.load()?.to_toml().trim_end()]),
        Command::Store { command, settings } => {
            settings.run(async |config| store::run(command, config).await)
        }
        Command::Topic { command, settings } => {
            settings.run(async |config| topic::run(command, config).await)
        }
        Command::Keys { command, settings } => settings.run(async |config| keys::run(command, config).await),
        Command::Catalog { command, settings } => {
            settings.run(async |config| catalog::run(command, config).await)
        }
        Command::Explain { command, settings } => {
            settings.run(async |config| explain::run(command, config).await)
        }
        Command::Stages { command, settings } => {
            settings.run(async |config| stages::run(command, config).await)
        }
        Command::Feed { command, settings } => settings.run(async |config| feed::run(command, config).await),
        Command::Tasks { command, settings } => match command.offline() {
            Some(outcome) => outcome,
            None => settings.run(async |config| tasks::run(command, config).await),
        },
        Command::Ctl { command, settings } => settings.run(async |config| ctl::run(command, config).await),
        Command::Completions { shell } => print(&[completions::script(shell, shown())]),
        Command::Bench { .. } => {
            Err(advised("benchmarks are a program of their own", "run torg-bench with the same words"))
        }
        Command::Man(man) => completions::man(&man, shown()),
    }
}

fn serve(flags: demo::Flags, mut settings: Settings) -> anyhow::Result<()> {
    if flags.demo {
        // Overrides the file and the environment: a demo has a folder of its own.
        settings.data.get_or_insert_with(|| demo::FOLDER.to_owned());
    }
    let Effective { mut config, warnings, .. } = settings.load()?;
    logging::init(&config.log)?;
    for warning in &warnings {
        tracing::warn!("{warning}");
    }
    let prepare: Prepare = if flags.demo {
        let claim = demo::Claim::stake(flags, &mut config, asked_here())?;
        Box::new(move |address| Ok(Arc::new(claim.open(address)?)))
    } else {
        Box::new(|_| Ok(Arc::new(Production)))
    };
    runtime()?.block_on(node::serve(config, prepare))
}

/// The address that commands in this shell use by default. They see the file and the environment,
/// but not the flags of this command.
fn asked_here() -> Option<String> {
    let config = std::env::var_os("TORG_CONFIG").map(PathBuf::from);
    let here = Settings { config, ..Settings::default() }.try_load().ok()?;
    Some(remote::own_url(&here.config))
}

/// The command tree without internal commands.
fn shown() -> clap::Command {
    let whole = Cli::command();
    let mut shown = clap::Command::new("torg")
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .subcommand_required(true)
        .arg_required_else_help(true);
    if let Some(about) = whole.get_about() {
        shown = shown.about(about.clone());
    }
    shown.subcommands(whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned())
}

/// Log settings of a command, which writes its output to stdout and its error to stderr.
fn quiet() -> config::Log {
    config::Log { format: config::LogFormat::Human, level: "error".to_owned() }
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")
}
