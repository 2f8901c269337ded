//! The step of each chore: a page of a shard.

use std::time::Duration;

use buffa::Message;
use store::{Batch, Key, Read, Row, Scan, TableDef};
use watcher::Time;
use wire::torg::offers::v1::{HistoryEntry, StoredAnswer, StoredDraft};

use super::Chore;
use crate::error::{Error, Result};
use crate::limits::CHORE_PAGE;
use crate::offers::Offers;
use crate::tables::{ANSWERS, DRAFTS, HISTORY};
use crate::time;

impl Offers {
    /// Processes the page of a shard behind the key `after`. Returns the last key; `None` at the
    /// end of the shard.
    pub(super) async fn step(&self, chore: Chore, shard: u32, after: &[u8]) -> Result<Option<Vec<u8>>> {
        let config = self.config();
        match chore {
            Chore::Archive => Ok((self.archive_due(shard).await? > 0).then(Vec::new)),
            Chore::Counts => self.step_counts(shard, after).await,
            Chore::History => {
                let made_ms = |row: &Row| {
                    let entry = HistoryEntry::decode_from_slice(&row.value).ok()?;
                    entry.time.as_option().map(time::to_ms)
                };
                self.expire(HISTORY.prefix((shard,)), HISTORY.def(), after, config.history_retention, made_ms)
                    .await
            }
            Chore::Keys => {
                let made_ms = |row: &Row| Some(StoredAnswer::decode_from_slice(&row.value).ok()?.at_ms);
                self.expire(ANSWERS.prefix((shard,)), ANSWERS.def(), after, config.key_retention, made_ms)
                    .await
            }
            Chore::Drafts => {
                let made_ms = |row: &Row| Some(StoredDraft::decode_from_slice(&row.value).ok()?.updated_ms);
                self.expire(DRAFTS.prefix((shard,)), DRAFTS.def(), after, config.draft_retention, made_ms)
                    .await
            }
        }
    }

    /// Deletes the rows of a page that are older than `retention`. A row that cannot be decoded
    /// stays: a newer release may have written it.
    async fn expire(
        &self,
        scan: Scan,
        table: &'static TableDef,
        after: &[u8],
        retention: Duration,
        made_ms: impl Fn(&Row) -> Option<i64>,
    ) -> Result<Option<Vec<u8>>> {
        let scan = scan.limit(CHORE_PAGE);
        let scan = if after.is_empty() { scan } else { scan.after(Key::from_encoded(table, after)) };
        let page = self.store().scan(&scan).await?;
        let now = self.now();
        let mut batch = Batch::new();
        for row in &page.rows {
            if made_ms(row).is_some_and(|made| now.since(Time::from_ms(made)) > retention) {
                if row.version > 0 {
                    batch.check(row.key.clone(), row.version);
                }
                batch.delete(row.key.clone());
            }
        }
        if !batch.is_empty() {
            // On a conflict a row is in use again; the next pass deletes the others.
            let _: store::Outcome = self.store().commit(batch).await?;
        }
        Ok(page.next.map(|key| key.bytes().to_vec()))
    }

    async fn step_counts(&self, shard: u32, after: &[u8]) -> Result<Option<Vec<u8>>> {
        let damaged = |error: std::str::Utf8Error| Error::Damaged {
            place: "the progress of the chore `counts`".to_owned(),
            detail: error.to_string(),
        };
        let after = std::str::from_utf8(after).map_err(damaged)?;
        let seller = self.next_seller(shard, Some(after).filter(|after| !after.is_empty())).await?;
        let Some(seller) = seller else { return Ok(None) };
        self.repair_counts(&seller).await?;
        Ok(Some(seller.into_bytes()))
    }
}
