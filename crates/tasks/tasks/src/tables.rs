//! The tables of tasks, beside those of the watcher. There is one shard, so that there is one scheduler.

use store::{Table, TableDef};

/// The one shard.
pub(crate) const SHARD: u32 = 0;

/// What happened to tasks: `TaskEvent` of `proto/torg/tasks/v1/task.proto`, by the version that it made.
pub(crate) static EVENTS: Table<(u32, String, i64)> =
    Table::plain("task_events", &["shard", "task", "entity_version"]);

/// Runs: `TaskRun`.
pub(crate) static RUNS: Table<(u32, String, i64)> = Table::plain("task_runs", &["shard", "task", "run"]);

/// Tasks that people have changed, until the scheduler has seen it. The version is that of the task.
pub(crate) static MARKS: Table<(u32, String)> = Table::versioned("task_marks", &["shard", "task"]);

/// Ends of runs that a process saw which is not the scheduler, until the scheduler has committed them: `TaskRunEnd`.
pub(crate) static ENDS: Table<(u32, String, i64)> = Table::plain("task_run_ends", &["shard", "task", "run"]);

/// Runs that are to be killed, by the place where they are.
pub(crate) static KILLS: Table<(u32, String, String, i64)> =
    Table::plain("task_run_kills", &["shard", "place", "task", "run"]);

/// Deployments by number: `Deployment`. Number zero has the newest, and its version is the number.
pub(crate) static DEPLOYMENTS: Table<(u32, i64)> =
    Table::versioned("task_deployments", &["shard", "deployment"]);

/// The files of deployments, in pieces.
pub(crate) static FILES: Table<(u32, i64, i64, i64)> =
    Table::plain("task_files", &["shard", "deployment", "file", "piece"]).large();

/// The tables that a store must be opened with, beside those of the watcher and of values.
#[must_use]
pub fn tables() -> Vec<&'static TableDef> {
    vec![EVENTS.def(), RUNS.def(), MARKS.def(), ENDS.def(), KILLS.def(), DEPLOYMENTS.def(), FILES.def()]
}
