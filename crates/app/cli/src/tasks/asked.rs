//! Shared flags that select a server, and hints for its errors.

use clap::Args;
use connectrpc::ConnectError;
use serde::Serialize;
use wire::torg::tasks::v1::TaskServiceClient;

use super::super::remote::{Place, reason, said};
use node::config::Config;
use terminal::errors::advised;
use terminal::say;

/// Whom to ask, and how to print the answer.
#[derive(Debug, Args)]
pub(crate) struct Asked {
    /// Prints the answer as JSON.
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    place: Place,
}

pub(super) type Client = TaskServiceClient;

impl Asked {
    pub(super) async fn client(&self, config: &Config) -> anyhow::Result<Client> {
        let remote = self.place.connect_or_own(config).await?;
        Ok(Client::new(remote.connection, remote.config))
    }

    pub(super) fn say(
        &self,
        answer: &impl Serialize,
        words: impl FnOnce() -> Vec<String>,
    ) -> anyhow::Result<()> {
        say(self.json, answer, words)
    }
}

/// Converts a server error into an error with a hint for the command line.
pub(super) fn answered<T>(answer: Result<T, ConnectError>) -> anyhow::Result<T> {
    answer.map_err(|error| {
        let hint = match &*reason(&error) {
            "TASK_NOT_FOUND" => {
                "`torg tasks list` shows the tasks that there are, `torg tasks apply` makes others"
            }
            "RUN_NOT_FOUND" => "`torg tasks runs TASK` shows the runs that are kept",
            "NOT_OF_TRIGGER" | "NOT_REMEMBERED" => "`torg tasks state get TASK` shows what is remembered",
            "NOT_RUNNING" | "NOT_QUEUED" | "CHUNK_QUEUED" | "NOT_PAUSED" | "PAUSED_ALREADY"
            | "ASKED_ALREADY" | "BACKFILL_UNDER_WAY" | "NO_BACKFILL" => {
                "`torg tasks explain TASK` tells how it stands"
            }
            "NOT_TAKEN_UP" => "try again; if it stays so, start a `torg serve` with the role tasks",
            "EMPTY_RANGE" => "--from is a day or a moment before --to",
            _ => return said(&error),
        };
        advised(said(&error), hint)
    })
}
