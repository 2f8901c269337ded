//! The services of Torg, as the console calls them.

use std::marker::PhantomData;

use access::Caller;
use async_trait::async_trait;
use axum::body::Body;
use axum::response::Response;
use buffa::Message;
use http::{Request, StatusCode, header};
use serde::Deserialize;

use crate::language::Language;
use crate::limits::ANSWER_BYTES_MAX;

/// Everything that Torg serves behind its gate. A request carries its [`Caller`] and [`Through`] among its extensions.
#[async_trait]
pub trait Services: Send + Sync {
    /// Answers one request.
    async fn send(&self, request: Request<Body>) -> Response;
}

/// Marks a request as made by the console: among the extensions, where nobody outside can put it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Through;

/// A method of a service, with the messages that it takes and gives.
pub(crate) struct Method<Q, A> {
    /// `torg.stages.v1.StageAdminService/ListStages`.
    pub(crate) name: &'static str,
    messages: PhantomData<fn(Q) -> A>,
}

impl<Q, A> Clone for Method<Q, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q, A> Copy for Method<Q, A> {}

impl<Q, A> Method<Q, A> {
    /// The method of this name. That there is one is tested of all those in [`methods`].
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, messages: PhantomData }
    }
}

impl<Q, A: Message> Method<Q, A> {
    /// Reads an answer.
    pub(crate) fn read(self, answer: &[u8]) -> Result<A, Failure> {
        A::decode_from_slice(answer)
            .map_err(|error| Failure::new(Kind::Broken, format!("{} cannot be read: {error}", self.name)))
    }
}

/// What a service said instead of an answer, or that it said nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    /// For people, in the words of the service.
    pub(crate) text: String,
}

/// What a failure means for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Something is away; it is worth asking again.
    Unavailable,
    /// It was begun and goes on; it is not to be asked for again.
    GoesOn,
    /// There is no such thing, or not for this person.
    NotFound,
    /// Their roles do not suffice.
    Forbidden,
    /// The request cannot be granted as it is.
    Refused,
    /// A mistake of ours.
    Broken,
}

