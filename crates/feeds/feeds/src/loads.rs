//! Loads: the progress and results of files.

use buffa::Message as _;
use store::{Batch, Read as _, Row};
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::{Counts, Load, LoadKeeping};

use crate::error::{Error, Result, damaged};
use crate::feed::load_key;
use crate::feeds::Feeds;
use crate::limits::ATTEMPTS_MAX;
use crate::name::FeedName;
use crate::tables::LOADS;

/// Whether the state of a load is final.
pub(crate) fn is_over(load: &Load) -> bool {
    use State::{STATE_DONE, STATE_FAILED, STATE_SUPERSEDED};
    matches!(load.state.as_known(), Some(STATE_DONE | STATE_FAILED | STATE_SUPERSEDED))
}

impl Feeds {
    /// A load, without internal fields.
    pub async fn load(&self, name: &FeedName, number: u64) -> Result<Load> {
        let (load, _) = self.stored_load(name, number).await?.ok_or(Error::NoLoad(number))?;
        Ok(shown(load))
    }

    /// The loads of a feed, the newest first, those before number `before`.
    pub async fn loads(&self, name: &FeedName, before: Option<u64>, limit: usize) -> Result<Vec<Load>> {
        let stored = self.stored_loads(name, before.unwrap_or(u64::MAX), limit).await?;
        Ok(stored.into_iter().map(|(load, _)| shown(load)).collect())
    }

    /// The loads of a feed before a number, the newest first, with their versions.
    pub(crate) async fn stored_loads(
        &self,
        name: &FeedName,
        before: u64,
        limit: usize,
    ) -> Result<Vec<(Load, u64)>> {
        let shard = self.seller_shard(&name.seller);
        let mut scan = LOADS.prefix((shard, &*name.seller, &*name.namespace)).descending().limit(limit);
        if before < i64::MAX.unsigned_abs() {
            scan = scan.after(load_key(shard, name, before));
        }
        let rows = self.store().scan(&scan).await?.rows;
        rows.iter().map(|row| Ok((read(row)?, row.version))).collect()
    }

    /// Confirms a load that waits because it would remove many offers.
    pub async fn confirm(&self, name: &FeedName, number: u64) -> Result<Load> {
        let load = self.load(name, number).await?;
        if load.state.as_known() != Some(State::STATE_WAITING) {
            return Err(Error::NotWaiting(number));
        }
        if !self.confirm_removal(name, number).await? {
            return Err(Error::NotWaiting(number));
        }
        self.rewrite_load(name, number, |load| {
            if load.state.as_known() == Some(State::STATE_WAITING) {
                load.state = State::STATE_APPLYING.into();
            }
        })
        .await?;
        self.load(name, number).await
    }

    pub(crate) async fn stored_load(&self, name: &FeedName, number: u64) -> Result<Option<(Load, u64)>> {
        let key = load_key(self.seller_shard(&name.seller), name, number);
        let Some(row) = self.store().get_one(&key).await? else { return Ok(None) };
        Ok(Some((read(&row)?, row.version)))
    }

    /// Adds the next state of a load that was read with this version to a batch.
    pub(crate) fn put_load(&self, batch: &mut Batch, name: &FeedName, version: u64, load: &Load) {
        let key = load_key(self.seller_shard(&name.seller), name, load.number);
        batch.check(key.clone(), version).put(key, version + 1, load.encode_to_vec());
    }

    /// Reads, changes and saves a load, again after a conflict. The saved load; `None` if it does
    /// not exist.
    pub(crate) async fn rewrite_load(
        &self,
        name: &FeedName,
        number: u64,
        change: impl Fn(&mut Load),
    ) -> Result<Option<Load>> {
        for _ in 0..ATTEMPTS_MAX {
            let Some((before, version)) = self.stored_load(name, number).await? else { return Ok(None) };
            let mut after = before.clone();
            change(&mut after);
            if after == before {
                return Ok(Some(after));
            }
            let mut batch = Batch::new();
            self.put_load(&mut batch, name, version, &after);
            if self.store().commit(batch).await?.is_applied() {
                return Ok(Some(after));
            }
        }
        Err(Error::Contended)
    }
}

pub(crate) fn read(row: &Row) -> Result<Load> {
    Load::decode_from_slice(&row.value).map_err(|error| damaged(row, error))
}

pub(crate) fn internal_mut(load: &mut Load) -> &mut LoadKeeping {
    load.keeping.get_or_insert_default()
}

pub(crate) fn counts(load: &mut Load) -> &mut Counts {
    load.counts.get_or_insert_default()
}

/// A load without internal fields, with its progress.
fn shown(mut load: Load) -> Load {
    let keeping = load.keeping.as_option().cloned().unwrap_or_default();
    let part = |some: u64, all: u64| if all == 0 { 0.0 } else { (some as f64 / all as f64).min(1.0) };
    load.progress = match load.state.as_known() {
        Some(State::STATE_READING) => part(keeping.read_bytes, load.bytes) * 0.99,
        Some(State::STATE_APPLYING) => {
            part(keeping.answered_batches.into(), keeping.sent_batches.into()) * 0.99
        }
        Some(State::STATE_UNSPECIFIED | State::STATE_QUEUED) | None => 0.0,
        Some(_) => 1.0,
    };
    Load { keeping: None.into(), ..load }
}
