//! The end of a load: offers of its feed that the load does not have are removed or made manual.

use std::time::Duration;

use offers::{BulkChange, OfferId};
use store::{Batch, Key, Outcome, Read as _, Scan};
use tokio::sync::watch;
use wire::torg::feeds::v1::load_message::End;
use wire::torg::feeds::v1::result_message::EndResult;
use wire::torg::feeds::v1::{Guard, LoadProgress, Missing, SeenOffer, load_progress::State};

use super::progress::Progress;
use crate::background::{repeat, until_written};
use crate::error::{Error, Result};
use crate::feeds::Feeds;
use crate::limits::{SWEEP_COMMIT_OFFERS, SWEEP_FEEDS, SWEEP_PAGE};
use crate::name::FeedName;
use crate::tables::FEED_SWEEPS;

/// How often ended loads are looked for without a hint.
const SCAN_EVERY: Duration = Duration::from_millis(500);

impl Feeds {
    /// Adds to a batch that a load has ended, with the result if nothing is left to do. Adds
    /// nothing if the end was noted before.
    pub(super) async fn apply_end(
        &self,
        batch: &mut Batch,
        feed: &FeedName,
        load: u64,
        end: &End,
        (partition, offset): (u32, i64),
    ) -> Result<()> {
        let progress = self.progress(feed).await?;
        let mut after = LoadProgress { load, partition, offset, ..LoadProgress::default() };
        if load < progress.at.load {
            let superseded = EndResult { superseded: true, ..EndResult::default() };
            Self::put_end_result(batch, feed, &after, 0, superseded);
            return Ok(());
        }
        let has_begun = load == progress.at.load;
        if has_begun && progress.state() != State::STATE_BATCHES {
            return Ok(());
        }
        let has_all = if has_begun {
            !progress.at.incomplete && progress.at.next_batch == end.batches
        } else {
            end.batches == 0
        };
        if end.complete && !has_all {
            tracing::error!(
                seller = feed.seller,
                namespace = feed.namespace,
                load,
                "batches of a load are missing, nothing is removed"
            );
        }
        let keeps = end.missing.as_known() == Some(Missing::MISSING_KEEP);
        let is_done = !end.complete || keeps || !has_all;
        let state = if is_done { State::STATE_DONE } else { State::STATE_COUNTING };
        (after.next_batch, after.state) = (end.batches, state.into());
        (after.missing, after.guard) = (end.missing, end.guard.clone());
        progress.put(batch, self.progress_key(feed), &after);
        if is_done {
            batch.delete(self.sweep_key(feed));
            Self::put_end_result(batch, feed, &after, 0, EndResult::default());
        } else {
            batch.set(self.sweep_key(feed), Vec::new());
        }
        Ok(())
    }

    /// Removes what ended loads do not have, until `stop` says so: a portion of each feed in turn,
    /// so that a large feed does not delay others.
    pub async fn follow_ends(&self, stop: watch::Receiver<bool>) {
        repeat("sweep feeds", None, stop, || self.sweep_or_wait()).await;
    }

    async fn sweep_or_wait(&self) -> Result<()> {
        let mut hints = self.store().hints();
        if self.sweep_all().await? == 0 {
            until_written(&mut hints, FEED_SWEEPS.def().name, None, SCAN_EVERY).await;
        }
        Ok(())
    }

    /// One portion of every feed whose load has ended; how many feeds there were.
    async fn sweep_all(&self) -> Result<usize> {
        let rows = self.store().scan(&Scan::all(FEED_SWEEPS.def()).limit(SWEEP_FEEDS)).await?.rows;
        for row in &rows {
            let (_, seller, namespace) = FEED_SWEEPS.parts(&row.key)?;
            self.sweep(&FeedName { seller, namespace }).await?;
        }
        Ok(rows.len())
    }

    async fn sweep(&self, feed: &FeedName) -> Result<()> {
        let progress = self.progress(feed).await?;
        match progress.state() {
            State::STATE_COUNTING => self.count(feed, &progress).await,
            State::STATE_SWEEPING => self.remove_some(feed, &progress).await,
            _ => {
                let mut batch = Batch::new();
                batch.check(self.progress_key(feed), progress.version).delete(self.sweep_key(feed));
                let _: Outcome = self.store().commit(batch).await?;
                Ok(())
            }
        }
    }

    /// Counts the offers of the feed, and those that the load did not have.
    async fn count(&self, feed: &FeedName, progress: &Progress) -> Result<()> {
        let seen = self.seen_after(feed, &progress.at.cursor, SWEEP_PAGE).await?;
        let mut after = progress.at.clone();
        for (external, offer, _) in &seen {
            after.offers += 1;
            after.missing_offers += u64::from(offer.load < after.load);
            after.cursor.clone_from(external);
        }
        let mut batch = Batch::new();
        if seen.len() < SWEEP_PAGE {
            after.cursor.clear();
            self.judge_count(&mut batch, feed, &mut after);
        }
        progress.put(&mut batch, self.progress_key(feed), &after);
        // In conflict if another process was faster, which has counted the same.
        let _: Outcome = self.store().commit(batch).await?;
        Ok(())
    }

