//! Deletes old loads, and deleted feeds: first rows, then the file, then the load, and the feed
//! last.

use std::time::Duration;

use store::{Batch, Outcome, Read as _, Scan};
use tokio::sync::watch;
use wire::torg::feeds::v1::load::State;

use crate::background::repeat;
use crate::error::{Error, Result};
use crate::feed::load_key;
use crate::feeds::Feeds;
use crate::loads::is_over;
use crate::name::FeedName;
use crate::tables::{MAPPINGS, OLD_LOADS, PROBLEMS};

const SCAN_EVERY: Duration = Duration::from_secs(5);
/// Rows that are deleted in one commit.
const PAGE: usize = 1000;

impl Feeds {
    /// Schedules a cleanup of a feed after the end of a load.
    pub(crate) fn queue_cleaning(&self, batch: &mut Batch, name: &FeedName, load: u64) {
        let shard = self.seller_shard(&name.seller);
        batch.set(OLD_LOADS.key((shard, &*name.seller, &*name.namespace, load.cast_signed())), Vec::new());
    }

    /// Cleans up until `stop` says so.
    pub async fn run_cleaning(&self, stop: watch::Receiver<bool>) {
        repeat("clean up feeds", None, stop, || self.clean_or_rest()).await;
    }

    async fn clean_or_rest(&self) -> Result<()> {
        if self.clean().await? == 0 {
            tokio::time::sleep(SCAN_EVERY).await;
        }
        Ok(())
    }

    /// Cleans up after ended loads; how many there were.
    async fn clean(&self) -> Result<usize> {
        let rows = self.store().scan(&Scan::all(OLD_LOADS.def()).limit(PAGE)).await?.rows;
        for row in &rows {
            let (_, seller, namespace, number) = OLD_LOADS.parts(&row.key)?;
            self.clean_feed(&FeedName { seller, namespace }, number.cast_unsigned()).await?;
            let mut batch = Batch::new();
            batch.delete(row.key.clone());
            let _: Outcome = self.store().commit(batch).await?;
        }
        Ok(rows.len())
    }

    async fn clean_feed(&self, name: &FeedName, over: u64) -> Result<()> {
        let deleting = match self.find(name).await {
            Ok(found) => found.entity.internal().deleting.into_option().is_some_and(|it| it.load <= over),
            Err(Error::NotFound { .. }) => true,
            Err(error) => return Err(error),
        };
        let kept = if deleting { 0 } else { self.deps.config.loads_kept };
        let newest = self.loads(name, None, 1).await?.first().map_or(0, |load| load.number);
        let mut before = None;
        loop {
            let loads = self.loads(name, before, 100).await?;
            let Some(last) = loads.last() else { break };
            before = Some(last.number);
            for load in &loads {
                let is_old = load.number + kept <= newest;
                let done = is_over(load) || load.state.as_known() == Some(State::STATE_WAITING);
                if deleting || is_old && done {
                    self.delete_load(name, load.number).await?;
                }
            }
        }
        if deleting { self.delete_last_rows(name).await } else { Ok(()) }
    }

    async fn delete_load(&self, name: &FeedName, number: u64) -> Result<()> {
        let shard = self.seller_shard(&name.seller);
        let file = self.stored_load(name, number).await?.and_then(|(load, _)| load.keeping.into_option());
        self.delete_all(&PROBLEMS.prefix((shard, &*name.seller, &*name.namespace, number.cast_signed())))
            .await?;
        if let Some(file) = file.map(|keeping| keeping.file).filter(|file| !file.is_empty()) {
            self.deps.files.delete(&file).await?;
        }
        let mut batch = Batch::new();
        batch.delete(load_key(shard, name, number));
        let _: Outcome = self.store().commit(batch).await?;
        Ok(())
    }

    /// Deletes the last rows of a feed whose offers are gone.
    async fn delete_last_rows(&self, name: &FeedName) -> Result<()> {
        let shard = self.seller_shard(&name.seller);
        if self.list(&name.seller, "", 2).await?.len() <= 1 {
            self.delete_all(&MAPPINGS.prefix((shard, &*name.seller))).await?;
        }
        let found = match self.find(name).await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut batch = Batch::new();
        self.deps.watcher.remove(&mut batch, &found).await?;
        if self.store().commit(batch).await?.is_applied() { Ok(()) } else { Err(Error::Contended) }
    }

    async fn delete_all(&self, scan: &Scan) -> Result<()> {
        loop {
            let rows = self.store().scan(&scan.clone().limit(PAGE)).await?.rows;
            if rows.is_empty() {
                return Ok(());
            }
            let mut batch = Batch::new();
            for row in rows {
                batch.delete(row.key);
            }
            let _: Outcome = self.store().commit(batch).await?;
        }
    }
}
