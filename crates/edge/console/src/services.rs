//! Calls to the services of Torg.

use access::Caller;
use async_trait::async_trait;
use axum::body::Body;
use axum::response::Response;
use buffa::Message;
use http::{Request, StatusCode, header};
use serde::Deserialize;

use crate::language::Language;
use crate::limits::ANSWER_BYTES_MAX;

/// The services behind the gate. A request carries its [`Caller`] and [`FromConsole`] as
/// extensions.
#[async_trait]
pub trait Services: Send + Sync {
    async fn send(&self, request: Request<Body>) -> Response;
}

/// Marks a request of the console, as an extension that clients cannot set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromConsole;

/// A request message that belongs to exactly one method of a service.
pub(crate) trait Call: Message {
    /// For example `torg.stages.v1.StageAdminService/ListStages`.
    const METHOD: &'static str;
    type Answer: Message;

    fn read_answer(bytes: &[u8]) -> Result<Self::Answer, Failure> {
        let broken =
            |error| Failure::new(Kind::Broken, format!("{} cannot be decoded: {error}", Self::METHOD));
        Self::Answer::decode_from_slice(bytes).map_err(broken)
    }
}

/// An error of a service, or no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    /// For people, from the service.
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Temporary; worth a retry.
    Unavailable,
    /// Started and still running; must not be repeated.
    InProgress,
    /// Does not exist, or not for this caller.
    NotFound,
    /// The roles do not allow it.
    Forbidden,
    /// The request is invalid in this state.
    Refused,
    /// An internal error.
    Broken,
}

impl Kind {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::InProgress => StatusCode::ACCEPTED,
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

/// The JSON form of an error.
#[derive(Deserialize)]
struct ErrorBody {
    code: String,
    #[serde(default)]
    message: String,
}

/// Calls a method in the name of a caller; returns the encoded answer.
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
    if status == StatusCode::OK { Ok(body) } else { Err(failure_of(status, &body)) }
}

/// Sends a request and reads the whole answer.
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

pub(crate) async fn forward(
    services: &dyn Services,
    caller: &Caller,
    mut request: Request<Body>,
) -> Response {
    request.extensions_mut().insert(caller.clone());
    request.extensions_mut().insert(FromConsole);
    services.send(request).await
}

/// The error in an answer.
pub(crate) fn failure_of(status: StatusCode, body: &[u8]) -> Failure {
    match serde_json::from_slice::<ErrorBody>(body) {
        Ok(ErrorBody { code, message }) => Failure::of_code(&code, message),
        Err(_) => Failure::new(Kind::Broken, format!("a service answered with {status}")),
    }
}

/// Declares the methods that pages call: a request `GetInfoRequest` belongs to the method
/// `GetInfo`.
macro_rules! calls {
    ($($package:ident :: $service:ident { $($request:ident => $answer:ident,)* })*) => {
        $($(
            impl Call for wire::torg::$package::v1::$request {
                const METHOD: &'static str = without_suffix(concat!(
                    "torg.", stringify!($package), ".v1.", stringify!($service), "/", stringify!($request)
                ));
                type Answer = wire::torg::$package::v1::$answer;
            }
        )*)*

        #[cfg(test)]
        const ALL: &[&str] = &[$($(<wire::torg::$package::v1::$request as Call>::METHOD,)*)*];
    };
}

const fn without_suffix(request: &str) -> &str {
    request.split_at(request.len() - "Request".len()).0
}

