//! What becomes of one offer of a load.

use std::time::Duration;

use watcher::{Entity as _, Fields, Versioned};
use wire::torg::feeds::v1::{
    LoadedOffer, OfferNotes, Problem, SeenOffer, loaded_offer::Verdict, problem::Severity,
};
use wire::torg::offers::v1::{Offer, Source, Status, source};

use super::by_feed;
use super::known::Known;
use super::notes::{note, recall};
use super::progress::FeedName;
use crate::entity::StoredOffer;
use crate::error::{Error, Result};
use crate::id::OfferId;
use crate::masks::UpdateMask;
use crate::moves::Move;
use crate::offers::Offers;
use crate::validation::Violation;
use crate::{status, time};

pub(super) use wire::torg::feeds::v1::offer_result::Outcome;

/// An offer that is still in its feed is prolonged so long before it would expire.
const PROLONG_BEFORE: Duration = Duration::from_secs(30 * 24 * 3600);

/// An offer of a load beside what is known of it.
pub(super) struct Case<'a> {
    pub(super) feed: &'a FeedName,
    pub(super) load: u64,
    pub(super) loaded: &'a LoadedOffer,
    pub(super) known: &'a Known,
    /// What was reported about it, if it comes without that.
    pub(super) notes: OfferNotes,
    /// The offer that has this external id now.
    pub(super) matched: Option<OfferId>,
}

/// What becomes of it.
pub(super) struct Decision {
    pub(super) outcome: Outcome,
    /// What is to be saved: what it was, and what it becomes.
    pub(super) save: Option<(Option<Versioned<StoredOffer>>, StoredOffer)>,
    /// What is known of it from now on.
    pub(super) seen: Option<SeenOffer>,
    /// What is noted of it from now on; what there was stays if this is nothing.
    pub(super) notes: Option<OfferNotes>,
    /// Beside those that it came with.
    pub(super) problems: Vec<Problem>,
}

impl Decision {
    /// Nothing but that the load had it.
    fn noted(outcome: Outcome, case: &Case<'_>) -> Self {
        let known = case.matched.and_then(|_| case.known.seen.clone());
        let seen = known.map(|seen| SeenOffer { load: case.load, ..seen });
        Self { outcome, save: None, seen, notes: None, problems: Vec::new() }
    }

    /// That it is published, and what the load said of it.
    fn seen(outcome: Outcome, case: &Case<'_>, stored: &StoredOffer) -> Self {
        let notes = note(case.loaded);
        // Without a fingerprint, it is looked at each time.
        let fingerprint = notes.as_ref().map(|_| case.loaded.fingerprint.clone()).unwrap_or_default();
        let notes = notes.unwrap_or_default();
        let seen = SeenOffer {
            offer: stored.id.to_string(),
            load: case.load,
            fingerprint,
            look_at_ms: look_at_ms(stored),
            noted: !notes.problems.is_empty(),
            ..SeenOffer::default()
        };
        Self { outcome, save: None, seen: Some(seen), notes: Some(notes), problems: Vec::new() }
    }

    fn rejected(case: &Case<'_>, violations: &[Violation]) -> Self {
        let problems = violations.iter().map(problem_of).collect();
        Self { problems, ..Self::noted(Outcome::OUTCOME_REJECTED, case) }
    }
}

/// What the ad store found wrong that nobody had noticed before.
fn problem_of(violation: &Violation) -> Problem {
    Problem {
        code: "refused".to_owned(),
        severity: Severity::SEVERITY_ERROR.into(),
        field: violation.field.clone(),
        message: violation.text.clone(),
        ..Problem::default()
    }
}

impl Offers {
    /// Decides what becomes of an offer of a load. Reads, and changes nothing.
    pub(super) async fn decide(&self, case: &Case<'_>) -> Result<Decision> {
        let Case { loaded, known, matched, .. } = case;
        let same = known.same(&loaded.fingerprint, self.now().as_ms());
        match loaded.verdict.as_known() {
            Some(Verdict::VERDICT_UNCHANGED) => {
                return Ok(match same {
                    Some(_) => Decision {
                        problems: recall(&case.notes, loaded),
                        ..Decision::noted(Outcome::OUTCOME_UNCHANGED, case)
                    },
                    // Somebody came between the reader's question and this: the next load says what becomes of it.
                    None => Decision::noted(Outcome::OUTCOME_POSTPONED, case),
                });
            }
            Some(Verdict::VERDICT_POSTPONED) => return Ok(Decision::noted(Outcome::OUTCOME_POSTPONED, case)),
            Some(Verdict::VERDICT_WITHDRAWN) => {
                return Ok(Decision { seen: None, ..Decision::noted(Outcome::OUTCOME_WITHDRAWN, case) });
            }
            Some(Verdict::VERDICT_ACCEPTED) => {}
            _ => return Ok(Decision::noted(Outcome::OUTCOME_REJECTED, case)),
        }
        let Some(offer) = loaded.offer.as_option() else { return Ok(Decision::rejected(case, &[])) };
        let Some(id) = *matched else { return self.publish(case, offer) };
        if same.is_some() {
            return Ok(Decision::noted(Outcome::OUTCOME_UNCHANGED, case));
        }
        match self.watcher().load_to_change(&id, &Fields::all()).await? {
            Some(found) => self.renew(case, found, offer),
            // It was archived just now: the next attempt finds no match.
            None => Err(Error::Contended(id)),
        }
    }

