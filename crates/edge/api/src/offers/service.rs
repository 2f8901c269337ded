//! The generated trait: takes a call apart, and hands it over.

use connectrpc::{RequestContext, Response, ServiceResult, ServiceStream};
use wire::torg::offers::v1 as proto;

use super::OfferCalls;
use crate::caller::of_request;

impl proto::OfferService for OfferCalls {
    async fn create_offer(
        &self,
        context: RequestContext,
        request: proto::CreateOfferRequest,
    ) -> ServiceResult<proto::CreateOfferResponse> {
        Response::ok(self.create(of_request(&context)?, request).await?)
    }

    async fn get_offer(
        &self,
        context: RequestContext,
        request: proto::GetOfferRequest,
    ) -> ServiceResult<proto::GetOfferResponse> {
        Response::ok(self.get(of_request(&context)?, request).await?)
    }

    async fn batch_get_offers(
        &self,
        context: RequestContext,
        request: proto::BatchGetOffersRequest,
    ) -> ServiceResult<proto::BatchGetOffersResponse> {
        Response::ok(self.batch_get(of_request(&context)?, request).await?)
    }

    async fn update_offer(
        &self,
        context: RequestContext,
        request: proto::UpdateOfferRequest,
    ) -> ServiceResult<proto::UpdateOfferResponse> {
        Response::ok(self.update(of_request(&context)?, request).await?)
    }

    async fn move_offer(
        &self,
        context: RequestContext,
        request: proto::MoveOfferRequest,
    ) -> ServiceResult<proto::MoveOfferResponse> {
        Response::ok(self.move_to(of_request(&context)?, request).await?)
    }

    async fn get_history(
        &self,
        context: RequestContext,
        request: proto::GetHistoryRequest,
    ) -> ServiceResult<proto::GetHistoryResponse> {
        Response::ok(self.history(of_request(&context)?, request).await?)
    }

    async fn explain_offer(
        &self,
        context: RequestContext,
        request: proto::ExplainOfferRequest,
    ) -> ServiceResult<proto::ExplainOfferResponse> {
        Response::ok(self.explain(of_request(&context)?, request).await?)
    }

    async fn watch_offers(
        &self,
        context: RequestContext,
        request: proto::WatchOffersRequest,
    ) -> ServiceResult<ServiceStream<proto::WatchOffersResponse>> {
        Response::stream_ok(self.watch(of_request(&context)?, request).await?)
    }

    async fn get_billing(
        &self,
        context: RequestContext,
        request: proto::GetBillingRequest,
    ) -> ServiceResult<proto::GetBillingResponse> {
        Response::ok(self.billing(of_request(&context)?, request).await?)
    }

    async fn set_billing(
        &self,
        context: RequestContext,
        request: proto::SetBillingRequest,
    ) -> ServiceResult<proto::SetBillingResponse> {
        Response::ok(self.keep_billing(of_request(&context)?, request).await?)
    }
}
