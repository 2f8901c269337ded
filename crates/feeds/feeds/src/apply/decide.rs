//! Decides what becomes of one offer of a load.

use std::time::Duration;

use offers::validation::Violation;
use offers::{Move, Renewal, StoredOffer};
use watcher::Versioned;
use wire::torg::feeds::v1::{
    LoadedOffer, OfferNotes, Problem, SeenOffer, loaded_offer::Verdict, problem::Severity,
};
use wire::torg::offers::v1::{Offer, Source, Status, source};

use super::author;
use super::notes::{note, recall};
use super::seen::Known;
use crate::error::Result;
use crate::feeds::Feeds;
use crate::name::FeedName;

pub(super) use wire::torg::feeds::v1::offer_result::Outcome;

/// An active offer that is still in its feed is renewed this long before it would expire.
const RENEW_BEFORE: Duration = Duration::from_secs(30 * 24 * 3600);

/// An offer of a load, and what is known of it.
pub(super) struct Case<'a> {
    pub(super) feed: &'a FeedName,
    pub(super) load: u64,
    pub(super) loaded: &'a LoadedOffer,
    pub(super) known: Known,
    /// What was reported about it, if it comes as unchanged.
    pub(super) notes: OfferNotes,
    /// The offer that it may change.
    pub(super) found: Option<Versioned<StoredOffer>>,
}

pub(super) struct Decision {
    pub(super) outcome: Outcome,
    /// The offer as it becomes; `None` if it is not changed.
    pub(super) after: Option<StoredOffer>,
    pub(super) seen: Option<SeenOffer>,
    /// `None` leaves the notes as they are.
    pub(super) notes: Option<OfferNotes>,
    /// Added to those of the loaded offer.
    pub(super) problems: Vec<Problem>,
}

impl Decision {
    /// Records only that the load has the offer.
    fn only_seen(outcome: Outcome, case: &Case<'_>) -> Self {
        let seen = case.known.offer.and_then(|_| case.known.seen.clone());
        let seen = seen.map(|seen| SeenOffer { load: case.load, ..seen });
        Self { outcome, after: None, seen, notes: None, problems: Vec::new() }
    }

    /// The offer is published as the load has it.
    fn published(outcome: Outcome, case: &Case<'_>, stored: &StoredOffer) -> Self {
        let notes = note(case.loaded);
        // Without a fingerprint the offer is compared each time.
        let fingerprint = notes.as_ref().map(|_| case.loaded.fingerprint.clone()).unwrap_or_default();
        let notes = notes.unwrap_or_default();
        let seen = SeenOffer {
            offer: stored.id.to_string(),
            load: case.load,
            fingerprint,
            look_at_ms: stored.renew_at_ms(RENEW_BEFORE),
            noted: !notes.problems.is_empty(),
            ..SeenOffer::default()
        };
        Self { outcome, after: None, seen: Some(seen), notes: Some(notes), problems: Vec::new() }
    }

    fn rejected(case: &Case<'_>, violations: &[Violation]) -> Self {
        let problems = violations.iter().map(problem_of).collect();
        Self { problems, ..Self::only_seen(Outcome::OUTCOME_REJECTED, case) }
    }
}

/// A violation that the reader did not notice.
fn problem_of(violation: &Violation) -> Problem {
    Problem {
        code: "refused".to_owned(),
        severity: Severity::SEVERITY_ERROR.into(),
        field: violation.field.clone(),
        message: violation.text.clone(),
        ..Problem::default()
    }
}

impl Case<'_> {
    /// Whether deciding needs the published offer.
    pub(super) fn needs_offer(loaded: &LoadedOffer, known: &Known, now_ms: i64) -> bool {
        loaded.verdict.as_known() == Some(Verdict::VERDICT_ACCEPTED)
            && loaded.offer.is_set()
            && !known.is_same(&loaded.fingerprint, now_ms)
    }
}

impl Feeds {
    pub(super) fn decide(&self, case: &Case<'_>) -> Result<Decision> {
        let Case { loaded, known, .. } = case;
        let is_same = known.is_same(&loaded.fingerprint, self.now().as_ms());
        match loaded.verdict.as_known() {
            Some(Verdict::VERDICT_UNCHANGED) if is_same => {
                let problems = recall(&case.notes, loaded);
                return Ok(Decision { problems, ..Decision::only_seen(Outcome::OUTCOME_UNCHANGED, case) });
            }
            // Unchanged offers that were changed since the reader asked wait for the next load.
            Some(Verdict::VERDICT_UNCHANGED | Verdict::VERDICT_POSTPONED) => {
                return Ok(Decision::only_seen(Outcome::OUTCOME_POSTPONED, case));
            }
            Some(Verdict::VERDICT_WITHDRAWN) => {
                return Ok(Decision { seen: None, ..Decision::only_seen(Outcome::OUTCOME_WITHDRAWN, case) });
            }
            Some(Verdict::VERDICT_ACCEPTED) => {}
            _ => return Ok(Decision::only_seen(Outcome::OUTCOME_REJECTED, case)),
        }
        let Some(offer) = loaded.offer.as_option() else { return Ok(Decision::rejected(case, &[])) };
        if is_same {
            return Ok(Decision::only_seen(Outcome::OUTCOME_UNCHANGED, case));
        }
        let call = author(&case.feed.namespace, case.load);
        let (outcome, prepared) = match &case.found {
            None => {
                (Outcome::OUTCOME_CREATED, self.offers().prepare_new(&call, of_feed(case, offer.clone())))
            }
            Some(found) => {
                let changed = self.offers().prepare_update(&call, &found.entity, offer, &renewal());
                let Some(changed) = changed.transpose() else {
                    return Ok(Decision::published(Outcome::OUTCOME_UNCHANGED, case, &found.entity));
                };
                (Outcome::OUTCOME_CHANGED, changed)
            }
        };
        match prepared {
            Ok(after) => {
                let published = Decision::published(outcome, case, &after);
                Ok(Decision { after: Some(after), ..published })
            }
            Err(offers::Error::Invalid(violations)) => Ok(Decision::rejected(case, &violations)),
            Err(error) => Err(error.into()),
        }
    }

    /// What becomes of an offer that its feed does not have any more; `None` if there is nothing to
    /// do.
    pub(super) fn withdraw(
        &self,
        feed: &FeedName,
        load: u64,
        stored: &StoredOffer,
        make_manual: bool,
    ) -> Result<Option<StoredOffer>> {
        if matches!(stored.status(), Status::STATUS_REMOVED | Status::STATUS_ARCHIVED) {
            return Ok(None);
        }
        let call = author(&feed.namespace, load);
        if make_manual {
            return Ok(Some(self.offers().prepare_manual(&call, stored)));
        }
        let removal =
            Move::to(Status::Removed).because("feed_without_it", "the feed does not have it any more");
        Ok(Some(self.offers().prepare_move(&call, stored, &removal)?))
    }
}

fn renewal() -> Renewal {
    let when_expired = Move::to(Status::Active).because("feed_has_it", "the feed still has it");
    Renewal { before_end: RENEW_BEFORE, when_expired }
}

/// The offer with the seller and the source of the load.
fn of_feed(case: &Case<'_>, offer: Offer) -> Offer {
    let feed = source::Feed {
        namespace: case.feed.namespace.clone(),
        external_id: case.loaded.external_id.clone(),
        ..source::Feed::default()
    };
    let source = Source { kind: Some(feed.into()), ..Source::default() };
    Offer { seller: case.feed.seller.clone(), source: Some(source).into(), ..offer }
}
