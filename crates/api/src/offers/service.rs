//! `torg.offers.v1.OfferService`.

use connectrpc::{ConnectError, RequestContext, Response, ServiceRequest, ServiceResult, ServiceStream};
use contract::torg::offers::v1 as wire;
use futures::StreamExt as _;

use super::OfferCalls;
use crate::caller;

#[expect(refining_impl_trait, reason = "the generated trait leaves the type of the answer open")]
impl wire::OfferService for OfferCalls {
    async fn create_offer(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::CreateOfferRequest>,
    ) -> ServiceResult<wire::CreateOfferResponse> {
        let caller = caller::of_request(&context)?;
        Response::ok(self.create(caller, request.to_owned_message()).await?)
    }

    async fn get_offer(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::GetOfferRequest>,
    ) -> ServiceResult<wire::GetOfferResponse> {
        let caller = caller::of_request(&context)?;
        Response::ok(self.get(caller, request.to_owned_message()).await?)
    }

    async fn batch_get_offers(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::BatchGetOffersRequest>,
    ) -> ServiceResult<wire::BatchGetOffersResponse> {
        let caller = caller::of_request(&context)?;
        Response::ok(self.batch_get(caller, request.to_owned_message()).await?)
    }

    async fn update_offer(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::UpdateOfferRequest>,
    ) -> ServiceResult<wire::UpdateOfferResponse> {
        let caller = caller::of_request(&context)?;
        Response::ok(self.update(caller, request.to_owned_message()).await?)
    }

    async fn move_offer(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::MoveOfferRequest>,
    ) -> ServiceResult<wire::MoveOfferResponse> {
        let caller = caller::of_request(&context)?;
        Response::ok(self.move_to(caller, request.to_owned_message()).await?)
    }

    async fn get_history(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::GetHistoryRequest>,
    ) -> ServiceResult<wire::GetHistoryResponse> {
        let caller = caller::of_request(&context)?;
        Response::ok(self.history(caller, request.to_owned_message()).await?)
    }

    async fn get_billing(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::GetBillingRequest>,
    ) -> ServiceResult<wire::GetBillingResponse> {
        let caller = caller::of_request(&context)?;
        Response::ok(self.billing(caller, request.to_owned_message()).await?)
    }

    async fn set_billing(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::SetBillingRequest>,
    ) -> ServiceResult<wire::SetBillingResponse> {
        let caller = caller::of_request(&context)?;
        Response::ok(self.set_billing(caller, request.to_owned_message()).await?)
    }

    async fn watch_offers(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::WatchOffersRequest>,
    ) -> ServiceResult<ServiceStream<wire::WatchOffersResponse>> {
        let caller = caller::of_request(&context)?;
        let told = self.watch(caller, request.to_owned_message()).await?;
        Response::stream_ok(told.map(|told| told.map_err(ConnectError::from)))
    }
}
