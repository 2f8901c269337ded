//! Shared flags that select a server and a feed, and the output of responses.

use clap::Args;
use connectrpc::{ConnectError, ErrorCode};
use serde::Serialize;
use wire::torg::feeds::v1::FeedServiceClient;

use super::super::remote::{Place, Remote, said};
use node::config::Config;
use terminal::errors::advised;
use terminal::say;
use text::shell::quoted;

pub(super) type Client = FeedServiceClient;

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

/// The namespace of a seller's only feed.
pub(super) const DEFAULT_NAMESPACE: &str = "default";

/// Builds follow-up commands that work exactly as printed.
pub(super) struct Follow(String);

impl Follow {
    /// A complete `torg feed` command line.
    pub(super) fn line(&self, words: &str) -> String {
        format!("torg feed {words}{}", self.0)
    }

    #[cfg(test)]
    pub(super) fn with(flags: &str) -> Follow {
        Follow(flags.to_owned())
    }
}

impl AskedOfFeed {
    /// Follow-up commands about the same feed.
    pub(super) fn follow(&self, config: &Config) -> Follow {
        let Follow(of_seller) = self.asked.follow(config);
        let is_usual = self.namespace == DEFAULT_NAMESPACE;
        let feed = if is_usual { String::new() } else { format!(" --namespace {}", quoted(&self.namespace)) };
        Follow(feed + &of_seller)
    }
}

impl Asked {
    /// Follow-up commands about the same seller.
    pub(super) fn follow(&self, config: &Config) -> Follow {
        let seller = if self.seller.is_empty() {
            String::new()
        } else {
            format!(" --seller {}", quoted(&self.seller))
        };
        Follow(seller + &self.place.flags(config))
    }

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
            "`torg feed list` with the same --seller shows the feeds that there are, --namespace names one of several",
        ),
        ErrorCode::InvalidArgument if said(&error).to_string().starts_with("seller: ") => {
            advised(said(&error), "say whose feeds with --seller, or give a seller's own token")
        }
        _ => said(&error),
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        feed: AskedOfFeed,
    }

    #[test]
    fn commands_that_follow_mean_the_same_feed_of_the_same_seller_at_the_same_process() {
        let follow = |flags: &[&str]| {
            let line = Line::try_parse_from([&["torg"], flags].concat()).unwrap();
            line.feed.follow(&Config::default()).line("history")
        };
        assert_eq!(follow(&[]), "torg feed history");
        assert_eq!(
            follow(&["--server", "http://h:81", "--seller", "anna-k", "--namespace", "my own"]),
            "torg feed history --namespace 'my own' --seller anna-k --server http://h:81"
        );
    }
}
