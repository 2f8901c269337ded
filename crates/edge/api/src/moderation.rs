//! `torg.offers.v1.ModerationService`: opinions about offers.

use access::{Action, Caller, Owner};
use connectrpc::ErrorCode;
use offers::OpinionError;
use wire::torg::offers::v1::{self as proto, Opinion};

use crate::caller::{Intent, is_own};
use crate::errors::Refusal;
use crate::limits::{OPINION_REASONS_MAX, REASON_TEXT_CHARS_MAX, count, idempotency_key, reason_code, text};
use crate::market::Market;
use crate::names::Names;
use crate::offers::checks;
use crate::service::service;

pub(crate) struct ModerationRpc(pub(crate) Market);

service! { ModerationService for ModerationRpc {
    give_opinion(GiveOpinionRequest) -> GiveOpinionResponse = give;
    get_moderation(GetModerationRequest) -> GetModerationResponse = get;
}}

impl ModerationRpc {
    /// Appends an opinion to the topic. The moderator is always the caller; nobody moderates their
    /// own offers.
    async fn give(
        &self,
        caller: &Caller,
        request: proto::GiveOpinionRequest,
    ) -> Result<proto::GiveOpinionResponse, Refusal> {
        // Repeating an opinion is harmless: it carries its time.
        idempotency_key(&request.idempotency_key)?;
        let given = request.opinion.into_option().ok_or_else(|| Refusal::required("opinion"))?;
        let id = checks::id("opinion.offer", &given.offer)?;
        check(&given)?;
        let offer = self.0.offers.get(id).await?;
        let verdict = caller.judge_on(Action::Moderate, Owner::Seller(&offer.seller));
        Refusal::of_verdict(verdict, || Refusal::no_offer(id))?;
        if is_own(caller, &offer.seller) {
            return Err(Refusal::forbidden());
        }
        let opinion = Opinion { offer: id.to_string(), moderator: caller.subject.clone(), ..given };
        match self.0.offers.give_opinion(&self.0.opinions.topic, &opinion).await {
            Ok(()) => Ok(proto::GiveOpinionResponse::default()),
            Err(OpinionError::NoVerdict) => Err(Refusal::required("opinion.verdict")),
            Err(OpinionError::Failed(error)) => Err(error.into()),
            Err(unfit) => Err(Refusal::new(ErrorCode::InvalidArgument, "UNFIT_OPINION", unfit.to_string())),
        }
    }

    /// The opinion on an offer, which its seller may see.
    async fn get(
        &self,
        caller: &Caller,
        request: proto::GetModerationRequest,
    ) -> Result<proto::GetModerationResponse, Refusal> {
        let id = checks::id("id", &request.id)?;
        self.0.reachable(caller, Intent::Read, id).await?;
        let moderation = self.0.offers.moderation(id).await?;
        let moderation = moderation.map(|moderation| Names::seen_by(caller).moderation(moderation));
        Ok(proto::GetModerationResponse { moderation: moderation.into(), ..Default::default() })
    }
}

fn check(opinion: &Opinion) -> Result<(), Refusal> {
    count("opinion.reasons", opinion.reasons.len(), OPINION_REASONS_MAX)?;
    for (number, reason) in opinion.reasons.iter().enumerate() {
        reason_code(&format!("opinion.reasons[{number}].code"), &reason.code)?;
        text(&format!("opinion.reasons[{number}].text"), &reason.text, REASON_TEXT_CHARS_MAX)?;
    }
    Ok(())
}
