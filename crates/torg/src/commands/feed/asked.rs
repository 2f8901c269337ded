//! Whom to ask about which feed, and how to print the answer.

use clap::Args;
use connectrpc::client::SharedHttp2Connection;
use connectrpc::{ConnectError, ErrorCode};
use contract::torg::feeds::v1::FeedServiceClient;
use serde::Serialize;

use super::super::remote::{Place, Remote, said};
use super::super::show::say;
use crate::config::Config;
use crate::errors::advised;

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
        say(self.json, answer, words)
    }
}

pub(super) fn answered<T>(answer: Result<T, ConnectError>) -> anyhow::Result<T> {
    answer.map_err(|error| match error.code {
        ErrorCode::NotFound => advised(
            said(&error),
            "`torg feed list` shows the feeds that there are, --namespace names one of several",
        ),
        ErrorCode::InvalidArgument if said(&error).to_string().starts_with("seller: ") => {
            advised(said(&error), "say whose feeds with --seller, or give a seller's own token")
        }
        _ => said(&error),
    })
}
