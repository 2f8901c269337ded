//! The explanation of an offer's state.

use access::{Action, Caller, Owner};
use offers::time::from_time;
use watcher::{Blocked, LastVisit, Time, VisitReason, VisitStatus, Waits};
use wire::torg::offers::v1::explain_offer_response::StageStanding;
use wire::torg::offers::v1::explain_offer_response::stage_standing as shown;
use wire::torg::offers::v1::{ExplainOfferRequest, ExplainOfferResponse};

use super::{OfferCalls, checks};
use crate::errors::Refusal;
use crate::limits::EXPLAINED_CHANGES;

impl OfferCalls {
    /// Everything known about an offer. It reveals internals: sellers use the history instead.
    pub async fn explain(
        &self,
        caller: &Caller,
        request: ExplainOfferRequest,
    ) -> Result<ExplainOfferResponse, Refusal> {
        let id = checks::id("id", &request.id)?;
        let offers = &self.0.offers;
        let offer = offers.get(id).await?;
        let verdict = caller.judge_on(Action::SeeInternals, Owner::Seller(&offer.seller));
        Refusal::of_verdict(verdict, || Refusal::no_offer(id))?;
        let (history, _) = offers.history(id, None, EXPLAINED_CHANGES).await?;
        let moderation = offers.moderation(id).await?;
        let explained = offers.watcher().explain(&id).await?;
        let is_active = explained.exists();
        let notes = explained.asking.iter().map(ToString::to_string);
        let notes = notes.chain(explained.slowed.iter().map(ToString::to_string)).collect();
        let stages =
            explained.stages.iter().filter(|_| is_active).map(|(stage, seen)| stage_standing(stage, seen));
        Ok(ExplainOfferResponse {
            offer: offer.into(),
            history,
            moderation: moderation.into(),
            shard: explained.shard,
            stages: stages.collect(),
            served_by: explained.owner.unwrap_or_default(),
            notes,
            ..Default::default()
        })
    }
}

fn stage_standing(stage: &str, seen: &VisitStatus) -> StageStanding {
    let failed = seen.failed.as_ref();
    let (waits, until) = waits(&seen.waits);
    StageStanding {
        stage: stage.to_owned(),
        standing: seen.to_string(),
        failed_attempts: failed.map_or(0, |failed| failed.attempts),
        error: failed.map(|failed| failed.error.clone()).unwrap_or_default(),
        waits: waits.into(),
        until: until.map(from_time).into(),
        visitor: if let Waits::Busy(_, visitor) = &seen.waits { visitor.clone() } else { String::new() },
        since: seen.since.map(from_time).into(),
        why: seen.why.map(why).unwrap_or_default().into(),
        last_visit: seen.last.as_ref().map(last_visit).into(),
        ..StageStanding::default()
    }
}

/// What an offer waits for, and until when if known.
fn waits(waits: &Waits) -> (shown::Waits, Option<Time>) {
    use shown::Waits as Shown;
    match waits {
        Waits::NotInterested => (Shown::WAITS_NOT_INTERESTED, None),
        Waits::Until(time, _) => (Shown::WAITS_UNTIL, Some(*time)),
        Waits::Visiting(_) => (Shown::WAITS_VISITING, None),
        Waits::Due(_) | Waits::Blocked(_, Blocked::Nothing) => (Shown::WAITS_DUE, None),
        Waits::Busy(..) | Waits::Blocked(_, Blocked::Busy) => (Shown::WAITS_BUSY, None),
        Waits::Blocked(_, Blocked::Calls) => (Shown::WAITS_CALLS, None),
        Waits::Blocked(_, Blocked::Rate(until)) => (Shown::WAITS_RATE, Some(*until)),
        Waits::Blocked(_, Blocked::Paused) => (Shown::WAITS_PAUSED, None),
        Waits::Blocked(_, Blocked::Down(probe)) => (Shown::WAITS_DOWN, Some(*probe)),
        Waits::NoOwner(_) => (Shown::WAITS_NO_OWNER, None),
        Waits::Parked => (Shown::WAITS_PARKED, None),
    }
}

fn why(why: VisitReason) -> shown::Why {
    use shown::Why as Shown;
    match why {
        VisitReason::Change => Shown::WHY_CHANGE,
        VisitReason::Timer => Shown::WHY_TIMER,
        VisitReason::Unsure => Shown::WHY_UNSURE,
        VisitReason::Recrawl => Shown::WHY_RECRAWL,
        VisitReason::Retry => Shown::WHY_RETRY,
        VisitReason::Request => Shown::WHY_REQUEST,
    }
}

fn last_visit(last: &LastVisit) -> shown::LastVisit {
    shown::LastVisit {
        time: Some(from_time(last.at)).into(),
        version: last.version,
        changed: last.changed,
        ..shown::LastVisit::default()
    }
}
