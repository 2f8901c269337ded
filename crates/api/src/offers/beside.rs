//! What is kept beside an offer: its history, and what billing wants.

use access::Caller;
use contract::torg::offers::v1::{
    GetBillingRequest, GetBillingResponse, GetHistoryRequest, GetHistoryResponse, SetBillingRequest,
    SetBillingResponse,
};

use super::{OfferCalls, call, checks};
use crate::caller::{self, Intent};
use crate::errors::Refusal;
use crate::keys;
use crate::limits::{HISTORY_PAGE, page_size};
use crate::tokens::{self, About};

impl OfferCalls {
    /// Who changed what, the newest first.
    pub async fn history(
        &self,
        caller: &Caller,
        request: GetHistoryRequest,
    ) -> Result<GetHistoryResponse, Refusal> {
        let limit = page_size(request.page_size, HISTORY_PAGE)?;
        let id = checks::id("id", &request.id)?;
        let about = About::method("GetHistory").and("id", id.to_string());
        let before =
            tokens::decode(&about, &request.page_token).map_err(|wrong| wrong.refusal("page_token"))?;
        let offer = self.offers.get(id).await?;
        caller::may_see_history(caller, id, &offer)?;
        let (entries, next) = self.offers.history(id, before, limit).await?;
        let next_page_token = tokens::encode(&about, next.as_ref());
        Ok(GetHistoryResponse { entries, next_page_token, ..GetHistoryResponse::default() })
    }

    /// What billing keeps.
    pub async fn billing(
        &self,
        caller: &Caller,
        request: GetBillingRequest,
    ) -> Result<GetBillingResponse, Refusal> {
        let id = checks::id("id", &request.id)?;
        self.reachable(caller, Intent::Read, id).await?;
        let billing = self.offers.billing(id).await?;
        Ok(GetBillingResponse { billing: billing.into(), ..GetBillingResponse::default() })
    }

    /// Keeps something for billing.
    pub async fn set_billing(
        &self,
        caller: &Caller,
        request: SetBillingRequest,
    ) -> Result<SetBillingResponse, Refusal> {
        let known_as = keys::request(caller, &request.idempotency_key, "SetBilling", &request)?;
        let id = checks::id("id", &request.id)?;
        let wanted = request.billing.into_option().ok_or_else(|| Refusal::required("billing"))?;
        checks::billing(&wanted)?;
        let offer = self.offers.get(id).await?;
        caller::may_bill(caller, id, &offer)?;
        let call = call(caller, &offer.seller, caller::writer(caller, &offer.seller), known_as);
        let billing = self.offers.set_billing(&call, id, &wanted).await?;
        Ok(SetBillingResponse { billing: billing.into(), ..SetBillingResponse::default() })
    }
}