impl Kind {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::GoesOn => StatusCode::ACCEPTED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::Refused => StatusCode::BAD_REQUEST,
            Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl Failure {
    pub(crate) fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    fn of_code(code: &str, text: String) -> Self {
        let kind = match code {
            "unavailable" | "deadline_exceeded" | "resource_exhausted" | "aborted" | "canceled" => {
                Kind::Unavailable
            }
            "not_found" | "unimplemented" => Kind::NotFound,
            "permission_denied" | "unauthenticated" => Kind::Forbidden,
            "invalid_argument" | "failed_precondition" | "already_exists" | "out_of_range" => Kind::Refused,
            _ => Kind::Broken,
        };
        Self { kind, text }
    }
}

/// An error as services write it in JSON.
#[derive(Deserialize)]
struct Said {
    code: String,
    #[serde(default)]
    message: String,
}

/// Calls the method of this name in the name of a caller, who reads this language: the answer as it came.
pub(crate) async fn call(
    services: &dyn Services,
    caller: &Caller,
    language: Language,
    method: &str,
    question: Vec<u8>,
) -> Result<bytes::Bytes, Failure> {
    let request = Request::post(format!("/{method}"))
        .header(header::CONTENT_TYPE, "application/proto")
        .header(header::ACCEPT_LANGUAGE, language.code())
        .body(Body::from(question))
        .map_err(|error| Failure::new(Kind::Broken, error.to_string()))?;
    let (status, body) = send(services, caller, request).await?;
    if status == StatusCode::OK { Ok(body) } else { Err(said(status, &body)) }
}

/// Sends a request in the name of a caller and reads its answer whole.
pub(crate) async fn send(
    services: &dyn Services,
    caller: &Caller,
    request: Request<Body>,
) -> Result<(StatusCode, bytes::Bytes), Failure> {
    let answer = forward(services, caller, request).await;
    let status = answer.status();
    let body = axum::body::to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await;
    let body = body.map_err(|error| Failure::new(Kind::Broken, format!("an answer broke off: {error}")))?;
    Ok((status, body))
}

/// Sends a request in the name of a caller.
pub(crate) async fn forward(
    services: &dyn Services,
    caller: &Caller,
    mut request: Request<Body>,
) -> Response {
    request.extensions_mut().insert(caller.clone());
    request.extensions_mut().insert(Through);
    services.send(request).await
}

/// What was said in an answer that is not the one that was asked for.
pub(crate) fn said(status: StatusCode, body: &[u8]) -> Failure {
    match serde_json::from_slice::<Said>(body) {
        Ok(Said { code, message }) => Failure::of_code(&code, message),
        Err(_) => Failure::new(Kind::Broken, format!("a service answered with {status}")),
    }
}

/// Declares typed methods, and the list of all their names.
macro_rules! methods {
    ($($package:ident :: $service:ident { $($name:ident = $method:literal: $question:ident => $answer:ident;)* })*) => {
        /// The methods that pages call.
        pub(crate) mod methods {
            use super::Method;
            $($(
                pub(crate) const $name: Method<
                    wire::torg::$package::v1::$question,
                    wire::torg::$package::v1::$answer,
                > = Method::new(concat!("torg.", stringify!($package), ".v1.", stringify!($service), "/", $method));
            )*)*

            /// All of them.
            #[cfg(test)]
            pub(crate) const ALL: &[&str] = &[$($($name.name,)*)*];
        }
    };
}

methods! {
    admin::AdminService {
        GET_INFO = "GetInfo": GetInfoRequest => GetInfoResponse;
    }
    admin::ObserveService {
        GET_FIGURES = "GetFigures": GetFiguresRequest => GetFiguresResponse;
        LIST_WRONGS = "ListProblems": ListProblemsRequest => ListProblemsResponse;
        GET_CLUSTER = "GetCluster": GetClusterRequest => GetClusterResponse;
        LIST_ACTIONS = "ListActions": ListActionsRequest => ListActionsResponse;
    }
    topics::TopicService {
        LIST_TOPICS = "ListTopics": ListTopicsRequest => ListTopicsResponse;
        READ_MESSAGES = "ReadMessages": ReadMessagesRequest => ReadMessagesResponse;
    }
    stages::StageAdminService {
        LIST_STAGES = "ListStages": ListStagesRequest => ListStagesResponse;
        GET_STAGE = "GetStage": GetStageRequest => GetStageResponse;
        PAUSE_STAGE = "PauseStage": PauseStageRequest => PauseStageResponse;
        RESUME_STAGE = "ResumeStage": ResumeStageRequest => ResumeStageResponse;
        SET_STAGE_LIMITS = "SetStageLimits": SetStageLimitsRequest => SetStageLimitsResponse;
        PROMOTE_SHADOW = "PromoteShadow": PromoteShadowRequest => PromoteShadowResponse;
        RELEASE_STAGE = "ReleaseStage": ReleaseStageRequest => ReleaseStageResponse;
        START_RECRAWL = "StartRecrawl": StartRecrawlRequest => StartRecrawlResponse;
        PAUSE_RECRAWL = "PauseRecrawl": PauseRecrawlRequest => PauseRecrawlResponse;
        RESUME_RECRAWL = "ResumeRecrawl": ResumeRecrawlRequest => ResumeRecrawlResponse;
        CANCEL_RECRAWL = "CancelRecrawl": CancelRecrawlRequest => CancelRecrawlResponse;
        GET_RECRAWL = "GetRecrawl": GetRecrawlRequest => GetRecrawlResponse;
    }
    offers::OfferService {
        GET_OFFER = "GetOffer": GetOfferRequest => GetOfferResponse;
        GET_HISTORY = "GetHistory": GetHistoryRequest => GetHistoryResponse;
        EXPLAIN_OFFER = "ExplainOffer": ExplainOfferRequest => ExplainOfferResponse;
        MOVE_OFFER = "MoveOffer": MoveOfferRequest => MoveOfferResponse;
        GET_BILLING = "GetBilling": GetBillingRequest => GetBillingResponse;
    }
    offers::ModerationService {
        GET_MODERATION = "GetModeration": GetModerationRequest => GetModerationResponse;
    }
    catalog::CatalogueService {
        GET_CATEGORY = "GetCategory": GetCategoryRequest => GetCategoryResponse;
    }
    offers::CabinetService {
        LIST_OFFERS = "ListOffers": ListOffersRequest => ListOffersResponse;
        GET_COUNTS = "GetCounts": GetCountsRequest => GetCountsResponse;
        GET_COUNTERS = "GetCounters": GetCountersRequest => GetCountersResponse;
        REPAIR_COUNTS = "RepairCounts": RepairCountsRequest => RepairCountsResponse;
    }
    catalog::CatalogueService {
        FIND_CATEGORIES = "FindCategories": FindCategoriesRequest => FindCategoriesResponse;
    }
    feeds::FeedService {
        CREATE_FEED = "CreateFeed": CreateFeedRequest => CreateFeedResponse;
        GET_FEED = "GetFeed": GetFeedRequest => GetFeedResponse;
        LIST_FEEDS = "ListFeeds": ListFeedsRequest => ListFeedsResponse;
        UPDATE_FEED = "UpdateFeed": UpdateFeedRequest => UpdateFeedResponse;
        DELETE_FEED = "DeleteFeed": DeleteFeedRequest => DeleteFeedResponse;
        FETCH_NOW = "FetchNow": FetchNowRequest => FetchNowResponse;
        LIST_LOADS = "ListLoads": ListLoadsRequest => ListLoadsResponse;
        GET_LOAD = "GetLoad": GetLoadRequest => GetLoadResponse;
        CONFIRM_LOAD = "ConfirmLoad": ConfirmLoadRequest => ConfirmLoadResponse;
        LIST_FEED_PROBLEMS = "ListProblems": ListProblemsRequest => ListProblemsResponse;
        SUMMARIZE_PROBLEMS = "SummarizeProblems": SummarizeProblemsRequest => SummarizeProblemsResponse;
        LIST_MAPPINGS = "ListMappings": ListMappingsRequest => ListMappingsResponse;
        SET_MAPPING = "SetMapping": SetMappingRequest => SetMappingResponse;
    }
    tasks::TaskService {
        LIST_TASKS = "ListTasks": ListTasksRequest => ListTasksResponse;
        EXPLAIN_TASK = "ExplainTask": ExplainTaskRequest => ExplainTaskResponse;
        GET_QUEUE = "GetQueue": GetQueueRequest => GetQueueResponse;
        LIST_TASK_EVENTS = "ListEvents": ListEventsRequest => ListEventsResponse;
        LIST_RUNS = "ListRuns": ListRunsRequest => ListRunsResponse;
        READ_LOG = "ReadLog": ReadLogRequest => ReadLogResponse;
        RUN_TASK = "RunTask": RunTaskRequest => RunTaskResponse;
        PAUSE_TASK = "PauseTask": PauseTaskRequest => PauseTaskResponse;
        RESUME_TASK = "ResumeTask": ResumeTaskRequest => ResumeTaskResponse;
        CANCEL_TASK = "CancelTask": CancelTaskRequest => CancelTaskResponse;
        KILL_RUN = "KillRun": KillRunRequest => KillRunResponse;
        SET_REMEMBERED = "SetRemembered": SetRememberedRequest => SetRememberedResponse;
        DELETE_REMEMBERED = "DeleteRemembered": DeleteRememberedRequest => DeleteRememberedResponse;
        START_BACKFILL = "StartBackfill": StartBackfillRequest => StartBackfillResponse;
        RESUME_BACKFILL = "ResumeBackfill": ResumeBackfillRequest => ResumeBackfillResponse;
        CANCEL_BACKFILL = "CancelBackfill": CancelBackfillRequest => CancelBackfillResponse;
    }
    tasks::CtlService {
        LIST_VALUES = "ListValues": ListValuesRequest => ListValuesResponse;
        GET_VALUES = "GetValues": GetValuesRequest => GetValuesResponse;
        SET_VALUES = "SetValues": SetValuesRequest => SetValuesResponse;
        LIST_VALUE_HISTORY = "ListHistory": ListHistoryRequest => ListHistoryResponse;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_that_a_page_calls_is_in_the_contract() {
        let text = String::from_utf8_lossy(wire::DESCRIPTORS);
        for name in methods::ALL {
            let (service, method) = name.split_once('/').unwrap();
            let (package, service) = service.rsplit_once('.').unwrap();
            for part in [package, service, method] {
                assert!(text.contains(part), "{name}: there is no {part}");
            }
        }
        assert!(!text.contains("NoSuchMethod"));
    }

    #[test]
    fn what_a_service_says_decides_what_a_page_says() {
        let told = said(StatusCode::NOT_FOUND, br#"{"code":"not_found","message":"no such stage"}"#);
        assert_eq!(told, Failure::new(Kind::NotFound, "no such stage"));
        let odd = said(StatusCode::BAD_GATEWAY, b"<html>");
        assert_eq!((odd.kind, &*odd.text), (Kind::Broken, "a service answered with 502 Bad Gateway"));
    }
}
