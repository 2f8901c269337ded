//! Applies a batch of a load: in one commit, or in several if it is too large for one.

use std::collections::BTreeSet;

use buffa::Message as _;
use offers::{BulkChange, OfferId};
use store::Batch;
use store::limits::{BATCH_BYTES_MAX, BATCH_OPS_MAX};
use wire::torg::feeds::v1::__buffa::oneof::result_message::Content;
use wire::torg::feeds::v1::load_message::Batch as Loaded;
use wire::torg::feeds::v1::loaded_offer::Verdict;
use wire::torg::feeds::v1::result_message::BatchResult;
use wire::torg::feeds::v1::{LoadProgress, LoadedOffer, OfferResult, Problem, load_progress::State};

use super::decide::{Case, Decision, Outcome};
use super::progress::Progress;
use super::seen::Known;
use crate::error::{Error, Result};
use crate::feeds::Feeds;
use crate::limits::RESULT_BYTES_MAX;
use crate::name::FeedName;

/// Operations of a commit that the consumer's position may need.
const SPARE_OPS: usize = 16;

impl Feeds {
    /// Adds to a batch what becomes of the offers of a load's batch, and the result. False if
    /// offers are left for further commits. Adds nothing if all was applied before.
    pub(super) async fn apply_batch(
        &self,
        batch: &mut Batch,
        feed: &FeedName,
        load: u64,
        loaded: &Loaded,
        (partition, offset): (u32, i64),
    ) -> Result<bool> {
        let put = |batch: &mut Batch, results: Vec<BatchResult>| {
            for result in results {
                let key = (partition, offset, result.part);
                Self::put_result(batch, feed, load, key, Content::Batch(Box::new(result)));
            }
        };
        let progress = self.progress(feed).await?;
        if load < progress.at.load {
            put(batch, in_parts(superseded(loaded), RESULT_BYTES_MAX));
            return Ok(true);
        }
        let is_current = load == progress.at.load;
        if is_current && (progress.state() != State::STATE_BATCHES || loaded.number < progress.at.next_batch)
        {
            return Ok(true);
        }
        let is_begun = is_current && loaded.number == progress.at.next_batch;
        let (begin, part) =
            if is_begun { (progress.at.applied_offers as usize, progress.at.answered_parts) } else { (0, 0) };
        let is_first = first_of_each(&loaded.offers);
        let mut end = loaded.offers.len();
        loop {
            let portion = loaded.offers.iter().zip(&is_first).take(end).skip(begin);
            let (mut commit, offers, unchanged) =
                self.apply_portion(feed, load, &portion.collect::<Vec<_>>()).await?;
            let is_whole = end == loaded.offers.len();
            let result = BatchResult {
                number: loaded.number,
                offers,
                unchanged,
                part,
                more: !is_whole,
                ..BatchResult::default()
            };
            let results = in_parts(result, RESULT_BYTES_MAX);
            let answered_parts = part + results.len() as u32;
            put(&mut commit, results);
            let (next_batch, applied_offers, answered_parts) = if is_whole {
                (loaded.number + 1, 0, 0)
            } else {
                (loaded.number, end as u32, answered_parts)
            };
            let next = LoadProgress { next_batch, applied_offers, answered_parts, ..LoadProgress::default() };
            self.put_progress(&mut commit, feed, &progress, LoadProgress { load, ..next }, loaded.number);
            if fits(&commit) || end <= begin + 1 {
                *batch = commit;
                return Ok(is_whole);
            }
            end = begin + (end - begin) / 2;
        }
    }

    fn put_progress(
        &self,
        batch: &mut Batch,
        feed: &FeedName,
        progress: &Progress,
        next: LoadProgress,
        number: u32,
    ) {
        let is_new = next.load > progress.at.load;
        let (expected, had_gap) =
            if is_new { (0, false) } else { (progress.at.next_batch, progress.at.incomplete) };
        let incomplete = had_gap || number != expected;
        let next = LoadProgress { state: State::STATE_BATCHES.into(), incomplete, ..next };
        progress.put(batch, self.progress_key(feed), &next);
        if is_new {
            // This load does what an earlier one left undone.
            batch.delete(self.sweep_key(feed));
        }
    }

