//! Billing data of an offer.

use access::{Action, Caller, Owner};
use offers::OfferId;
use offers::status::Mover;
use wire::torg::offers::v1::{
    Billing, GetBillingRequest, GetBillingResponse, Offer, SetBillingRequest, SetBillingResponse,
};

use super::{OfferCalls, checks};
use crate::caller::{self, Intent};
use crate::errors::Refusal;
use crate::limits::{BILLING_ENTRIES_MAX, BILLING_NOTE_CHARS_MAX, NAME_BYTES_MAX, count, name, text, time};
use crate::market::call;

impl OfferCalls {
    /// Billing data of an offer.
    pub(super) async fn billing(
        &self,
        caller: &Caller,
        request: GetBillingRequest,
    ) -> Result<GetBillingResponse, Refusal> {
        let id = checks::id("id", &request.id)?;
        self.0.reachable(caller, Intent::Read, id).await?;
        let billing = self.0.offers.billing(id).await?;
        Ok(GetBillingResponse { billing: billing.into(), ..Default::default() })
    }

    /// Stores billing data: for services, never for sellers.
    pub(super) async fn set_billing(
        &self,
        caller: &Caller,
        request: SetBillingRequest,
    ) -> Result<SetBillingResponse, Refusal> {
        let id = checks::id("id", &request.id)?;
        let billing = request.billing.as_option().ok_or_else(|| Refusal::required("billing"))?;
        check(billing)?;
        let offer = self.0.offers.get(id).await?;
        require_service(caller, id, &offer)?;
        let who = (caller::author(caller, &offer.seller), Mover::Service);
        let call = call(caller, who, &request.idempotency_key, &request)?;
        let kept = self.0.offers.set_billing(&call, id, billing).await?;
        Ok(SetBillingResponse { billing: kept.into(), ..Default::default() })
    }
}

fn require_service(caller: &Caller, id: OfferId, offer: &Offer) -> Result<(), Refusal> {
    let verdict = caller.judge_on(Action::WriteForSeller, Owner::Seller(&offer.seller));
    Refusal::of_verdict(verdict, || Refusal::no_offer(id))
}

fn check(billing: &Billing) -> Result<(), Refusal> {
    if !billing.tariff.is_empty() {
        name("billing.tariff", &billing.tariff, NAME_BYTES_MAX)?;
    }
    count("billing.promoted_until", billing.promoted_until.len(), BILLING_ENTRIES_MAX)?;
    count("billing.notes", billing.notes.len(), BILLING_ENTRIES_MAX)?;
    for (kind, until) in &billing.promoted_until {
        name("billing.promoted_until", kind, NAME_BYTES_MAX)?;
        time(&format!("billing.promoted_until.{kind}"), until)?;
    }
    for (key, note) in &billing.notes {
        name("billing.notes", key, NAME_BYTES_MAX)?;
        text(&format!("billing.notes.{key}"), note, BILLING_NOTE_CHARS_MAX)?;
    }
    Ok(())
}
