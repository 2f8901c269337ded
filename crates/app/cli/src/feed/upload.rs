//! `torg feed upload FILE`: sends a file and follows its load to the end.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::{GetLoadRequest, Load};

use super::asked::{AskedOfFeed, Client, Follow, answered};
use super::files::{self, FeedPath};
use super::{check, remote, words};
use node::config::Config;
use terminal::errors::advised;
use terminal::{redraws_on_stderr, remark};

/// Polling interval of a load's progress.
const LOOK_AGAIN: Duration = Duration::from_millis(300);

/// What to upload.
#[derive(Debug, Args)]
pub(crate) struct Upload {
    /// The file, packed or not; - is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Waits until the load is over, and prints what came of it. A load that failed, or has to be
    /// confirmed, is an error.
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    feed: AskedOfFeed,
}

pub(super) async fn run(upload: &Upload, config: &Config) -> anyhow::Result<()> {
    let (input, _) = check::open(&upload.file)?;
    let remote = upload.feed.asked.remote(config).await?;
    let client = Client::new(remote.connection.clone(), remote.config.clone());
    let feed = remote::get(&client, &upload.feed).await?;
    let path = FeedPath { seller: &feed.seller, namespace: &feed.namespace };
    let number = files::upload(&remote, &path, input).await?;
    let follow = upload.feed.follow(config);
    let mut load = look(&client, &feed.seller, &feed.namespace, number).await?;
    if !upload.wait {
        let said = format!("load {} is queued: {}", load.number, follow.line("history"));
        return upload.feed.asked.say(&load, || vec![said]);
    }
    let line = redraws_on_stderr();
    while !words::is_settled(&load) {
        tokio::time::sleep(LOOK_AGAIN).await;
        load = look(&client, &feed.seller, &feed.namespace, number).await?;
        if line {
            remark(format!("\r\x1b[K{}", words::progress(&load)));
        }
    }
    if line {
        remark("\r\x1b[K");
    }
    upload.feed.asked.say(&load, || words::load(&load, &follow))?;
    verdict(&load, &follow)
}

async fn look(client: &Client, seller: &str, namespace: &str, number: u64) -> anyhow::Result<Load> {
    let (seller, namespace) = (seller.to_owned(), namespace.to_owned());
    let request = GetLoadRequest { seller, namespace, number, ..Default::default() };
    Ok(answered(client.get_load(request).await)?.load.into_option().unwrap_or_default())
}

fn verdict(load: &Load, follow: &Follow) -> anyhow::Result<()> {
    let number = load.number;
    match load.state.as_known().unwrap_or_default() {
        State::STATE_FAILED => {
            bail!(advised(format!("load {number} failed"), "mend the file and upload it again"))
        }
        State::STATE_SUPERSEDED => bail!("load {number} was overtaken by a later one"),
        State::STATE_WAITING => bail!(advised(
            format!("load {number} would remove {} of {} offers", load.would_remove, load.would_remove_of),
            format!("look at the file; if it is right: {}", follow.line(&format!("confirm {number}")))
        )),
        _ => Ok(()),
    }
}
