//! Where an offer stands, and why.

use access::{Action, Caller, Owner};
use contract::torg::offers::v1::explain_offer_response::StageStanding;
use contract::torg::offers::v1::{ExplainOfferRequest, ExplainOfferResponse};
use watcher::Standing;

use super::{OfferCalls, checks};
use crate::errors::Refusal;
use crate::limits::EXPLAINED_CHANGES;

impl OfferCalls {
    /// Everything that is known about an offer. It tells how the marketplace works inside: sellers have the history instead.
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
        let explained = offers.watcher().explain(&id).await.map_err(offers::Error::from)?;
        let is_active = explained.exists();
        let notes = explained.asking.iter().map(ToString::to_string);
        let notes = notes.chain(explained.slowed.iter().map(ToString::to_string)).collect();
        let stages = explained.stages.iter().filter(|_| is_active).map(|(stage, seen)| standing(stage, seen));
        Ok(ExplainOfferResponse {
            offer: offer.into(),
            history,
            moderation: moderation.into(),
            shard: explained.shard,
            stages: stages.collect(),
            served_by: explained.owner.unwrap_or_default(),
            notes,
            ..ExplainOfferResponse::default()
        })
    }
}

fn standing(stage: &str, seen: &Standing) -> StageStanding {
    let failed = seen.failed.as_ref();
    StageStanding {
        stage: stage.to_owned(),
        standing: seen.to_string(),
        failed_attempts: failed.map_or(0, |failed| failed.attempts),
        error: failed.map(|failed| failed.error.clone()).unwrap_or_default(),
        ..StageStanding::default()
    }
}
