//! The consumer of results: fills the statistics and problems of loads, each batch once.

use buffa::Message as _;
use store::Batch;
use tokio::sync::watch;
use topics::{Delivered, Position};
use wire::torg::feeds::v1::__buffa::oneof::result_message::Content;
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::offer_result::Outcome;
use wire::torg::feeds::v1::problem::Severity;
use wire::torg::feeds::v1::result_message::{BatchResult, EndResult};
use wire::torg::feeds::v1::{Load, OfferProblem, OfferProblems, OfferResult, ResultMessage};

use crate::background::repeat;
use crate::error::{Error, Result};
use crate::feeds::Feeds;
use crate::limits::{ATTEMPTS_MAX, LOAD_PROBLEMS_MAX, QUEUE_MAX, ROW_PROBLEMS};
use crate::loads::{counts, internal_mut, is_over};
use crate::name::FeedName;
use crate::tables::PROBLEMS;

pub const GROUP: &str = "feeds.results";
const PAGE: usize = 64;
/// Positions of problems in one part of a result: more than it can have, in whole rows.
const PART_PLACES: u32 = 1000 * ROW_PROBLEMS as u32;

impl Feeds {
    /// Consumes the results of one partition until `stop` says so.
    pub async fn follow_results(&self, partition: u32, stop: watch::Receiver<bool>) {
        repeat("consume results", Some(partition), stop, || self.consume_messages(partition)).await;
    }

    /// Consumes the next messages, each in a commit of its own.
    async fn consume_messages(&self, partition: u32) -> Result<()> {
        let topic = &self.deps.config.results_topic;
        let (mut position, messages) = self.next_messages(GROUP, topic, partition, PAGE).await?;
        for Delivered { offset, message } in &messages {
            let result = match ResultMessage::decode_from_slice(&message.payload) {
                Ok(result) => result,
                Err(error) => {
                    tracing::error!(partition, offset, %error, "cannot decode the result of a load");
                    ResultMessage::default()
                }
            };
            let Some(next) = self.consume(&result, partition, &position, *offset).await? else { break };
            position = next;
        }
        Ok(())
    }

    /// The position after the message; `None` if another consumer has moved it.
    async fn consume(
        &self,
        result: &ResultMessage,
        partition: u32,
        position: &Position,
        offset: i64,
    ) -> Result<Option<Position>> {
        let name = FeedName { seller: result.seller.clone(), namespace: result.namespace.clone() };
        for _ in 0..ATTEMPTS_MAX {
            let mut batch = Batch::new();
            if let Some((mut load, version)) = self.stored_load(&name, result.load).await? {
                let before = load.clone();
                match &result.content {
                    Some(Content::Batch(answered)) => {
                        self.count_batch(&mut batch, &name, &mut load, answered);
                    }
                    Some(Content::End(end)) => self.note_end(&mut batch, &name, &mut load, end),
                    None => {}
                }
                if is_done(&load)
                    && !is_done(&before)
                    && let Some(load_hook) = &self.deps.load_hook
                {
                    load_hook.load_done(&name, &load, &mut batch).await?;
                }
                if load != before {
                    self.put_load(&mut batch, &name, version, &load);
                }
                if result.content.as_ref().is_some_and(is_first) {
                    self.supersede_before(&mut batch, &name, result.load).await?;
                }
            } else if let Some(Content::End(_)) = &result.content {
                // The load that deletes a feed has no row.
                self.queue_cleaning(&mut batch, &name, result.load);
            }
            let next = position.commit_into(&mut batch, offset + 1);
            if self.store().commit(batch).await?.is_applied() {
                return Ok(Some(next));
            }
            if self.is_overtaken(GROUP, &self.deps.config.results_topic, partition, position).await? {
                return Ok(None);
            }
        }
        Err(Error::Contended)
    }

    /// After the first result of a load no more results of earlier loads come: those that have not
    /// ended are superseded.
    async fn supersede_before(&self, batch: &mut Batch, name: &FeedName, number: u64) -> Result<()> {
        for (mut load, version) in self.stored_loads(name, number, 2 * QUEUE_MAX).await? {
            if !is_over(&load) {
                load.state = State::STATE_SUPERSEDED.into();
                load.end_time = Some(self.timestamp()).into();
                self.put_load(batch, name, version, &load);
            }
        }
        Ok(())
    }