    /// The changes of some offers, each with whether it is the first of its external id; the
    /// results; and how many unchanged offers have none.
    async fn apply_portion(
        &self,
        feed: &FeedName,
        load: u64,
        portion: &[(&LoadedOffer, &bool)],
    ) -> Result<(Batch, Vec<OfferResult>, u32)> {
        let offers = portion.iter().filter(|(_, is_first)| **is_first).map(|(offer, _)| *offer).collect();
        let cases = self.cases(feed, load, offers).await?;
        let mut batch = Batch::new();
        let mut changes = Vec::new();
        let mut decided = Vec::with_capacity(cases.len());
        for case in cases {
            let decision = self.decide(&case)?;
            decided.push(self.put_decision(&mut batch, &mut changes, decision, case));
        }
        self.offers().save_many(&mut batch, &changes).await?;
        let mut decided = decided.into_iter();
        let mut results = Vec::new();
        let mut unchanged = 0;
        for (offer, is_first) in portion {
            let next = if **is_first { decided.next() } else { None };
            let result =
                next.unwrap_or_else(|| result(offer, Outcome::OUTCOME_REJECTED, offer.problems.clone()));
            if result.outcome.as_known() == Some(Outcome::OUTCOME_UNCHANGED) && result.problems.is_empty() {
                unchanged += 1;
            } else {
                results.push(result);
            }
        }
        Ok((batch, results, unchanged))
    }

    /// These offers with what is known of them.
    async fn cases<'a>(
        &self,
        feed: &'a FeedName,
        load: u64,
        offers: Vec<&'a LoadedOffer>,
    ) -> Result<Vec<Case<'a>>> {
        let ids: Vec<&str> = offers.iter().map(|offer| &*offer.external_id).collect();
        let known = self.known(feed, &ids).await?;
        let needs_notes = |(loaded, known): (&&'a LoadedOffer, &Known)| {
            let is_unchanged = loaded.verdict.as_known() == Some(Verdict::VERDICT_UNCHANGED);
            (is_unchanged && known.has_notes()).then_some(&*loaded.external_id)
        };
        let noted: Vec<Option<&str>> = offers.iter().zip(&known).map(needs_notes).collect();
        let notes = self.notes(feed, &noted).await?;
        let now_ms = self.now().as_ms();
        let to_change = |(loaded, known): (&&LoadedOffer, &Known)| {
            known.offer.filter(|_| Case::needs_offer(loaded, known, now_ms))
        };
        let to_change: Vec<Option<OfferId>> = offers.iter().zip(&known).map(to_change).collect();
        let wanted: Vec<OfferId> = to_change.iter().flatten().copied().collect();
        let mut found = self.offers().load_many(&wanted).await?;
        let mut cases = Vec::with_capacity(offers.len());
        for (((loaded, known), notes), id) in offers.into_iter().zip(known).zip(notes).zip(to_change) {
            let found = id.map(|id| found.remove(&id));
            if matches!(found, Some(None)) {
                // The offer was archived after its id was read: the next attempt finds no match.
                return Err(Error::Contended);
            }
            cases.push(Case { feed, load, loaded, known, notes, found: found.flatten() });
        }
        Ok(cases)
    }

    fn put_decision(
        &self,
        batch: &mut Batch,
        changes: &mut Vec<BulkChange>,
        decision: Decision,
        case: Case<'_>,
    ) -> OfferResult {
        let Decision { outcome, after, seen, notes, problems } = decision;
        let offer = after.as_ref().map(|after| after.id).or(case.known.offer);
        if let Some(seen) = seen {
            batch.set(case.known.key.clone(), seen.encode_to_vec());
        }
        if let Some(notes) = notes {
            let key = self.notes_key(case.feed, &case.loaded.external_id);
            if !notes.problems.is_empty() {
                batch.set(key, notes.encode_to_vec());
            } else if case.known.has_notes() {
                batch.delete(key);
            }
        }
        if let Some(after) = after {
            changes.push(BulkChange { before: case.found, after });
        }
        let problems = case.loaded.problems.iter().cloned().chain(problems).collect();
        let offer = offer.map(|id| id.to_string()).unwrap_or_default();
        OfferResult { offer, ..result(case.loaded, outcome, problems) }
    }
}

