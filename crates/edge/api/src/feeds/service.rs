//! The calls as a service.

use connectrpc::{RequestContext, Response, ServiceResult};
use wire::torg::feeds::v1 as proto;

use super::FeedCalls;
use super::shown::language_of;
use crate::caller::of_request;

/// One method of the service: takes the caller and the request apart. The second kind speaks a language, which the request may name.
macro_rules! methods {
    ({$($method:ident: $request:ident => $response:ident, $call:ident;)*}
     {$($speaking:ident: $asked:ident => $told:ident, $tell:ident, $named:expr;)*}) => {
        impl proto::FeedService for FeedCalls {
            $(async fn $method(
                &self,
                context: RequestContext,
                request: proto::$request,
            ) -> ServiceResult<proto::$response> {
                Response::ok(Box::pin(self.$call(of_request(&context)?, request)).await?)
            })*
            $(async fn $speaking(
                &self,
                context: RequestContext,
                request: proto::$asked,
            ) -> ServiceResult<proto::$told> {
                let named: fn(&proto::$asked) -> &str = $named;
                let language = language_of(named(&request), context.headers())?;
                Response::ok(Box::pin(self.$tell(of_request(&context)?, request, language)).await?)
            })*
        }
    };
}

methods! {{
    create_feed: CreateFeedRequest => CreateFeedResponse, create;
    get_feed: GetFeedRequest => GetFeedResponse, get;
    list_feeds: ListFeedsRequest => ListFeedsResponse, list;
    update_feed: UpdateFeedRequest => UpdateFeedResponse, update;
    delete_feed: DeleteFeedRequest => DeleteFeedResponse, delete;
    fetch_now: FetchNowRequest => FetchNowResponse, fetch_now;
    list_loads: ListLoadsRequest => ListLoadsResponse, list_loads;
    confirm_load: ConfirmLoadRequest => ConfirmLoadResponse, confirm_load;
    list_mappings: ListMappingsRequest => ListMappingsResponse, list_mappings;
    set_mapping: SetMappingRequest => SetMappingResponse, set_mapping;
} {
    get_load: GetLoadRequest => GetLoadResponse, get_load, |_| "";
    list_problems: ListProblemsRequest => ListProblemsResponse, list_problems, |it| &it.language;
    summarize_problems: SummarizeProblemsRequest => SummarizeProblemsResponse, summarize_problems, |it| &it.language;
}}
