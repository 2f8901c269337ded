//! The ad store in this process, without RPC.

use std::time::Duration;

use anyhow::Context as _;
use offers::Offers;
use store::Store;
use tokio::sync::watch;
use tokio_postgres::NoTls;
use topics::Topics;

use super::options::{OffersBench, SCHEMA};
use crate::resting;
use node::parts;
use node::roles::stages::{Marketplace, Work};
use node::supervisor::Running;

/// The ad store with all its background work.
pub(super) struct Base {
    pub(super) offers: Offers,
    store: Store,
    topics: Topics,
    running: Running,
    _closing: watch::Sender<bool>,
}

impl Base {
    pub(super) async fn open(args: &OffersBench) -> anyhow::Result<Self> {
        let config = args.config();
        std::fs::create_dir_all(&config.data_dir).context("cannot make the folder of the run")?;
        let store = parts::open_store(&config).await?;
        let topics = parts::open_topics(&config, &store).await?;
        let closing = watch::Sender::new(false);
        let marketplace =
            Marketplace::open(&config, &store, &topics, &parts::open_ctl(&store), closing.subscribe())
                .await?;
        let offers = marketplace.market.offers.clone();
        Ok(Self {
            offers,
            store,
            topics,
            running: marketplace.run(Work { offers: true, feeds: false }),
            _closing: closing,
        })
    }

    /// Waits until the topic has every change, so that a measurement does not begin with a backlog.
    /// Returns how long it took.
    pub(super) async fn send_off(&self) -> anyhow::Result<Duration> {
        resting::until_exported(&self.store).await
    }

    /// Waits until the engine has flushed and compacted what was written.
    pub(super) async fn settle(&self) -> anyhow::Result<()> {
        resting::until_settled(&self.store).await;
        Ok(())
    }

    pub(super) async fn close(self) -> anyhow::Result<()> {
        self.running.close().await?;
        self.topics.close().await?;
        self.store.close().await?;
        Ok(())
    }
}

/// Removes the store of a run, if it exists.
pub(super) async fn clear(args: &OffersBench) -> anyhow::Result<()> {
    if let Some(url) = args.run.postgres() {
        execute(url, &[&format!("drop schema if exists {SCHEMA} cascade")]).await?;
    }
    match std::fs::remove_dir_all(args.folder()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot remove {}", args.folder().display()));
        }
        _ => {}
    }
    // The folder stays if it holds something else.
    let _ = std::fs::remove_dir(args.run.folder());
    Ok(())
}

/// Makes PostgreSQL and the system flush delayed writes, so that they do not fall into a
/// measurement.
pub(super) async fn put_away(args: &OffersBench) -> anyhow::Result<()> {
    if let Some(url) = args.handmade_server() {
        execute(url, &["vacuum analyze", "checkpoint"]).await?;
    }
    tokio::task::spawn_blocking(rustix::fs::sync).await?;
    Ok(())
}

async fn execute(url: &str, statements: &[&str]) -> anyhow::Result<()> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.context("cannot connect to the server")?;
    tokio::spawn(connection);
    for statement in statements {
        client.batch_execute(statement).await.with_context(|| format!("{statement} failed"))?;
    }
    Ok(())
}