    /// Decides whether the counted offers may be removed.
    fn judge_count(&self, batch: &mut Batch, feed: &FeedName, after: &mut LoadProgress) {
        let guard = after.guard.as_option().cloned().unwrap_or_default();
        if must_wait(&guard, after.offers, after.missing_offers) {
            after.state = State::STATE_WAITING.into();
            batch.delete(self.sweep_key(feed));
            let waits = EndResult {
                waits: true,
                would_remove: after.missing_offers,
                of: after.offers,
                ..EndResult::default()
            };
            Self::put_end_result(batch, feed, after, 1, waits);
        } else if after.missing_offers == 0 {
            after.state = State::STATE_DONE.into();
            batch.delete(self.sweep_key(feed));
            Self::put_end_result(batch, feed, after, 2, EndResult::default());
        } else {
            after.state = State::STATE_SWEEPING.into();
        }
    }

    async fn remove_some(&self, feed: &FeedName, progress: &Progress) -> Result<()> {
        let seen = self.seen_after(feed, &progress.at.cursor, SWEEP_PAGE).await?;
        let (mut after, mut batch) = (progress.at.clone(), Batch::new());
        let is_missing = |(_, seen, _): &&(String, SeenOffer, Key)| seen.load < progress.at.load;
        // The commit ends before the first missing offer that is too many.
        let too_many = seen.iter().filter(is_missing).nth(SWEEP_COMMIT_OFFERS).map(|(id, ..)| id.clone());
        let is_last = seen.len() < SWEEP_PAGE && too_many.is_none();
        let portion: Vec<_> = seen.into_iter().take_while(|(id, ..)| Some(id) != too_many.as_ref()).collect();
        if let Some((last, ..)) = portion.last() {
            after.cursor.clone_from(last);
        }
        let missing: Vec<_> = portion.iter().filter(is_missing).collect();
        let ids = missing.iter().map(|(_, seen, _)| offer_id(seen)).collect::<Result<Vec<_>>>()?;
        let mut found = self.offers().load_many(&ids).await?;
        let makes_manual = after.missing.as_known() == Some(Missing::MISSING_MAKE_MANUAL);
        let mut changes = Vec::new();
        for ((external_id, seen, key), id) in missing.into_iter().zip(ids) {
            batch.delete(key.clone());
            if seen.noted {
                batch.delete(self.notes_key(feed, external_id));
            }
            let Some(before) = found.remove(&id) else { continue };
            if let Some(gone) = self.withdraw(feed, after.load, &before.entity, makes_manual)? {
                changes.push(BulkChange { before: Some(before), after: gone });
            }
        }
        self.offers().save_many(&mut batch, &changes).await?;
        *(if makes_manual { &mut after.made_manual } else { &mut after.removed }) += changes.len() as u64;
        if is_last {
            after.state = State::STATE_DONE.into();
            batch.delete(self.sweep_key(feed));
            let (removed, made_manual) = (after.removed, after.made_manual);
            let end = EndResult { removed, made_manual, ..EndResult::default() };
            Self::put_end_result(&mut batch, feed, &after, 2, end);
        }
        progress.put(&mut batch, self.progress_key(feed), &after);
        // In conflict if one of the offers changed, or if another process was faster: the next
        // round reads again.
        let _: Outcome = self.store().commit(batch).await?;
        Ok(())
    }
}

fn offer_id(seen: &SeenOffer) -> Result<OfferId> {
    seen.offer.parse().map_err(|error| Error::Damaged {
        place: format!("feed_seen {}", seen.offer),
        detail: format!("{error}"),
    })
}

/// Whether the removal of `missing` of all `offers` has to be confirmed.
fn must_wait(guard: &Guard, offers: u64, missing: u64) -> bool {
    let is_much = missing as f64 > guard.share * offers as f64 && offers > u64::from(guard.least);
    !guard.confirmed && missing > 0 && (is_much || missing == offers && guard.least > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_waits_if_it_would_remove_more_than_its_share_of_more_than_a_few_offers() {
        let guard = Guard { share: 0.5, least: 20, ..Guard::default() };
        assert!(must_wait(&guard, 100, 51) && !must_wait(&guard, 100, 50));
        assert!(!must_wait(&guard, 20, 19), "a few offers come and go");
        assert!(must_wait(&guard, 3, 3), "an empty feed is probably a mistake");
        assert!(!must_wait(&guard, 3, 0));
        assert!(!must_wait(&Guard { confirmed: true, ..guard }, 100, 100));
    }
}
