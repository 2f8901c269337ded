//! A batch of a load: all of it in one commit.

use std::collections::BTreeSet;

use buffa::Message as _;
use contract::torg::feeds::v1::load_message::Batch as Loaded;
use contract::torg::feeds::v1::result_message::BatchResult;
use contract::torg::feeds::v1::{
    LoadProgress, LoadedOffer, OfferResult, Problem, SeenOffer, load_progress::State,
};
use store::{Batch, Key, Read as _};

use super::decide::{Case, Decision, Outcome, matched};
use super::progress::{FeedName, Progress};
use crate::error::{Result, damaged};
use crate::offers::Offers;
use crate::tables::{EXTERNALS, FEED_SEEN};

/// What is known of an offer before it is decided upon.
struct Known {
    key: Key,
    version: u64,
    seen: Option<SeenOffer>,
    matched: Option<crate::OfferId>,
}

impl Offers {
    /// Adds to a batch what becomes of the offers of a load's batch, and says it. Nothing is added if it was applied before.
    pub(super) async fn apply_batch(
        &self,
        batch: &mut Batch,
        feed: &FeedName,
        load: u64,
        loaded: &Loaded,
    ) -> Result<Option<BatchResult>> {
        let progress = self.progress(feed).await?;
        if load < progress.at.load {
            return Ok(Some(superseded(loaded)));
        }
        let is_over = load == progress.at.load && progress.state() != State::STATE_BATCHES;
        if is_over || load == progress.at.load && loaded.number < progress.at.next_batch {
            return Ok(None);
        }
        self.move_on(batch, feed, &progress, load, loaded.number);
        let is_first = first_of_each(&loaded.offers);
        let offers: Vec<&LoadedOffer> = loaded
            .offers
            .iter()
            .zip(&is_first)
            .filter(|(_, is_first)| **is_first)
            .map(|(offer, _)| offer)
            .collect();
        let known = self.known(feed, &offers).await?;
        let cases: Vec<Case<'_>> = offers
            .iter()
            .zip(&known)
            .map(|(loaded, known)| Case {
                feed,
                load,
                loaded,
                matched: known.matched,
                seen: known.seen.clone(),
            })
            .collect();
        let decided = futures::future::try_join_all(cases.iter().map(|case| self.decide(case))).await?;
        let (mut results, mut decided) =
            (Vec::with_capacity(loaded.offers.len()), decided.into_iter().zip(known));
        for (offer, is_first) in loaded.offers.iter().zip(is_first) {
            let next = if is_first { decided.next() } else { None };
            results.push(match next {
                Some((decision, known)) => self.carry_out(batch, decision, known, offer).await?,
                None => result(offer, Outcome::OUTCOME_REJECTED, offer.problems.clone()),
            });
        }
        Ok(Some(BatchResult { number: loaded.number, offers: results, ..BatchResult::default() }))
    }

    fn move_on(&self, batch: &mut Batch, feed: &FeedName, progress: &Progress, load: u64, number: u32) {
        let is_new = load > progress.at.load;
        let (expected, had_gap) =
            if is_new { (0, false) } else { (progress.at.next_batch, progress.at.incomplete) };
        let next = LoadProgress {
            load,
            next_batch: number + 1,
            state: State::STATE_BATCHES.into(),
            incomplete: had_gap || number != expected,
            ..LoadProgress::default()
        };
        progress.put(batch, self.progress_key(feed), &next);
        if is_new {
            // What an earlier load had left to do is done by this one.
            batch.delete(self.sweep_key(feed));
        }
    }

    async fn known(&self, feed: &FeedName, offers: &[&LoadedOffer]) -> Result<Vec<Known>> {
        let (shard, seller, namespace) =
            (self.shard_of_seller(&feed.seller), &*feed.seller, &*feed.namespace);
        let seen_key = |offer: &&LoadedOffer| FEED_SEEN.key((shard, seller, namespace, &*offer.external_id));
        let external = |offer: &&LoadedOffer| EXTERNALS.key((shard, seller, namespace, &*offer.external_id));
        let keys: Vec<Key> = offers.iter().map(seen_key).chain(offers.iter().map(external)).collect();
        let mut rows = self.store().get(&keys).await?;
        let externals = rows.split_off(offers.len());
        let known = rows.into_iter().zip(externals).zip(keys).map(|((row, external), key)| {
            let seen = row
                .as_ref()
                .map(|row| SeenOffer::decode_from_slice(&row.value).map_err(|error| damaged(row, error)));
            Ok(Known {
                key,
                version: row.as_ref().map_or(0, |row| row.version),
                seen: seen.transpose()?,
                matched: external.map(|row| matched(&row.value)).transpose()?,
            })
        });
        known.collect()
    }

    async fn carry_out(
        &self,
        batch: &mut Batch,
        decision: Decision,
        known: Known,
        loaded: &LoadedOffer,
    ) -> Result<OfferResult> {
        let Decision { outcome, save, seen, problems } = decision;
        let offer = match (&save, known.matched) {
            (Some((_, after)), _) => after.id.to_string(),
            (None, Some(id)) => id.to_string(),
            (None, None) => String::new(),
        };
        if let Some((found, after)) = &save {
            if found.is_none() {
                self.require_unarchived(batch, after);
            }
            Box::pin(self.watcher().save(batch, found.as_ref(), after)).await?;
        }
        if let Some(seen) = seen {
            let Known { key, version, .. } = known;
            batch.check(key.clone(), version).put(key, version + 1, seen.encode_to_vec());
        }
        let problems = loaded.problems.iter().cloned().chain(problems).collect();
        Ok(OfferResult { offer, ..result(loaded, outcome, problems) })
    }
}

fn result(loaded: &LoadedOffer, outcome: Outcome, problems: Vec<Problem>) -> OfferResult {
    OfferResult {
        external_id: loaded.external_id.clone(),
        title: loaded.title.clone(),
        outcome: outcome.into(),
        problems,
        ..OfferResult::default()
    }
}

/// A batch of a load that is over: nobody is to wait for it.
fn superseded(loaded: &Loaded) -> BatchResult {
    let result = |offer: &LoadedOffer| result(offer, Outcome::OUTCOME_SUPERSEDED, Vec::new());
    BatchResult {
        number: loaded.number,
        offers: loaded.offers.iter().map(result).collect(),
        ..BatchResult::default()
    }
}

/// Which offers are the first of their external id. Whoever makes batches has marked the others as wrong; but one commit cannot change an offer twice.
fn first_of_each(offers: &[LoadedOffer]) -> Vec<bool> {
    let mut ids = BTreeSet::new();
    offers.iter().map(|offer| ids.insert(&*offer.external_id)).collect()
}