    fn count_batch(&self, batch: &mut Batch, name: &FeedName, load: &mut Load, answered: &BatchResult) {
        let BatchResult { number, part, more, .. } = *answered;
        if (number, part) < (internal_mut(load).answered_batches, internal_mut(load).answered_parts) {
            return;
        }
        let next = if more { (number, part + 1) } else { (number + 1, 0) };
        (internal_mut(load).answered_batches, internal_mut(load).answered_parts) = next;
        counts(load).unchanged += u64::from(answered.unchanged);
        let mut kept = Vec::new();
        for offer in &answered.offers {
            count_outcome(load, offer);
            for problem in &offer.problems {
                let is_error = problem.severity.as_known() == Some(Severity::SEVERITY_ERROR);
                *(if is_error { &mut counts(load).errors } else { &mut counts(load).warnings }) += 1;
                *load.problems_by_code.entry(problem.code.clone()).or_default() += 1;
                if counts(load).errors + counts(load).warnings > LOAD_PROBLEMS_MAX {
                    continue;
                }
                kept.push(OfferProblem {
                    external_id: offer.external_id.clone(),
                    title: offer.title.clone(),
                    offer: offer.offer.clone(),
                    problem: Some(problem.clone()).into(),
                    ..OfferProblem::default()
                });
            }
        }
        let (shard, load) = (self.seller_shard(&name.seller), load.number.cast_signed());
        for (row, problems) in kept.chunks(ROW_PROBLEMS).enumerate() {
            let place = part * PART_PLACES + (row * ROW_PROBLEMS) as u32;
            let key = PROBLEMS.key((shard, &*name.seller, &*name.namespace, load, number, place));
            let row = OfferProblems { problems: problems.to_vec(), ..OfferProblems::default() };
            batch.set(key, row.encode_to_vec());
        }
    }

    fn note_end(&self, batch: &mut Batch, name: &FeedName, load: &mut Load, end: &EndResult) {
        if is_over(load) {
            return;
        }
        if end.waits {
            load.state = State::STATE_WAITING.into();
            (load.would_remove, load.would_remove_of) = (end.would_remove, end.of);
            return;
        }
        let state = match (end.superseded, load.failure.is_set()) {
            (true, _) => State::STATE_SUPERSEDED,
            (false, true) => State::STATE_FAILED,
            (false, false) => State::STATE_DONE,
        };
        load.state = state.into();
        load.end_time = Some(self.timestamp()).into();
        (load.would_remove, load.would_remove_of) = (0, 0);
        (counts(load).removed, counts(load).made_manual) = (end.removed, end.made_manual);
        self.queue_cleaning(batch, name, load.number);
    }
}

fn is_done(load: &Load) -> bool {
    load.state.as_known() == Some(State::STATE_DONE)
}

/// Whether this may be the first result of a load.
fn is_first(content: &Content) -> bool {
    match content {
        Content::Batch(answered) => (answered.number, answered.part) == (0, 0),
        Content::End(_) => true,
    }
}

fn count_outcome(load: &mut Load, offer: &OfferResult) {
    let counts = counts(load);
    let count = match offer.outcome.as_known() {
        Some(Outcome::OUTCOME_CREATED) => &mut counts.created,
        Some(Outcome::OUTCOME_CHANGED) => &mut counts.changed,
        Some(Outcome::OUTCOME_UNCHANGED) => &mut counts.unchanged,
        Some(Outcome::OUTCOME_POSTPONED) => &mut counts.postponed,
        Some(Outcome::OUTCOME_SUPERSEDED) => &mut counts.superseded,
        Some(Outcome::OUTCOME_WITHDRAWN) => &mut counts.withdrawn,
        Some(Outcome::OUTCOME_REJECTED | Outcome::OUTCOME_UNSPECIFIED) | None => &mut counts.rejected,
    };
    *count += 1;
}
