//! Periodic maintenance of whole tables: archiving, expiry of old rows, repair of counters.
//!
//! A chore makes passes over its table in small steps. Its progress is stored: a pass continues
//! after a restart. A lease keeps other processes away; if two run the same chore, some work is
//! done twice.

mod steps;

use std::sync::Arc;
use std::time::Duration;

use buffa::Message;
use bytes::Bytes;
use store::{Batch, Read};
use tokio::sync::watch;
use watcher::Time;
use wire::torg::offers::v1::StoredChore;

use crate::error::{Result, damaged};
use crate::offers::Offers;
use crate::tables::CHORES;

/// The lease of a process on a chore.
const LEASE: Duration = Duration::from_secs(30);
/// The pause if nothing is due.
const IDLE_PAUSE: Duration = Duration::from_secs(5);
/// The pause between two steps, for other work of the machine.
const STEP_PAUSE: Duration = Duration::from_millis(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chore {
    /// Moves offers to the archive.
    Archive,
    /// Deletes old history.
    History,
    /// Deletes expired idempotency keys.
    Keys,
    /// Deletes drafts that were not changed for a long time.
    Drafts,
    /// Repairs counters.
    Counts,
}

pub const ALL: [Chore; 5] = [Chore::Archive, Chore::History, Chore::Keys, Chore::Drafts, Chore::Counts];

impl Chore {
    /// In keys and logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::History => "history",
            Self::Keys => "keys",
            Self::Drafts => "drafts",
            Self::Counts => "counts",
        }
    }

    /// From the start of a pass to the start of the next one.
    fn interval(self) -> Duration {
        match self {
            Self::Archive => Duration::from_secs(60),
            Self::Keys => Duration::from_secs(3600),
            Self::History | Self::Drafts | Self::Counts => Duration::from_secs(24 * 3600),
        }
    }
}

/// The outcome of [`Offers::run_chore_step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoreStep {
    Done,
    /// Nothing is due, or another process has the lease.
    NotDue,
}

impl Offers {
    /// Runs all chores until `stop` is true.
    pub async fn run_chores(&self, worker: &str, mut stop: watch::Receiver<bool>) {
        loop {
            let round = async {
                let mut stepped = false;
                for chore in ALL {
                    match self.run_chore_step(chore, worker).await {
                        Ok(outcome) => stepped |= outcome == ChoreStep::Done,
                        Err(error) => {
                            tracing::warn!(chore = chore.name(), %error, "chore failed, it is retried");
                        }
                    }
                }
                tokio::time::sleep(if stepped { STEP_PAUSE } else { IDLE_PAUSE }).await;
            };
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => return,
                () = round => {}
            }
        }
    }

    /// Runs one step of a chore if it is due and no other worker has the lease.
    pub async fn run_chore_step(&self, chore: Chore, worker: &str) -> Result<ChoreStep> {
        let key = CHORES.key((0, chore.name()));
        let now = self.now();
        let row = self.store().get_one(&key).await?;
        let version = row.as_ref().map_or(0, |row| row.version);
        let mut state = match &row {
            Some(row) => StoredChore::decode_from_slice(&row.value).map_err(|error| damaged(row, error))?,
            None => StoredChore { lap_began_ms: now.as_ms(), ..StoredChore::default() },
        };
        if state.worker != worker && now < Time::from_ms(state.until_ms) {
            return Ok(ChoreStep::NotDue);
        }
        if state.lap_done {
            if now < Time::from_ms(state.lap_began_ms) + chore.interval() {
                return Ok(ChoreStep::NotDue);
            }
            state = StoredChore { lap_began_ms: now.as_ms(), ..StoredChore::default() };
        }
        let after = self.step(chore, state.shard, &state.after).await?;
        if after.is_none() {
            state.shard += 1;
        }
        state.after = after.unwrap_or_default();
        state.lap_done = state.shard >= self.shards();
        state.worker = worker.to_owned();
        state.until_ms = (self.now() + LEASE).as_ms();
        let mut batch = Batch::new();
        batch.check(key.clone(), version).put(key, version + 1, Bytes::from(state.encode_to_vec()));
        // On a conflict another process did this step.
        let _: store::Outcome = self.store().commit(batch).await?;
        Ok(ChoreStep::Done)
    }

    /// Runs a whole pass of a chore now, regardless of leases.
    pub async fn run_chore(&self, chore: Chore) -> Result<()> {
        for shard in 0..self.shards() {
            let mut after = Arc::<[u8]>::from([]);
            while let Some(next) = self.step(chore, shard, &after).await? {
                after = next.into();
            }
        }
        Ok(())
    }
}
