//! The settings of reactive tasks (`docs/tasks.md`).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Url;

/// Reactive tasks: where their files and runs are, and who is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tasks {
    /// A task file, or a folder of them, that a process with the role `tasks` puts to work when it
    /// starts. None by default: `torg tasks apply` does it.
    pub path: PathBuf,
    /// The topic that hears of every change of a task; made if it is not there.
    pub topic: String,
    /// Partitions of that topic, when it is made.
    pub topic_partitions: u32,
    /// The folder of runs, on a disk of this machine. By default the folder `runs` in `data_dir`.
    pub runs_dir: PathBuf,
    /// Who is told of alerts, by HTTP. Nobody by default.
    pub webhook_url: Url,
    /// Where services reach this process to tell the end of a run: `https://torg-1.local:8080`. By
    /// default `listen`, if that is an address of one machine.
    pub callback_url: String,
    /// A process that decides and is silent for so long is taken to be dead, and another one
    /// decides.
    pub lease_ms: u32,
}

impl Default for Tasks {
    fn default() -> Tasks {
        Tasks {
            path: PathBuf::new(),
            topic: "tasks".to_owned(),
            topic_partitions: 4,
            runs_dir: PathBuf::from("./data/runs"),
            webhook_url: Url::from(""),
            callback_url: String::new(),
            lease_ms: 10_000,
        }
    }
}