    fn publish(&self, case: &Case<'_>, offer: &Offer) -> Result<Decision> {
        let offer = of_feed(case, offer.clone());
        match self.require_valid(&offer) {
            Err(Error::Invalid(violations)) => return Ok(Decision::rejected(case, &violations)),
            valid => valid?,
        }
        let call = by_feed(&case.feed.namespace, case.load);
        let stored = self.fresh(&call, self.new_id(), offer)?;
        let seen = Decision::seen(Outcome::OUTCOME_CREATED, case, &stored);
        Ok(Decision { save: Some((None, stored)), ..seen })
    }

    fn renew(&self, case: &Case<'_>, found: Versioned<StoredOffer>, offer: &Offer) -> Result<Decision> {
        let call = by_feed(&case.feed.namespace, case.load);
        let mut after = found.entity.clone();
        UpdateMask::all().apply(&mut after.offer, offer).map_err(|error| Error::Damaged {
            place: case.loaded.external_id.clone(),
            detail: error.to_string(),
        })?;
        self.prolong(&mut after, &call)?;
        if StoredOffer::changed_fields(&found.entity, &after).is_empty() {
            return Ok(Decision::seen(Outcome::OUTCOME_UNCHANGED, case, &found.entity));
        }
        match self.require_valid(&after.offer) {
            Err(Error::Invalid(violations)) => return Ok(Decision::rejected(case, &violations)),
            valid => valid?,
        }
        after.offer.catalogue_version = self.catalogue().version();
        after.offer.obstacles.clear();
        after.offer.update_time = Some(time::from_time(self.now())).into();
        after.set_author(&call.author);
        let seen = Decision::seen(Outcome::OUTCOME_CHANGED, case, &after);
        Ok(Decision { save: Some((Some(found), after)), ..seen })
    }

    /// What is in the feed is for sale: it does not expire, and one that has expired is shown again.
    fn prolong(&self, stored: &mut StoredOffer, call: &crate::Call) -> Result<()> {
        let (now, exposure, id) = (self.now(), self.config().exposure, stored.id);
        match stored.status() {
            Status::STATUS_EXPIRED => Move::to(Status::Active)
                .because("feed_has_it", "the feed still has it")
                .apply(stored, &call.author, call.by, now, exposure)
                .or_else(|why| match why {
                    // A ban stands over it.
                    crate::NotMoved::BanStands => Ok(()),
                    why @ crate::NotMoved::Forbidden(_) => Err(Error::NotMoved { id, why }),
                }),
            Status::STATUS_ACTIVE if now.as_ms() >= look_at_ms(stored) => {
                stored.offer.expire_time = Some(time::from_time(now + exposure)).into();
                stored.offer.expire_warning_time = None.into();
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// From when on an offer has to be prolonged.
fn look_at_ms(stored: &StoredOffer) -> i64 {
    let before: i64 = PROLONG_BEFORE.as_millis().try_into().unwrap_or(i64::MAX);
    let expires = stored.offer.expire_time.as_option().map(time::to_ms);
    // One that does not expire by itself needs nothing.
    expires.map_or(i64::MAX, |expires| expires.saturating_sub(before))
}

/// The offer with the seller and the source that the load says.
fn of_feed(case: &Case<'_>, offer: Offer) -> Offer {
    let feed = source::Feed {
        namespace: case.feed.namespace.clone(),
        external_id: case.loaded.external_id.clone(),
        ..source::Feed::default()
    };
    let source = Source { kind: Some(feed.into()), ..Source::default() };
    Offer { seller: case.feed.seller.clone(), source: Some(source).into(), ..offer }
}

/// Gives an offer up that its feed does not have any more: what it becomes. `None` if there is nothing to do.
pub(super) fn give_up(
    offers: &Offers,
    feed: &FeedName,
    load: u64,
    found: &Versioned<StoredOffer>,
    make_manual: bool,
) -> Result<Option<StoredOffer>> {
    let (mut after, call) = (found.entity.clone(), by_feed(&feed.namespace, load));
    if matches!(after.status(), Status::STATUS_REMOVED | Status::STATUS_ARCHIVED) {
        return Ok(None);
    }
    let (now, exposure, id) = (offers.now(), offers.config().exposure, after.id);
    if make_manual {
        after.offer.source =
            Some(Source { kind: Some(source::Manual::default().into()), ..Source::default() }).into();
        after.set_author(&call.author);
    } else {
        debug_assert!(status::may_move(after.status(), Status::Removed, call.by).is_ok());
        Move::to(Status::Removed)
            .because("feed_without_it", "the feed does not have it any more")
            .apply(&mut after, &call.author, call.by, now, exposure)
            .map_err(|why| Error::NotMoved { id, why })?;
    }
    after.offer.update_time = Some(time::from_time(now)).into();
    Ok(Some(after))
}
