//! The tables of tasks, besides those of the watcher. There is one shard, so that there is one
//! leader.

use store::{Table, TableDef};

pub(crate) const SHARD: u32 = 0;

/// History: `TaskEvent` of `proto/torg/tasks/v1/task.proto`, by the resulting version.
pub(crate) static EVENTS: Table<(u32, String, i64)> =
    Table::plain("task_events", &["shard", "task", "entity_version"]);

pub(crate) static RUNS: Table<(u32, String, i64)> = Table::plain("task_runs", &["shard", "task", "run"]);

/// Tasks with manual changes that the leader has not read yet. The version is that of the task.
pub(crate) static MARKS: Table<(u32, String)> = Table::versioned("task_marks", &["shard", "task"]);

/// Ends of runs that other processes reported and the leader has not committed yet: `TaskRunEnd`.
pub(crate) static ENDS: Table<(u32, String, i64)> = Table::plain("task_run_ends", &["shard", "task", "run"]);

/// Requested kills, by place.
pub(crate) static KILLS: Table<(u32, String, String, i64)> =
    Table::plain("task_run_kills", &["shard", "place", "task", "run"]);

/// Deployments by number: `Deployment`. Number zero is the newest one, and its version is the
/// number.
pub(crate) static DEPLOYMENTS: Table<(u32, i64)> =
    Table::versioned("task_deployments", &["shard", "deployment"]);

pub(crate) static FILES: Table<(u32, i64, i64, i64)> =
    Table::plain("task_files", &["shard", "deployment", "file", "piece"]).large();

/// For the schema of a store, besides the tables of the watcher and of values.
#[must_use]
pub fn tables() -> Vec<&'static TableDef> {
    vec![EVENTS.def(), RUNS.def(), MARKS.def(), ENDS.def(), KILLS.def(), DEPLOYMENTS.def(), FILES.def()]
}