calls! {
    admin::AdminService {
        GetInfoRequest => GetInfoResponse,
    }
    admin::ObserveService {
        GetFiguresRequest => GetFiguresResponse, ListProblemsRequest => ListProblemsResponse,
        GetClusterRequest => GetClusterResponse, ListActionsRequest => ListActionsResponse,
    }
    topics::TopicService {
        ListTopicsRequest => ListTopicsResponse, ReadMessagesRequest => ReadMessagesResponse,
    }
    stages::StageAdminService {
        ListStagesRequest => ListStagesResponse, GetStageRequest => GetStageResponse,
        PauseStageRequest => PauseStageResponse, ResumeStageRequest => ResumeStageResponse,
        SetStageLimitsRequest => SetStageLimitsResponse, PromoteShadowRequest => PromoteShadowResponse,
        ReleaseStageRequest => ReleaseStageResponse, StartRecrawlRequest => StartRecrawlResponse,
        PauseRecrawlRequest => PauseRecrawlResponse, ResumeRecrawlRequest => ResumeRecrawlResponse,
        CancelRecrawlRequest => CancelRecrawlResponse, GetRecrawlRequest => GetRecrawlResponse,
    }
    offers::OfferService {
        GetOfferRequest => GetOfferResponse, GetHistoryRequest => GetHistoryResponse,
        ExplainOfferRequest => ExplainOfferResponse, MoveOfferRequest => MoveOfferResponse,
        GetBillingRequest => GetBillingResponse,
    }
    offers::ModerationService {
        GetModerationRequest => GetModerationResponse,
    }
    catalog::CatalogueService {
        GetCategoryRequest => GetCategoryResponse, FindCategoriesRequest => FindCategoriesResponse,
    }
    offers::CabinetService {
        ListOffersRequest => ListOffersResponse, GetCountsRequest => GetCountsResponse,
        GetCountersRequest => GetCountersResponse, RepairCountsRequest => RepairCountsResponse,
    }
    feeds::FeedService {
        CreateFeedRequest => CreateFeedResponse, GetFeedRequest => GetFeedResponse,
        ListFeedsRequest => ListFeedsResponse, UpdateFeedRequest => UpdateFeedResponse,
        DeleteFeedRequest => DeleteFeedResponse, FetchNowRequest => FetchNowResponse,
        ListLoadsRequest => ListLoadsResponse, GetLoadRequest => GetLoadResponse,
        ConfirmLoadRequest => ConfirmLoadResponse, ListProblemsRequest => ListProblemsResponse,
        SummarizeProblemsRequest => SummarizeProblemsResponse,
        ListMappingsRequest => ListMappingsResponse, SetMappingRequest => SetMappingResponse,
    }
    tasks::TaskService {
        ListTasksRequest => ListTasksResponse, ExplainTaskRequest => ExplainTaskResponse,
        GetQueueRequest => GetQueueResponse, ListEventsRequest => ListEventsResponse,
        ListRunsRequest => ListRunsResponse, ReadLogRequest => ReadLogResponse,
        RunTaskRequest => RunTaskResponse, PauseTaskRequest => PauseTaskResponse,
        ResumeTaskRequest => ResumeTaskResponse, CancelTaskRequest => CancelTaskResponse,
        KillRunRequest => KillRunResponse, SetRememberedRequest => SetRememberedResponse,
        DeleteRememberedRequest => DeleteRememberedResponse,
        StartBackfillRequest => StartBackfillResponse, ResumeBackfillRequest => ResumeBackfillResponse,
        CancelBackfillRequest => CancelBackfillResponse,
    }
    tasks::CtlService {
        ListValuesRequest => ListValuesResponse, GetValuesRequest => GetValuesResponse,
        SetValuesRequest => SetValuesResponse, ListHistoryRequest => ListHistoryResponse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_called_method_is_in_the_contract() {
        let text = String::from_utf8_lossy(wire::DESCRIPTORS);
        for name in ALL {
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
        let message = failure_of(StatusCode::NOT_FOUND, br#"{"code":"not_found","message":"no such stage"}"#);
        assert_eq!(message, Failure::new(Kind::NotFound, "no such stage"));
        let odd = failure_of(StatusCode::BAD_GATEWAY, b"<html>");
        assert_eq!((odd.kind, &*odd.text), (Kind::Broken, "a service answered with 502 Bad Gateway"));
    }
}
