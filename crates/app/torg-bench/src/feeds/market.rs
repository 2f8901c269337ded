//! A marketplace for one measurement: everything that `torg serve` runs, in this process, without a
//! port.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use bytes::Bytes;
use feedfile::generate::Plan;
use feeds::FeedName;
use feeds::Feeds;
use offers::{Offers, StoredOffer};
use store::{Read as _, Store};
use tokio::sync::watch;
use tokio_postgres::NoTls;
use topics::Topics;
use watcher::Entity as _;
use wire::torg::feeds::v1::load::{Origin, State};
use wire::torg::feeds::v1::{Feed, Load};
use wire::torg::offers::v1::source;

use super::options::FeedsBench;
use crate::resting;
use node::parts;
use node::roles::stages::{Marketplace, Work};
use node::supervisor::Running;

/// A run fails after this time without progress.
const PATIENCE: Duration = Duration::from_secs(120);
/// The poll interval for the end of a load.
const LOOK_EVERY: Duration = Duration::from_millis(5);
const PIECE_BYTES: usize = 1 << 20;
const PAGE: usize = 1000;

pub(super) struct Market {
    pub(super) feeds: Feeds,
    offers: Offers,
    store: Store,
    topics: Topics,
    topic: String,
    folder: PathBuf,
    running: Running,
    _closing: watch::Sender<bool>,
}

impl Market {
    /// An empty marketplace.
    pub(super) async fn open(args: &FeedsBench, side: &str) -> anyhow::Result<Self> {
        clear(args, side).await?;
        let config = args.config(side);
        std::fs::create_dir_all(&config.data_dir).context("cannot make the folder of the run")?;
        let store = parts::open_store(&config).await?;
        let topics = parts::open_topics(&config, &store).await?;
        let closing = watch::Sender::new(false);
        let marketplace =
            Marketplace::open(&config, &store, &topics, &parts::open_ctl(&store), closing.subscribe())
                .await?;
        let (offers, feeds) = (marketplace.market.offers.clone(), marketplace.feeds_role.feeds.clone());
        let running = marketplace.run(Work { offers: true, feeds: true });
        let (topic, folder) = (config.offers.topic, config.data_dir);
        Ok(Self { feeds, offers, store, topics, topic, folder, running, _closing: closing })
    }

    pub(super) fn write(&self, name: &str, plan: &Plan) -> anyhow::Result<PathBuf> {
        let file = self.folder.join(name);
        plan.write(BufWriter::new(File::create(&file)?))?;
        Ok(file)
    }

    pub(super) async fn feed(&self, seller: &str) -> anyhow::Result<FeedName> {
        let feed = self.feeds.create(Feed { seller: seller.to_owned(), ..Feed::default() }).await?;
        Ok(FeedName { seller: feed.seller, namespace: feed.namespace })
    }

    /// Uploads a file and returns the number of its load.
    pub(super) async fn upload(&self, feed: &FeedName, file: &PathBuf) -> anyhow::Result<u64> {
        let (files, file) = (self.feeds.files().clone(), File::open(file)?);
        let spooled = tokio::task::spawn_blocking(move || {
            let (mut file, mut spool) = (file, files.spool()?);
            loop {
                let mut piece = Vec::with_capacity(PIECE_BYTES);
                (&mut file).take(PIECE_BYTES as u64).read_to_end(&mut piece)?;
                if piece.is_empty() {
                    return anyhow::Ok(spool.finish()?);
                }
                spool.write(&Bytes::from(piece))?;
            }
        });
        Ok(self.feeds.upload(feed, spooled.await??, Origin::ORIGIN_UPLOAD).await?)
    }

    /// Waits until a load is done; any other end is an error.
    pub(super) async fn done(&self, feed: &FeedName, number: u64) -> anyhow::Result<Load> {
        let (mut last, mut since) = (None, Instant::now());
        loop {
            let load = self.feeds.load(feed, number).await?;
            match load.state.as_known() {
                Some(State::STATE_DONE) => return Ok(load),
                Some(State::STATE_QUEUED | State::STATE_READING | State::STATE_APPLYING) => {}
                _ => anyhow::bail!("the load of {} ended otherwise: {load:?}", feed.seller),
            }
            if last.as_ref() != Some(&load) {
                (last, since) = (Some(load), Instant::now());
            }
            anyhow::ensure!(since.elapsed() < PATIENCE, "nothing becomes of the load: {last:?}");
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Waits until the topic has every change and returns how long it took.
    pub(super) async fn send_off(&self) -> anyhow::Result<Duration> {
        resting::until_exported(&self.store).await
    }

    /// Waits until the engine has flushed and compacted what was written.
    pub(super) async fn settle(&self) -> anyhow::Result<()> {
        resting::until_settled(&self.store).await;
        Ok(())
    }

    /// Messages ever written to the topic of changes.
    pub(super) async fn exported(&self) -> anyhow::Result<i64> {
        let described = self.topics.describe(&self.topic).await?;
        Ok(described.partitions.iter().map(|partition| partition.end).sum())
    }

    /// The versions of all offers, by their external ids.
    pub(super) async fn versions(&self) -> anyhow::Result<BTreeMap<String, u64>> {
        let mut versions = BTreeMap::new();
        for shard in 0..self.offers.watcher().shards() {
            let mut scan = StoredOffer::scan(shard).limit(PAGE);
            loop {
                let rows = self.store.scan(&scan).await?.rows;
                let Some(last) = rows.last().map(|row| row.key.clone()) else { break };
                for row in rows {
                    let stored = StoredOffer::decode(&row.value).map_err(anyhow::Error::msg)?;
                    versions.insert(external_id(&stored)?, row.version);
                }
                scan = StoredOffer::scan(shard).limit(PAGE).after(last);
            }
        }
        Ok(versions)
    }

    pub(super) async fn close(self) -> anyhow::Result<()> {
        self.running.close().await?;
        self.topics.close().await?;
        self.store.close().await?;
        Ok(())
    }
}

fn external_id(stored: &StoredOffer) -> anyhow::Result<String> {
    let kind = stored.offer.source.as_option().and_then(|source| source.kind.as_ref());
    match kind {
        Some(source::Kind::Feed(feed)) => Ok(feed.external_id.clone()),
        _ => anyhow::bail!("an offer did not come by a feed"),
    }
}

/// Removes the data of one side, if it exists.
pub(super) async fn clear(args: &FeedsBench, side: &str) -> anyhow::Result<()> {
    if let Some(url) = args.run.postgres() {
        let (client, connection) =
            tokio_postgres::connect(url, NoTls).await.context("cannot connect to the server")?;
        tokio::spawn(connection);
        let schema = FeedsBench::schema(side);
        client.batch_execute(&format!("drop schema if exists {schema} cascade")).await?;
    }
    let folder = args.folder().join(side);
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}