fn fits(batch: &Batch) -> bool {
    let ops = batch.checks().len() + batch.writes().len();
    ops + SPARE_OPS <= BATCH_OPS_MAX && batch.bytes() <= BATCH_BYTES_MAX
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

/// The result of a batch of a load that was overtaken.
fn superseded(loaded: &Loaded) -> BatchResult {
    let result = |offer: &LoadedOffer| result(offer, Outcome::OUTCOME_SUPERSEDED, Vec::new());
    BatchResult {
        number: loaded.number,
        offers: loaded.offers.iter().map(result).collect(),
        ..BatchResult::default()
    }
}

/// Which offers are the first of their external id. The reader rejects the others too, but a commit
/// cannot change an offer twice.
fn first_of_each(offers: &[LoadedOffer]) -> Vec<bool> {
    let mut ids = BTreeSet::new();
    offers.iter().map(|offer| ids.insert(&*offer.external_id)).collect()
}

/// Splits a result into parts of about this size, never an offer. Dependencies continue the
/// numbering of the result; the last one says `more` if the result does.
fn in_parts(result: BatchResult, bytes_max: usize) -> Vec<BatchResult> {
    let BatchResult { number, unchanged, part, more, offers, .. } = result;
    let mut parts = vec![BatchResult { number, part, unchanged, more, ..BatchResult::default() }];
    let mut bytes = 0;
    for offer in offers {
        let size = offer.encoded_len() as usize;
        if bytes > 0 && bytes + size > bytes_max {
            let part = part + parts.len() as u32;
            parts.push(BatchResult { number, part, more, ..BatchResult::default() });
            bytes = 0;
        }
        bytes += size;
        if let Some(last) = parts.last_mut() {
            last.offers.push(offer);
        }
    }
    if let Some((_, before_last)) = parts.split_last_mut() {
        for part in before_last {
            part.more = true;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_result_is_split_into_parts_with_each_offer_once_and_in_order() {
        let offer = |id: u32| OfferResult { external_id: format!("{id:010}"), ..OfferResult::default() };
        let offers: Vec<OfferResult> = (0..7).map(offer).collect();
        let answer =
            BatchResult { number: 3, offers: offers.clone(), unchanged: 5, ..BatchResult::default() };
        let whole = in_parts(answer.clone(), 1000);
        assert_eq!(whole, std::slice::from_ref(&answer));
        let parts = in_parts(answer, 30);
        let shape: Vec<_> = parts.iter().map(|it| (it.number, it.part, it.more, it.unchanged)).collect();
        assert_eq!(shape, [(3, 0, true, 5), (3, 1, true, 0), (3, 2, true, 0), (3, 3, false, 0)]);
        assert_eq!(parts.into_iter().flat_map(|part| part.offers).collect::<Vec<_>>(), offers);
    }

    #[test]
    fn parts_of_a_portion_continue_the_numbering_and_announce_more() {
        let offers = vec![OfferResult { external_id: "1".to_owned(), ..OfferResult::default() }; 2];
        let portion = BatchResult { part: 2, more: true, offers, ..BatchResult::default() };
        let parts = in_parts(portion, 1);
        assert_eq!(parts.iter().map(|it| (it.part, it.more)).collect::<Vec<_>>(), [(2, true), (3, true)]);
    }
}
