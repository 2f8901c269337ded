//! `torg tasks`: files of reactive tasks, checked, drawn, simulated and compared. Everything here works without a server.

mod draw;
mod files;
mod plan;
mod simulate;
mod simulated;
mod validate;

use clap::Subcommand;

use self::draw::Draw;
use self::plan::Compare;
use self::simulate::Simulate;
use self::validate::Validate;
use super::print;

/// What can be done with files of tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum TasksCommand {
    /// Reads task files and says everything that is wrong with them, where, and how to mend it.
    Validate(Validate),
    /// Prints which tasks read and move which parameters, to be drawn.
    Graph(Draw),
    /// Prints the JSON Schema of task files, for editors.
    Schema,
    /// Replays a log of values against task files on a virtual clock, and says what would have run.
    Simulate(Simulate),
    /// Says what differs between two sets of task files, and which tasks would fire at once.
    Plan(Compare),
}

/// Runs the command.
pub(crate) fn run(command: &TasksCommand) -> anyhow::Result<()> {
    match command {
        TasksCommand::Validate(validate) => validate::run(validate),
        TasksCommand::Graph(draw) => draw::run(draw),
        TasksCommand::Schema => print(&[serde_json::to_string_pretty(&taskfile::json_schema())?]),
        TasksCommand::Simulate(simulate) => simulate::run(simulate),
        TasksCommand::Plan(compare) => plan::run(compare),
    }
}
