//! `torg tasks`: reactive tasks. Files are validated, drawn, simulated and compared offline; all
//! other commands ask a running process.

mod act;
mod apply;
mod asked;
mod draw;
mod files;
mod given;
mod log;
mod look;
mod plan;
mod simulate;
mod simulated;
mod validate;
mod words;

use clap::Subcommand;

use self::act::{Backfill, StateCommand, Wish};
use self::apply::Apply;
use self::asked::Asked;
use self::draw::Draw;
use self::log::Log;
use self::look::Listing;
use self::plan::Compare;
use self::simulate::Simulate;
use self::validate::Validate;
use super::print;
use node::config::Config;
use terminal::AlwaysJson;

/// What can be done with tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum TasksCommand {
    /// Shows tasks and how they stand.
    List(Listing),
    /// Says why a task runs or why not, leaf by leaf, and how to mend what is wrong.
    Explain {
        /// The task.
        task: String,
        #[command(flatten)]
        asked: Asked,
    },
    /// Shows what runs, what waits, and why it waits.
    Queue {
        #[command(flatten)]
        asked: Asked,
    },
    /// Shows what happened to a task, the newest first, with who did it and why.
    History {
        /// The task.
        task: String,
        /// So many at most.
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: u32,
        #[command(flatten)]
        asked: Asked,
    },
    /// Shows the runs of a task, the newest first.
    Runs {
        /// The task.
        task: String,
        /// So many at most.
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: u32,
        #[command(flatten)]
        asked: Asked,
    },
    /// Prints what a run said, by default the last one.
    Log(Log),
    /// Runs a task as soon as there is a place, whatever its trigger says.
    Run {
        /// A success is remembered as that of a regular run.
        #[arg(long)]
        record: bool,
        #[command(flatten)]
        wish: Wish,
    },
    /// Keeps a task from firing until it is resumed. A run that is under way goes on.
    Pause {
        #[command(flatten)]
        wish: Wish,
    },
    /// Has a task fire again that was paused.
    Resume {
        #[command(flatten)]
        wish: Wish,
    },
    /// Takes a task out of the queue: it rests until one of its parameters changes.
    Cancel {
        #[command(flatten)]
        wish: Wish,
    },
    /// Kills the run that is under way. It counts as failed, and is tried again unless the task is
    /// paused.
    Kill {
        #[command(flatten)]
        wish: Wish,
    },
    /// Shows and mends what is remembered of the last successful run.
    State {
        #[command(subcommand)]
        command: StateCommand,
    },
    /// Runs a task for chunks of the past, in order. The first that fails stops them.
    Backfill(Backfill),
    /// Goes on with the chunk of a backfill that has failed.
    BackfillResume {
        #[command(flatten)]
        wish: Wish,
    },
    /// Gives up the chunks of a backfill that are left. A run that is under way goes on.
    BackfillCancel {
        #[command(flatten)]
        wish: Wish,
    },
    /// Puts task files to work, all or none: tasks that they do not have are gone.
    Apply(Apply),
    /// Says what task files would change, and which tasks would fire at once: on a running process,
    /// or beside other files.
    Plan(Compare),
    /// Prints the task files that are at work.
    Files {
        #[command(flatten)]
        asked: Asked,
    },
    /// Reads task files and says everything that is wrong with them, where, and how to mend it.
    Validate(Validate),
    /// Prints which tasks read and move which parameters, to be drawn.
    Graph(Draw),
    /// Prints the JSON Schema of task files, for editors.
    Schema(AlwaysJson),
    /// Replays a log of values against task files on a virtual clock, and says what would have run.
    Simulate(Simulate),
}

impl TasksCommand {
    /// Runs a command that needs no server; `None` for one that does.
    pub(crate) fn offline(&self) -> Option<anyhow::Result<()>> {
        match self {
            Self::Validate(validate) => Some(validate::run(validate)),
            Self::Graph(draw) => Some(draw::run(draw)),
            Self::Schema(_) => {
                let schema = serde_json::to_string_pretty(&taskfile::json_schema());
                Some(schema.map_err(Into::into).and_then(|schema| print(&[schema])))
            }
            Self::Simulate(simulate) => Some(simulate::run(simulate)),
            Self::Plan(compare) => compare.offline(),
            _ => None,
        }
    }
}

/// Runs a command that needs a server.
pub(crate) async fn run(command: TasksCommand, config: &Config) -> anyhow::Result<()> {
    match command {
        TasksCommand::List(listing) => look::list(listing, config).await,
        TasksCommand::Explain { task, asked } => look::explain(task, &asked, config).await,
        TasksCommand::Queue { asked } => look::queue(&asked, config).await,
        TasksCommand::History { task, limit, asked } => look::history(task, limit, &asked, config).await,
        TasksCommand::Runs { task, limit, asked } => look::runs(task, limit, &asked, config).await,
        TasksCommand::Log(log) => log::run(log, config).await,
        TasksCommand::Run { record, wish } => act::run(record, wish, config).await,
        TasksCommand::Pause { wish } => act::pause(wish, config).await,
        TasksCommand::Resume { wish } => act::resume(wish, config).await,
        TasksCommand::Cancel { wish } => act::cancel(wish, config).await,
        TasksCommand::Kill { wish } => act::kill(wish, config).await,
        TasksCommand::State { command } => act::state(command, config).await,
        TasksCommand::Backfill(backfill) => act::backfill(backfill, config).await,
        TasksCommand::BackfillResume { wish } => act::backfill_resume(wish, config).await,
        TasksCommand::BackfillCancel { wish } => act::backfill_cancel(wish, config).await,
        TasksCommand::Apply(apply) => apply::run(apply, config).await,
        TasksCommand::Plan(compare) => apply::plan(compare, config).await,
        TasksCommand::Files { asked } => apply::files(&asked, config).await,
        offline => offline.offline().unwrap_or(Ok(())),
    }
}
