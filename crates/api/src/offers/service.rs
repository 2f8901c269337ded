//! The generated trait: takes a call apart, and hands it over.

use connectrpc::{RequestContext, Response, ServiceRequest, ServiceResult, ServiceStream};
use contract::torg::offers::v1 as wire;

use super::OfferCalls;
use crate::caller::of_request;

#[expect(refining_impl_trait, reason = "the generated trait leaves the type of the answer open")]
impl wire::OfferService for OfferCalls {
    async fn create_offer(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::CreateOfferRequest>,
    ) -> ServiceResult<wire::CreateOfferResponse> {
        Response::ok(self.create(of_request(&context)?, request.to_owned_message()).await?)
    }

    async fn get_offer(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::GetOfferRequest>,
    ) -> ServiceResult<wire::GetOfferResponse> {
        Response::ok(self.get(of_request(&context)?, request.to_owned_message()).await?)
    }

    async fn batch_get_offers(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::BatchGetOffersRequest>,
    ) -> ServiceResult<wire::BatchGetOffersResponse> {
        Response::ok(self.batch_get(of_request(&context)?, request.to_owned_message()).await?)
    }

    async fn update_offer(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::UpdateOfferRequest>,
    ) -> ServiceResult<wire::UpdateOfferResponse> {
        Response::ok(self.update(of_request(&context)?, request.to_owned_message()).await?)
    }

    async fn move_offer(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::MoveOfferRequest>,
    ) -> ServiceResult<wire::MoveOfferResponse> {
        Response::ok(self.move_to(of_request(&context)?, request.to_owned_message()).await?)
    }

    async fn get_history(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::GetHistoryRequest>,
    ) -> ServiceResult<wire::GetHistoryResponse> {
        Response::ok(self.history(of_request(&context)?, request.to_owned_message()).await?)
    }

    async fn explain_offer(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::ExplainOfferRequest>,
    ) -> ServiceResult<wire::ExplainOfferResponse> {
        Response::ok(self.explain(of_request(&context)?, request.to_owned_message()).await?)
    }

    async fn watch_offers(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::WatchOffersRequest>,
    ) -> ServiceResult<ServiceStream<wire::WatchOffersResponse>> {
        Response::stream_ok(self.watch(of_request(&context)?, request.to_owned_message()).await?)
    }

    async fn get_billing(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::GetBillingRequest>,
    ) -> ServiceResult<wire::GetBillingResponse> {
        Response::ok(self.billing(of_request(&context)?, request.to_owned_message()).await?)
    }

    async fn set_billing(
        &self,
        context: RequestContext,
        request: ServiceRequest<'_, wire::SetBillingRequest>,
    ) -> ServiceResult<wire::SetBillingResponse> {
        Response::ok(self.keep_billing(of_request(&context)?, request.to_owned_message()).await?)
    }
}
