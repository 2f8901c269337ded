//! `torg feed`: checks feed files offline, and manages feeds through a running process.

mod asked;
mod bar;
mod check;
mod files;
mod problems;
mod remote;
mod settings;
mod upload;
mod words;

use clap::Subcommand;

use self::asked::{Asked, AskedOfFeed};
use self::check::Check;
use self::problems::Errors;
use self::settings::{Fate, FeedSettings};
use self::upload::Upload;
use super::print;
use node::config::Config;

/// What can be done with feeds.
#[derive(Debug, Subcommand)]
pub(crate) enum FeedCommand {
    /// Reads a file and says everything that a load would say of it: format, encoding, and what is
    /// wrong, where, and how to mend it. Asks nobody.
    Check(Check),
    /// Prints the schema (XSD) of Torg's own XML.
    Schema,
    /// Makes a feed.
    Add {
        #[command(flatten)]
        settings: Box<FeedSettings>,
        #[command(flatten)]
        feed: AskedOfFeed,
    },
    /// The feeds of a seller.
    List {
        #[command(flatten)]
        asked: Asked,
    },
    /// One feed: where it comes from, when, and what came of it last.
    Show {
        #[command(flatten)]
        feed: AskedOfFeed,
    },
    /// Changes what is named of a feed.
    Update {
        #[command(flatten)]
        settings: Box<FeedSettings>,
        #[command(flatten)]
        feed: AskedOfFeed,
    },
    /// Has a feed neither fetched nor loaded until it is resumed.
    Pause {
        #[command(flatten)]
        feed: AskedOfFeed,
    },
    /// Has a feed go on that was paused.
    Resume {
        #[command(flatten)]
        feed: AskedOfFeed,
    },
    /// Deletes a feed.
    Delete {
        /// What becomes of its offers.
        #[arg(long, value_enum)]
        offers: Fate,
        #[command(flatten)]
        feed: AskedOfFeed,
    },
    /// Uploads a file to be loaded.
    Upload(Upload),
    /// Has the link of a feed fetched as soon as possible.
    Fetch {
        #[command(flatten)]
        feed: AskedOfFeed,
    },
    /// The loads of a feed, the newest first.
    History {
        /// Loads that are listed.
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        #[command(flatten)]
        feed: AskedOfFeed,
    },
    /// What is wrong with the offers of a load: how often, where, and how to mend it.
    Errors(Box<Errors>),
    /// Lets a load go on that waits because it would remove many offers.
    Confirm {
        /// The number of the load; by default the last one.
        #[arg(default_value_t = 0)]
        load: u64,
        #[command(flatten)]
        feed: AskedOfFeed,
    },
    /// What a seller's own categories were taken for.
    Mappings {
        #[command(flatten)]
        asked: Asked,
    },
    /// Says which category of the catalogue a seller's own is, from the next load on.
    Map {
        /// The seller's category from the top down: `Electronics > Phones`.
        own: String,
        /// A category of the catalogue; left out: it is recognised again.
        category: Option<String>,
        #[command(flatten)]
        asked: Asked,
    },
}

pub(crate) async fn run(command: FeedCommand, config: &Config) -> anyhow::Result<()> {
    match command {
        FeedCommand::Check(check) => tokio::task::block_in_place(|| check::run(&check, config)),
        FeedCommand::Schema => print(&[feedfile::XSD.trim_end()]),
        FeedCommand::Upload(upload) => upload::run(&upload, config).await,
        FeedCommand::Errors(errors) => problems::run(&errors, config).await,
        other => remote::run(other, config).await,
    }
}
