//! The end of a load: offers of its feed that it did not have are given up.

use std::time::Duration;

use buffa::Message as _;
use store::{Batch, Outcome, Read as _, Row, Scan};
use tokio::sync::watch;
use watcher::Fields;
use wire::torg::feeds::v1::__buffa::oneof::result_message::Content as Answer;
use wire::torg::feeds::v1::load_message::End;
use wire::torg::feeds::v1::result_message::EndResult;
use wire::torg::feeds::v1::{Guard, LoadProgress, Missing, SeenOffer, load_progress::State};

use super::answers::Place;
use super::decide::give_up;
use super::progress::{FeedName, Progress};
use crate::error::{Error, Result, damaged};
use crate::limits::{SWEEP_COMMIT_OFFERS, SWEEP_FEEDS, SWEEP_PAGE};
use crate::offers::{Offers, parse};
use crate::tables::{FEED_SEEN, FEED_SWEEPS};

/// How often it is looked whether a load has ended.
const LOOK_EVERY: Duration = Duration::from_millis(500);
const REST: Duration = Duration::from_secs(2);

/// Whether a load has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// Now, or before.
    Begun,
    /// A later one has.
    Overtaken,
    /// Not yet: an earlier one gives up what it does not have.
    OtherEnds,
}

impl Offers {
    /// Adds to a batch that a load has ended. The answer, if there is nothing left to do; none if the end was noted before.
    pub(super) async fn apply_end(
        &self,
        batch: &mut Batch,
        feed: &FeedName,
        load: u64,
        end: &End,
        place: Place,
    ) -> Result<Option<EndResult>> {
        let progress = self.progress(feed).await?;
        if load < progress.at.load {
            return Ok(Some(EndResult { superseded: true, ..EndResult::default() }));
        }
        if load == progress.at.load && progress.state() != State::STATE_BATCHES {
            return Ok(None);
        }
        let keeps = end.missing.as_known() == Some(Missing::MISSING_KEEP);
        let has_begun = load == progress.at.load;
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
                "batches of a load are missing: nothing is given up"
            );
        }
        let is_done = !end.complete || keeps || !has_all;
        let state = if is_done { State::STATE_DONE } else { State::STATE_COUNTING };
        let after = LoadProgress {
            load,
            next_batch: end.batches,
            state: state.into(),
            missing: end.missing,
            guard: end.guard.clone(),
            partition: place.partition,
            offset: place.offset,
            ..LoadProgress::default()
        };
        progress.put(batch, self.progress_key(feed), &after);
        if is_done {
            batch.delete(self.sweep_key(feed));
            return Ok(Some(EndResult::default()));
        }
        batch.set(self.sweep_key(feed), Vec::new());
        Ok(None)
    }

    /// Lets a load go on that waits because it would remove many offers. False if it does not wait.
    pub async fn confirm_load(&self, feed: &FeedName, load: u64) -> Result<bool> {
        for _ in 0..crate::limits::ATTEMPTS_MAX {
            let progress = self.progress(feed).await?;
            if progress.at.load != load || progress.state() != State::STATE_WAITING {
                return Ok(false);
            }
            let mut batch = Batch::new();
            let after = LoadProgress {
                state: State::STATE_SWEEPING.into(),
                cursor: String::new(),
                ..progress.at.clone()
            };
            progress.put(&mut batch, self.progress_key(feed), &after);
            batch.set(self.sweep_key(feed), Vec::new());
            if self.store().commit(batch).await?.is_applied() {
                return Ok(true);
            }
        }
        Err(Error::LoadContended { seller: feed.seller.clone(), namespace: feed.namespace.clone() })
    }

    /// Begins a load before any of its batches comes: from now on nothing more becomes of earlier ones of its feed. One that waits for somebody to confirm it is given up.
    pub async fn begin_load(&self, feed: &FeedName, load: u64) -> Result<Beginning> {
        for _ in 0..crate::limits::ATTEMPTS_MAX {
            let progress = self.progress(feed).await?;
            let (last, mut batch) = (progress.at.load, Batch::new());
            match progress.state() {
                _ if last == load => return Ok(Beginning::Begun),
                _ if last > load => return Ok(Beginning::Overtaken),
                State::STATE_COUNTING | State::STATE_SWEEPING => return Ok(Beginning::OtherEnds),
                State::STATE_WAITING => {
                    let given_up = EndResult { superseded: true, ..EndResult::default() };
                    Self::answer_end(&mut batch, feed, &progress.at, 2, given_up);
                }
                _ => {}
            }
            let state = State::STATE_BATCHES.into();
            let begun = LoadProgress { load, state, ..LoadProgress::default() };
            progress.put(&mut batch, self.progress_key(feed), &begun);
            if self.store().commit(batch).await?.is_applied() {
                return Ok(Beginning::Begun);
            }
        }
        Err(Error::LoadContended { seller: feed.seller.clone(), namespace: feed.namespace.clone() })
    }

    /// Gives up what loads that have ended did not have, until `stop` says so: a portion of each feed in turn, so that a large one holds up nobody.
    pub async fn follow_ends(&self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            let swept = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => return,
                swept = self.sweep_all() => swept,
            };
            let rest = match swept {
                Ok(0) => LOOK_EVERY,
                Ok(_) => continue,
                Err(error) => {
                    tracing::warn!(%error, "what feeds do not have any more is not given up for now");
                    REST
                }
            };
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => return,
                () = tokio::time::sleep(rest) => {}
            }
        }
    }

    /// One portion of every feed whose load has ended; how many feeds there were.
    pub async fn sweep_all(&self) -> Result<usize> {
        let rows = self.store().scan(&Scan::all(FEED_SWEEPS.def()).limit(SWEEP_FEEDS)).await?.rows;
        for row in &rows {
            let (_, seller, namespace) = FEED_SWEEPS.parts(&row.key)?;
            self.sweep(&FeedName { seller, namespace }).await?;
        }
        Ok(rows.len())
    }

    /// One portion of one feed.
    async fn sweep(&self, feed: &FeedName) -> Result<()> {
        let progress = self.progress(feed).await?;
        match progress.state() {
            State::STATE_COUNTING => self.count(feed, &progress).await,
            State::STATE_SWEEPING => self.give_up_some(feed, &progress).await,
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
        let seen = self.seen_behind(feed, &progress.at.cursor, SWEEP_PAGE).await?;
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
        // If another process was faster, it has counted the same.
        let _: Outcome = self.store().commit(batch).await?;
        Ok(())
    }

    /// Whether what was counted may go.
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
            Self::answer_end(batch, feed, after, 1, waits);
        } else if after.missing_offers == 0 {
            after.state = State::STATE_DONE.into();
            batch.delete(self.sweep_key(feed));
            Self::answer_end(batch, feed, after, 2, EndResult::default());
        } else {
            after.state = State::STATE_SWEEPING.into();
        }
    }

    async fn give_up_some(&self, feed: &FeedName, progress: &Progress) -> Result<()> {
        let seen = self.seen_behind(feed, &progress.at.cursor, SWEEP_PAGE).await?;
        let (mut after, mut batch, mut given_up) = (progress.at.clone(), Batch::new(), 0);
        let mut is_last = seen.len() < SWEEP_PAGE;
        let makes_manual = after.missing.as_known() == Some(Missing::MISSING_MAKE_MANUAL);
        for (external, offer, row) in &seen {
            if given_up == SWEEP_COMMIT_OFFERS {
                is_last = false;
                break;
            }
            after.cursor.clone_from(external);
            if offer.load >= after.load {
                continue;
            }
            batch.delete(row.key.clone());
            if offer.noted {
                batch.delete(self.notes_key(feed, external));
            }
            let found = self.watcher().load_to_change(&parse(&offer.offer)?, &Fields::all()).await?;
            let Some(found) = found else { continue };
            if let Some(gone) = give_up(self, feed, after.load, &found, makes_manual)? {
                Box::pin(self.watcher().save(&mut batch, Some(&found), &gone)).await?;
                given_up += 1;
                *(if makes_manual { &mut after.made_manual } else { &mut after.removed }) += 1;
            }
        }
        if is_last {
            after.state = State::STATE_DONE.into();
            batch.delete(self.sweep_key(feed));
            let (removed, made_manual) = (after.removed, after.made_manual);
            Self::answer_end(
                &mut batch,
                feed,
                &after,
                2,
                EndResult { removed, made_manual, ..EndResult::default() },
            );
        }
        progress.put(&mut batch, self.progress_key(feed), &after);
        // In conflict with somebody who changes one of these offers, or with another process that does the same: it is looked at again.
        let _: Outcome = self.store().commit(batch).await?;
        Ok(())
    }

    fn answer_end(batch: &mut Batch, feed: &FeedName, at: &LoadProgress, part: u32, end: EndResult) {
        let place = Place { partition: at.partition, offset: at.offset, part };
        Self::answer(batch, feed, at.load, place, Answer::End(Box::new(end)));
    }

    /// What feeds have published behind an external id.
    async fn seen_behind(
        &self,
        feed: &FeedName,
        cursor: &str,
        limit: usize,
    ) -> Result<Vec<(String, SeenOffer, Row)>> {
        let (shard, seller, namespace) =
            (self.shard_of_seller(&feed.seller), &*feed.seller, &*feed.namespace);
        let mut scan = FEED_SEEN.prefix((shard, seller, namespace)).limit(limit);
        if !cursor.is_empty() {
            scan = scan.after(FEED_SEEN.key((shard, seller, namespace, cursor)));
        }
        let rows = self.store().scan(&scan).await?.rows;
        let read = |row: Row| {
            let (_, _, _, external) = FEED_SEEN.parts(&row.key)?;
            let seen = SeenOffer::decode_from_slice(&row.value).map_err(|error| damaged(&row, error))?;
            Ok((external, seen, row))
        };
        rows.into_iter().map(read).collect()
    }
}

/// Whether somebody has to confirm that so many of so many offers go.
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
        assert!(must_wait(&guard, 3, 3), "an empty feed is hardly meant");
        assert!(!must_wait(&guard, 3, 0));
        assert!(!must_wait(&Guard { confirmed: true, ..guard }, 100, 100));
    }
}
