//! The commit log: one row for each applied group, written in its transaction, with the ids of the
//! winning batches.
//!
//! It answers whether a batch was applied, and resolves unknown outcomes: the resolver inserts the
//! row of the attempt itself, as aborted. The primary key makes that wait for a transaction that is
//! still at work on the row; the first one wins, and the other one can never commit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use uuid::Uuid;

use super::connection::{Connection, all_rows, pipelined};
use super::errors::{Trouble, engine};
use super::pool::{Backoff, Pool, retry};
use super::sql::{COMMITS, qualified};
use crate::batch::BatchId;
use crate::group::Group;
use crate::limits::GROUPS_REMEMBERED;
use crate::{Error, Result};

/// Rows younger than this are kept, in any number.
const KEPT: &str = "1 hour";
/// After this time an unknown outcome cannot be resolved: another process may have deleted its row.
const RESOLVABLE: Duration = Duration::from_secs(45 * 60);
/// Interval of deletions of old rows, and the delay of the first one after the start.
const TRIM_EVERY: Duration = Duration::from_secs(10 * 60);
const TRIM_FIRST: Duration = Duration::from_secs(5);
/// Rows that one statement deletes at most, so that it ends in time and its progress is kept.
const TRIM_ROWS: usize = 5_000;
/// Ranges of the primary key over which the rows of one process are spread.
const SHARDS: u64 = 64;

/// The log as one process sees it.
pub(super) struct CommitLog {
    insert: String,
    abort: String,
    state: String,
    applied: String,
    pub(super) newest_to_delete: String,
    pub(super) delete: String,
    /// A random number for this opening of the store.
    opening: u64,
    count: AtomicU64,
    /// Attempts with an unknown outcome: their row, and since when.
    unknown: Mutex<BTreeMap<(BatchId, u32), (Uuid, Instant)>>,
}

/// The row of one attempt.
pub(super) struct LogEntry<'a> {
    /// Parameters: shard, id, the ids of the batches that won.
    pub(super) insert: &'a str,
    pub(super) shard: i64,
    pub(super) id: Uuid,
}

fn shard_of(id: Uuid) -> i64 {
    (id.as_u64_pair().1 % SHARDS).cast_signed()
}

impl CommitLog {
    pub(super) fn new(schema: &str, opening: u64) -> Self {
        let name = qualified(schema, COMMITS);
        Self {
            insert: format!("INSERT INTO {name} (shard, id, state, batches) VALUES ($1, $2, 'applied', $3)"),
            abort: format!(
                "INSERT INTO {name} (shard, id, state, batches) VALUES ($1, $2, 'aborted', '{{}}') \
                 ON CONFLICT (shard, id) DO NOTHING"
            ),
            state: format!("SELECT state FROM {name} WHERE shard = $1 AND id = $2"),
            applied: format!("SELECT 1 FROM {name} WHERE state = 'applied' AND $1 = ANY(batches) LIMIT 1"),
            newest_to_delete: format!(
                "SELECT at::text FROM {name} ORDER BY at DESC LIMIT 1 OFFSET {GROUPS_REMEMBERED}"
            ),
            delete: format!(
                "DELETE FROM {name} WHERE (shard, id) IN (SELECT shard, id FROM {name} \
                 WHERE at < $1::text::timestamptz AND at < now() - interval '{KEPT}' ORDER BY at LIMIT {TRIM_ROWS}) \
                 RETURNING 1"
            ),
            opening,
            count: AtomicU64::new(0),
            unknown: Mutex::default(),
        }
    }

    /// The row for the next attempt. It has its own id, because callers choose the ids of batches.
    pub(super) fn entry(&self) -> LogEntry<'_> {
        let id = Uuid::from_u64_pair(self.opening, self.count.fetch_add(1, Ordering::Relaxed));
        LogEntry { insert: &self.insert, shard: shard_of(id), id }
    }

    /// Remembers that the outcome of this attempt is unknown.
    pub(super) fn is_unknown(&self, group: &Group, entry: &LogEntry<'_>) {
        self.unknown.lock().insert((group.id(), group.attempt), (entry.id, Instant::now()));
    }

    /// Whether an attempt with an unknown outcome was applied. If it was not, it never will be.
    pub(super) async fn resolve(&self, lanes: &Arc<Pool>, group: &Group) -> Result<bool> {
        let name = (group.id(), group.attempt);
        let Some((id, since)) = self.unknown.lock().get(&name).copied() else {
            // Not one of ours, or resolved before. A later attempt at the same batches may have
            // been applied, so the log does not tell about this one.
            return Err(engine(format!("attempt {} at group {} did not end unknown", name.1, name.0)));
        };
        let mut tries = lanes.tries();
        let applied = loop {
            if since.elapsed() > RESOLVABLE {
                self.unknown.lock().remove(&name);
                return Err(engine(
                    "the database was unavailable for too long to learn the outcome of a commit",
                ));
            }
            let mut lease = tries.connection().await?;
            match self.settle(&lease, id).await {
                Ok(applied) => {
                    lease.set_reusable(true);
                    break applied;
                }
                Err(trouble) => tries.failed(lease, trouble)?,
            }
        };
        self.unknown.lock().remove(&name);
        Ok(applied)
    }

    async fn settle(&self, connection: &Connection, id: Uuid) -> Result<bool, Trouble> {
        let statements = connection.prepare(&[&self.abort, &self.state]).await?;
        let shard = shard_of(id);
        let params = [vec![&shard as _, &id as _], vec![&shard as _, &id as _]];
        let requests = statements.iter().zip(&params).map(|(s, p)| connection.request(s, p)).collect();
        let answers = all_rows(pipelined(requests).await, 2)?;
        let state = answers[1].first().map(|row| row.try_get::<_, String>(0)).transpose()?;
        match state.as_deref() {
            Some("applied") => Ok(true),
            Some("aborted") => Ok(false),
            other => Err(engine(format!("the log of commits says {other:?} about {id}")).into()),
        }
    }

    /// Whether a batch was applied, as far back as the log goes.
    pub(super) async fn applied(&self, readers: &Arc<Pool>, batch: BatchId) -> Result<bool> {
        let id = Uuid::from_u128(batch.0);
        let rows = retry!(readers, connection => connection.query(&self.applied, &vec![&id]));
        Ok(!rows.is_empty())
    }

    /// Deletes rows that are neither young nor of the last groups, in portions.
    pub(super) async fn trim(&self, connection: &Connection) -> Result<(), Trouble> {
        let rows = connection.query(&self.newest_to_delete, &Vec::new()).await?;
        let Some(row) = rows.first() else { return Ok(()) };
        let newest: String = row.try_get(0)?;
        while connection.query(&self.delete, &vec![&newest]).await?.len() == TRIM_ROWS {}
        Ok(())
    }

    /// Trims the log at intervals until the pool is closed.
    pub(super) async fn trim_repeatedly(self: Arc<Self>, pool: Arc<Pool>, mut backoff: Backoff) {
        let mut pause = TRIM_FIRST;
        loop {
            tokio::time::sleep(pause + backoff.next()).await;
            pause = TRIM_EVERY;
            let trimmed = match pool.tries().connection().await {
                Ok(lease) => self.trim(&lease).await,
                Err(Error::Closed) => return,
                Err(error) => Err(error.into()),
            };
            if let Err(trouble) = trimmed {
                tracing::warn!(?trouble, "old rows of the commit log could not be deleted, retrying later");
            }
        }
    }
}
