//! The settings of reactive tasks (`docs/tasks.md`).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Url;

/// Reactive tasks: files, runs, and notifications.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tasks {
    /// A task file, or a folder of them, that a process with the role `tasks` applies when it
    /// starts. None by default: use `torg tasks apply`.
    pub path: PathBuf,
    /// The topic that receives every change of a task; created if missing.
    pub topic: String,
    /// Number of partitions of that topic when it is created.
    pub topic_partitions: u32,
    /// The folder of runs, on a local disk. Default: the folder `runs` in `data_dir`.
    pub runs_dir: PathBuf,
    /// The URL that receives alerts by HTTP. None by default.
    pub webhook_url: Url,
    /// The URL at which services report the end of a run to this process:
    /// `https://torg-1.local:8080`. Default: `listen`, if that is the address of one machine.
    pub callback_url: String,
    /// The lease of the deciding process. If it does not renew for this long, another process takes
    /// over.
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
