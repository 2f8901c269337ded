//! Chores: work that goes through whole tables, again and again, lap by lap: the archive, what is kept for a time only, counts.
//!
//! How far a chore is stands in the store: a lap goes on after a restart. One process at a time is at a chore; if two are, work is done twice and nothing is wrong.

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

/// How long a process that is silent keeps a chore.
const TURN: Duration = Duration::from_secs(30);
/// How long to rest when nothing is due.
const REST: Duration = Duration::from_secs(5);
/// The pause between two steps: chores leave the machine to others.
const PAUSE: Duration = Duration::from_millis(5);

/// A chore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chore {
    /// Moves offers to the archive.
    Archive,
    /// Forgets old history.
    History,
    /// Forgets idempotency keys.
    Keys,
    /// Forgets drafts that nobody changes any more.
    Drafts,
    /// Corrects counts that drifted.
    Counts,
}

/// All chores.
pub const ALL: [Chore; 5] = [Chore::Archive, Chore::History, Chore::Keys, Chore::Drafts, Chore::Counts];

impl Chore {
    /// In keys and for people.
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

    /// How long after its beginning the next lap begins.
    fn interval(self) -> Duration {
        match self {
            Self::Archive => Duration::from_secs(60),
            Self::Keys => Duration::from_secs(3600),
            Self::History | Self::Drafts | Self::Counts => Duration::from_secs(24 * 3600),
        }
    }
}

/// What came of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A part of a lap was done.
    Step,
    /// Nothing is due, or another process is at it.
    Rest,
}

impl Offers {
    /// Does all chores until `stop` says so.
    pub async fn run_chores(&self, worker: &str, mut stop: watch::Receiver<bool>) {
        loop {
            let round = async {
                let mut stepped = false;
                for chore in ALL {
                    match self.turn(chore, worker).await {
                        Ok(turn) => stepped |= turn == Turn::Step,
                        Err(error) => tracing::warn!(chore = chore.name(), %error, "a chore waits"),
                    }
                }
                tokio::time::sleep(if stepped { PAUSE } else { REST }).await;
            };
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => return,
                () = round => {}
            }
        }
    }

    /// One step of a chore, if it is due and nobody else is at it.
    pub async fn turn(&self, chore: Chore, worker: &str) -> Result<Turn> {
        let (key, now) = (CHORES.key((0, chore.name())), self.now());
        let row = self.store().get_one(&key).await?;
        let version = row.as_ref().map_or(0, |row| row.version);
        let mut state = match &row {
            Some(row) => StoredChore::decode_from_slice(&row.value).map_err(|error| damaged(row, error))?,
            None => StoredChore { lap_began_ms: now.as_ms(), ..StoredChore::default() },
        };
        if state.worker != worker && now < Time::from_ms(state.until_ms) {
            return Ok(Turn::Rest);
        }
        if state.lap_done {
            if now < Time::from_ms(state.lap_began_ms) + chore.interval() {
                return Ok(Turn::Rest);
            }
            state = StoredChore { lap_began_ms: now.as_ms(), ..StoredChore::default() };
        }
        let after = self.step(chore, state.shard, &state.after).await?;
        if after.is_none() {
            state.shard += 1;
        }
        state.after = after.unwrap_or_default();
        state.lap_done = state.shard >= self.shards();
        (state.worker, state.until_ms) = (worker.to_owned(), (self.now() + TURN).as_ms());
        let mut batch = Batch::new();
        batch.check(key.clone(), version).put(key, version + 1, Bytes::from(state.encode_to_vec()));
        // In conflict, another process is at it: it does the same.
        let _: store::Outcome = self.store().commit(batch).await?;
        Ok(Turn::Step)
    }

    /// Everything of one chore that is due now, in one lap. For tests and for people.
    pub async fn lap(&self, chore: Chore) -> Result<()> {
        for shard in 0..self.shards() {
            let mut after = Arc::<[u8]>::from([]);
            while let Some(next) = self.step(chore, shard, &after).await? {
                after = next.into();
            }
        }
        Ok(())
    }
}
