//! A batch of a load: all of it in one commit.

use std::collections::BTreeSet;

use buffa::Message as _;
use store::Batch;
use wire::torg::feeds::v1::load_message::Batch as Loaded;
use wire::torg::feeds::v1::loaded_offer::Verdict;
use wire::torg::feeds::v1::result_message::BatchResult;
use wire::torg::feeds::v1::{LoadProgress, LoadedOffer, OfferResult, Problem, load_progress::State};

use super::decide::{Case, Decision, Outcome};
use super::progress::{FeedName, Progress};
use crate::error::Result;
use crate::limits::ANSWER_BYTES_MAX;
use crate::offers::Offers;

impl Offers {
    /// Adds to a batch what becomes of the offers of a load's batch, and says it, in parts that a topic takes. Nothing is added if it was applied before.
    pub(super) async fn apply_batch(
        &self,
        batch: &mut Batch,
        feed: &FeedName,
        load: u64,
        loaded: &Loaded,
    ) -> Result<Vec<BatchResult>> {
        let progress = self.progress(feed).await?;
        if load < progress.at.load {
            return Ok(in_parts(superseded(loaded), ANSWER_BYTES_MAX));
        }
        let is_over = load == progress.at.load && progress.state() != State::STATE_BATCHES;
        if is_over || load == progress.at.load && loaded.number < progress.at.next_batch {
            return Ok(Vec::new());
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
        let known = self.known(feed, offers.iter().map(|offer| &*offer.external_id)).await?;
        let wanted = offers.iter().zip(&known).map(|(loaded, known)| {
            let is_missing = loaded.verdict.as_known() == Some(Verdict::VERDICT_UNCHANGED);
            let has_notes = known.seen.as_ref().is_some_and(|seen| seen.noted);
            (is_missing && has_notes).then_some(&*loaded.external_id)
        });
        let notes = self.notes(feed, wanted).await?;
        let cases: Vec<Case<'_>> = offers
            .iter()
            .zip(&known)
            .zip(notes)
            .map(|((loaded, known), notes)| {
                Ok(Case { feed, load, loaded, known, notes, matched: known.matched()? })
            })
            .collect::<Result<_>>()?;
        let decided = futures::future::try_join_all(cases.iter().map(|case| self.decide(case))).await?;
        let mut answer = BatchResult { number: loaded.number, ..BatchResult::default() };
        let mut decided = decided.into_iter().zip(&cases);
        for (offer, is_first) in loaded.offers.iter().zip(is_first) {
            let next = if is_first { decided.next() } else { None };
            let result = match next {
                Some((decision, case)) => self.carry_out(batch, decision, case).await?,
                None => result(offer, Outcome::OUTCOME_REJECTED, offer.problems.clone()),
            };
            if result.outcome.as_known() == Some(Outcome::OUTCOME_UNCHANGED) && result.problems.is_empty() {
                answer.unchanged += 1;
            } else {
                answer.offers.push(result);
            }
        }
        Ok(in_parts(answer, ANSWER_BYTES_MAX))
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

    async fn carry_out(&self, batch: &mut Batch, decision: Decision, case: &Case<'_>) -> Result<OfferResult> {
        let Decision { outcome, save, seen, notes, problems } = decision;
        let offer = match (&save, case.matched) {
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
            batch.set(case.known.key.clone(), seen.encode_to_vec());
        }
        if let Some(notes) = notes {
            let had_notes = case.known.seen.as_ref().is_some_and(|seen| seen.noted);
            let key = self.notes_key(case.feed, &case.loaded.external_id);
            if !notes.problems.is_empty() {
                batch.set(key, notes.encode_to_vec());
            } else if had_notes {
                batch.delete(key);
            }
        }
        let problems = case.loaded.problems.iter().cloned().chain(problems).collect();
        Ok(OfferResult { offer, ..result(case.loaded, outcome, problems) })
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

/// An answer in parts of so many bytes, about. One offer is never in two of them.
fn in_parts(answer: BatchResult, bytes_max: usize) -> Vec<BatchResult> {
    let empty = |part: u32| BatchResult { number: answer.number, part, ..BatchResult::default() };
    let mut parts = vec![BatchResult { unchanged: answer.unchanged, ..empty(0) }];
    let mut bytes = 0;
    for offer in answer.offers {
        let size = offer.encoded_len() as usize;
        let next = parts.len() as u32;
        if bytes > 0 && bytes + size > bytes_max {
            if let Some(last) = parts.last_mut() {
                last.more = true;
            }
            parts.push(empty(next));
            bytes = 0;
        }
        bytes += size;
        if let Some(last) = parts.last_mut() {
            last.offers.push(offer);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_answer_comes_in_parts_that_have_each_offer_once_and_in_order() {
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
}
