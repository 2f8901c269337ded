//! Trimming: deletes from the front what exceeds the retention. Each commit deletes some messages
//! and moves the start behind them, so that a process may stop between commits, and readers never
//! see a gap.

use store::{Batch, Outcome, Read, Row};

use super::read::decode;
use super::{StoreLog, head_of, start_of};
use crate::Result;
use crate::codec::{Start, encode_start};
use crate::limits::TRIM_MESSAGES_MAX;
use crate::log::Trimmed;
use crate::spec::TopicSpec;
use crate::tables::{MESSAGES, PartitionKeys};

impl StoreLog {
    pub(super) async fn trim_topic(&self, spec: &TopicSpec, now: i64) -> Result<Trimmed> {
        let mut trimmed = Trimmed::default();
        if spec.retention.time.is_none() && spec.retention.bytes.is_none() {
            return Ok(trimmed);
        }
        for partition in 0..spec.partitions {
            let keys = PartitionKeys::new(&spec.name, partition);
            while let Some(step) = self.trim_step(spec, &keys, now).await? {
                trimmed.messages += step.messages;
                trimmed.bytes += step.bytes;
            }
        }
        Ok(trimmed)
    }

    /// One commit; `None` when nothing is left to do. When another process trims too, the faster
    /// one wins and both continue.
    async fn trim_step(&self, spec: &TopicSpec, keys: &PartitionKeys, now: i64) -> Result<Option<Trimmed>> {
        let rows = self.store.get(&[keys.start(), keys.head()]).await?;
        let (start, version) = start_of(rows[0].as_ref())?;
        let (head, _) = head_of(rows[1].as_ref())?;
        let excess = spec
            .retention
            .bytes
            .map_or(0, |keep| (head.bytes - start.bytes.min(head.bytes)).saturating_sub(keep));
        let oldest = spec.retention.time_ms().map(|ms| now.saturating_sub(ms));
        // From the start row, not from the beginning of the table: deleted rows may still cost time
        // there.
        let page = self.store.scan(&keys.messages_from(start.first).limit(TRIM_MESSAGES_MAX)).await?;

        let mut batch = Batch::new();
        let mut after = start;
        for row in &page.rows {
            let offset = MESSAGES.parts(&row.key)?.3;
            let is_newest = offset + 1 >= head.end;
            let is_excess = after.bytes - start.bytes < excess && !is_newest;
            if !is_excess && !is_older(keys, offset, row, oldest)? {
                break;
            }
            batch.delete(row.key.clone());
            after = Start { first: offset + 1, bytes: after.bytes + row.value.len() as u64 };
        }
        if after == start {
            return Ok(None);
        }
        batch.check(keys.start(), version).put(keys.start(), version + 1, encode_start(&after));
        Ok(Some(match self.store.commit(batch).await? {
            Outcome::Applied => Trimmed {
                messages: (after.first - start.first).cast_unsigned(),
                bytes: after.bytes - start.bytes,
            },
            Outcome::Conflict(_) => Trimmed::default(),
        }))
    }
}

fn is_older(keys: &PartitionKeys, offset: i64, row: &Row, oldest: Option<i64>) -> Result<bool> {
    let Some(oldest) = oldest else { return Ok(false) };
    Ok(decode(keys, offset, row)?.0.time < oldest)
}
