//! Whom to ask about which feed, and how to print the answer.

use anyhow::Context as _;
use clap::Args;
use connectrpc::ConnectError;
use connectrpc::client::SharedHttp2Connection;
use contract::torg::feeds::v1::FeedServiceClient;
use serde::Serialize;

use super::super::print;
use super::super::remote::{Place, Remote, said};
use crate::config::Config;

pub(super) type Client = FeedServiceClient<SharedHttp2Connection>;

/// Whom to ask, and how to print the answer.
#[derive(Debug, Args)]
pub(crate) struct Asked {
    /// Whose feeds; by default the caller's own.
    #[arg(long, value_name = "ID", default_value = "")]
    pub(super) seller: String,
    /// Prints the answer as JSON.
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    place: Place,
}

/// One feed, whom to ask about it, and how to print the answer.
#[derive(Debug, Args)]
pub(crate) struct AskedOfFeed {
    /// Which of the seller's feeds.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_NAMESPACE)]
    pub(super) namespace: String,
    #[command(flatten)]
    pub(super) asked: Asked,
}

/// The feed of a seller who has only one.
pub(super) const DEFAULT_NAMESPACE: &str = "default";

impl Asked {
    pub(super) async fn remote(&self, config: &Config) -> anyhow::Result<Remote> {
        self.place.connect_or_own(config).await
    }

    pub(super) async fn client(&self, config: &Config) -> anyhow::Result<Client> {
        let remote = self.remote(config).await?;
        Ok(Client::new(remote.connection, remote.config))
    }

    pub(super) fn say(
        &self,
        answer: &impl Serialize,
        words: impl FnOnce() -> Vec<String>,
    ) -> anyhow::Result<()> {
        if self.json { print(&[as_json(answer)?]) } else { print(&words()) }
    }
}

pub(super) fn as_json(answer: &impl Serialize) -> anyhow::Result<String> {
    serde_json::to_string_pretty(answer).context("the answer cannot be written as JSON")
}

pub(super) fn answered<T>(answer: Result<T, ConnectError>) -> anyhow::Result<T> {
    answer.map_err(|error| said(&error))
}
