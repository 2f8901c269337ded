//! The routes of the process.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ::runs::Runner;
use access::{Action, Caller, Clock, Code, Denial, Gate, GateLayer, Verdict};
use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Extension, Path, Request, State};
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use connectrpc::{ConnectError, ConnectRpcService, ErrorCode};
use console::{Console, Dependencies, Sealer, Services};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use photos::{NotServed, Photos};
use serde_json::json;
use tower::ServiceExt as _;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;

use super::ENDS_PATH;
use super::feeds::{self, FeedFiles};
use super::runs;
use crate::actions::limits::IN_CONSOLE_TIME_MAX;
use crate::figures::Metrics;
use crate::health::Readiness;
use crate::logging::panic_message;

/// Handlers that become available during the start. Cheap to clone.
#[derive(Clone, Default)]
pub struct Slots {
    /// The RPC services. Until they are set, calls are answered with "unavailable".
    pub rpc: Arc<OnceLock<ConnectRpcService>>,
    /// Never set if photos are not stored.
    pub photos: Arc<OnceLock<Photos>>,
    /// Never set without the role `api`.
    pub feeds: Arc<OnceLock<FeedFiles>>,
    /// Never set in a process without tasks.
    pub runs: Arc<OnceLock<Runner>>,
    /// Encrypts the cookies of the console. Never set without the role `console`.
    pub sealer: Arc<OnceLock<Sealer>>,
}

pub struct Front {
    pub gate: Gate,
    pub tls: bool,
    pub console: bool,
    /// The clock of offers.
    pub world: Clock,
    /// Routes of the environment, open to everyone.
    pub public: Option<Router>,
}

/// Paths that need no token and are not counted. Health probes and readers of photos have no token.
/// A callback at the end of a run carries the token of that run.
const OPEN: &[&str] = &[
    "/healthz",
    "/readyz",
    "/grpc.health.v1.Health/",
    "/photos/",
    "/tasks/runs/",
    // The console calls the gate itself: people present a cookie and are redirected to sign in.
    "/console",
    "/console/",
    feeds::SCHEMA_PATH,
    feeds::ERRORS_PATH,
];
/// Paths with bodies larger than those of calls.
const FILES: &[&str] = &["/feeds/"];
/// Paths that must work while the store is unavailable.
const LASTING: &[&str] = &["/metrics"];

#[derive(Clone)]
pub(super) struct Shared {
    readiness: Readiness,
    metrics: Metrics,
    pub(super) slots: Slots,
}

/// The routes of one process behind its gate. Plain routes are bounded by `request_timeout`, RPC
/// calls by their own deadline, and calls from the console by a longer one.
pub fn router(
    readiness: Readiness,
    metrics: Metrics,
    slots: Slots,
    request_timeout: Duration,
    Front { gate, tls, console, world, public }: Front,
) -> Router {
    let counting = metrics.clone();
    let answer = move |denial: &Denial, headers: &HeaderMap| {
        counting.denied(denial.code.name());
        refusal(denial, headers)
    };
    let behind = Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(show_metrics))
        .route("/photos/{*path}", get(show_photo))
        .route(feeds::SCHEMA_PATH, get(feeds::schema))
        .route(feeds::ERRORS_PATH, get(feeds::errors))
        .route(ENDS_PATH, post(runs::end))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, request_timeout))
        // Transfers of files have their own limits.
        .route("/feeds/{seller}/{namespace}/upload", post(feeds::upload))
        .route("/feeds/{seller}/{namespace}/loads/{number}/{file}", get(feeds::report))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(rpc_or_nothing)
        .with_state(Shared { readiness, metrics, slots: slots.clone() });
    let all = if console {
        let services = Arc::new(Behind(behind.clone()));
        let (gate, sealer, clock) = (gate.clone(), slots.sealer, Clock::system());
        let parts = Dependencies { gate, services, sealer, clock, world, tls };
        behind.merge(Console::new(parts).routes()).route("/", get(async || Redirect::to("/console/")))
    } else {
        behind
    };
    let all = all.layer(GateLayer::new(gate, answer).open(OPEN).files(FILES).without_store(LASTING));
    let all = public.into_iter().fold(all, Router::merge);
    all.layer(CatchPanicLayer::custom(|panic: Box<dyn std::any::Any + Send>| {
        tracing::error!("a request ended in a panic: {}", panic_message(&*panic));
        failure(StatusCode::INTERNAL_SERVER_ERROR, "internal", "internal error")
    }))
}

/// The routes without the gate, for the console, which authenticates its callers itself.
struct Behind(Router);

#[async_trait]
impl Services for Behind {
    async fn send(&self, request: Request) -> Response {
        // The error type is uninhabited.
        let Ok(answer) = self.0.clone().oneshot(request).await;
        answer
    }
}

/// Answers as long as the event loop runs.
async fn healthz() -> Response {
    json_answer(StatusCode::OK, &json!({"alive": true}))
}

async fn readyz(State(shared): State<Shared>) -> Response {
    let problems = shared.readiness.problems().await;
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    json_answer(status, &json!({"ready": problems.is_empty(), "problems": problems}))
}

async fn show_metrics(State(shared): State<Shared>, Extension(caller): Extension<Caller>) -> Response {
    match caller.judge(Action::SeeProcess) {
        Verdict::Allowed => {}
        Verdict::SignIn => {
            return failure(StatusCode::UNAUTHORIZED, "unauthenticated", "this needs a bearer token");
        }
        Verdict::Forbidden | Verdict::Missing => {
            let why = "the roles of this caller do not suffice";
            return failure(StatusCode::FORBIDDEN, "permission_denied", why);
        }
    }
    match shared.metrics.encode() {
        Ok(text) => {
            let mut answer = Response::new(Body::from(text));
            answer
                .headers_mut()
                .insert(header::CONTENT_TYPE, HeaderValue::from_static(Metrics::CONTENT_TYPE));
            answer
        }
        Err(error) => failure(StatusCode::INTERNAL_SERVER_ERROR, "internal", &error.to_string()),
    }
}

/// A file of a photo. Files are immutable.
async fn show_photo(
    State(shared): State<Shared>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let missing = || failure(StatusCode::NOT_FOUND, "not_found", "there is no such photo");
    // A path that is not UTF-8 names nothing.
    let (Some(photos), Ok(Path(path))) = (shared.slots.photos.get(), path) else { return missing() };
    let known = headers.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok());
    let served = match photos.serve(&path, known).await {
        Ok(served) => served,
        Err(NotServed::NotFound) => return missing(),
        Err(NotServed::Unavailable(error)) => {
            tracing::error!(%error, path, "a photo cannot be read");
            return failure(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "photos cannot be read now");
        }
    };
    let status = if served.bytes.is_some() { StatusCode::OK } else { StatusCode::NOT_MODIFIED };
    let mut answer = Response::new(served.bytes.map_or_else(Body::empty, Body::from));
    *answer.status_mut() = status;
    for (name, value) in served.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            answer.headers_mut().insert(name, value);
        }
    }
    answer
}

async fn method_not_allowed(request: Request) -> Response {
    let what = format!("{} takes no {}", request.uri().path(), request.method());
    failure(StatusCode::METHOD_NOT_ALLOWED, "unimplemented", &what)
}

async fn rpc_or_nothing(State(shared): State<Shared>, request: Request) -> Response {
    let method = request.uri().path().trim_start_matches('/');
    match shared.slots.rpc.get() {
        Some(rpc) if rpc.dispatcher().has_method(method) || speaks_rpc(&request) => {
            let in_console = request.extensions().get::<console::FromConsole>().is_some();
            let rpc = if in_console { patient(rpc.clone()) } else { rpc.clone() };
            // The error type is uninhabited.
            let Ok(answer) = rpc.oneshot(request).await;
            answer.map(Body::new)
        }
        None if speaks_rpc(&request) => {
            ConnectError::unavailable("still starting").into_http_response(request.headers()).map(Body::new)
        }
        _ => failure(StatusCode::NOT_FOUND, "not_found", &format!("no such path: {}", request.uri().path())),
    }
}

/// Extends the deadline for calls from the console. The console stops waiting earlier, and the call
/// goes on.
fn patient(rpc: ConnectRpcService) -> ConnectRpcService {
    let usual = rpc.deadline_policy().clone();
    let longest = usual.max().map_or(IN_CONSOLE_TIME_MAX, |usual| usual.max(IN_CONSOLE_TIME_MAX));
    rpc.with_deadline_policy(usual.with_max(longest).with_default_timeout(longest))
}

/// Encodes a denial of the gate in the protocol of the request.
fn refusal(denial: &Denial, headers: &HeaderMap) -> Response {
    let code = match denial.code {
        Code::Unauthenticated => ErrorCode::Unauthenticated,
        Code::PermissionDenied => ErrorCode::PermissionDenied,
        Code::ResourceExhausted | Code::TooLarge => ErrorCode::ResourceExhausted,
        Code::Unavailable => ErrorCode::Unavailable,
    };
    let mut answer = ConnectError::new(code, denial.message).into_http_response(headers).map(Body::new);
    // gRPC has its code in its own headers and always the status 200.
    if answer.status() != StatusCode::OK {
        *answer.status_mut() = denial.code.status();
    }
    answer
}

/// True if the client expects a response in an RPC protocol, also for an unknown method.
fn speaks_rpc(request: &Request) -> bool {
    let kind =
        request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let rpc = ["application/grpc", "application/connect", "application/proto", "application/json"];
    request.method() == Method::POST && rpc.iter().any(|start| kind.starts_with(start))
}

/// An error in the JSON form of RPC errors.
pub(super) fn failure(status: StatusCode, code: &str, message: &str) -> Response {
    json_answer(status, &json!({"code": code, "message": message}))
}

pub(super) fn json_answer(status: StatusCode, value: &serde_json::Value) -> Response {
    let mut answer = Response::new(Body::from(format!("{value}\n")));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

#[cfg(test)]
mod tests {
    use connectrpc::{DeadlinePolicy, handler_fn};
    use wire::torg::admin::v1::{GetInfoRequest, GetInfoResponse};

    use super::*;

    fn routes(readiness: Readiness, request_timeout: Duration, slots: Slots) -> Router {
        let fetch = Arc::new(access::HttpsFetch::default());
        let gate = Gate::new(&access::Config::default(), fetch, access::Clock::system()).unwrap();
        let front = Front { gate, tls: false, console: true, world: Clock::system(), public: None };
        router(readiness, Metrics::new(), slots, request_timeout, front)
    }

    async fn ask(router: &Router, request: Request) -> (StatusCode, String) {
        let Ok(answer) = router.clone().oneshot(request).await;
        let status = answer.status();
        let body = axum::body::to_bytes(answer.into_body(), 10_000).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    fn get_request(path: &str) -> Request {
        Request::builder().uri(path).body(Body::empty()).unwrap()
    }

    #[tokio::test]
    async fn before_the_start_is_over_calls_are_unavailable_and_the_process_is_alive_but_not_ready() {
        let router = routes(Readiness::new(), Duration::from_secs(5), Slots::default());
        assert_eq!(ask(&router, get_request("/healthz")).await.0, StatusCode::OK);
        let (status, body) = ask(&router, get_request("/readyz")).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(
            body,
            "{\"ready\":false,\"problems\":[{\"check\":\"start\",\"why\":\"still starting\"}]}\n"
        );
        let call = Request::builder().method(Method::POST).uri("/torg.admin.v1.AdminService/GetInfo");
        let json = call.header(header::CONTENT_TYPE, "application/json").body(Body::from("{}")).unwrap();
        let (status, body) = ask(&router, json).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(body, "{\"code\":\"unavailable\",\"message\":\"still starting\"}");
    }

    #[tokio::test]
    async fn a_panic_behind_a_plain_route_is_an_answer() {
        let readiness = Readiness::new();
        readiness.register("broken", async || panic!("boom"));
        readiness.started();
        let router = routes(readiness, Duration::from_secs(5), Slots::default());
        let (status, body) = ask(&router, get_request("/readyz")).await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(body, "{\"code\":\"internal\",\"message\":\"internal error\"}\n");
        assert_eq!(ask(&router, get_request("/healthz")).await.0, StatusCode::OK);
    }

    #[tokio::test(start_paused = true)]
    async fn what_somebody_does_in_the_console_goes_on_longer_than_a_call_and_not_for_ever() {
        let slow = |time: Duration| {
            handler_fn(move |_, _: GetInfoRequest| async move {
                tokio::time::sleep(time).await;
                connectrpc::Response::ok(GetInfoResponse::default())
            })
        };
        let services = connectrpc::Router::new().route("t.T", "Slow", slow(IN_CONSOLE_TIME_MAX / 2)).route(
            "t.T",
            "Endless",
            slow(IN_CONSOLE_TIME_MAX * 2),
        );
        let longest = Duration::from_secs(30);
        let policy = DeadlinePolicy::new().with_max(longest).with_default_timeout(longest);
        let rpc = ConnectRpcService::new(services).with_deadline_policy(policy);
        let slots = Slots::default();
        assert!(slots.rpc.set(rpc).is_ok());
        let router = routes(Readiness::new(), longest, slots);
        let call = |method: &str| {
            let call = Request::builder().method(Method::POST).uri(format!("/t.T/{method}"));
            call.header(header::CONTENT_TYPE, "application/json").body(Body::from("{}")).unwrap()
        };
        let in_console = |method: &str| {
            let mut call = call(method);
            call.extensions_mut().insert(console::FromConsole);
            call
        };
        assert_eq!(ask(&router, call("Slow")).await.0, StatusCode::GATEWAY_TIMEOUT);
        assert_eq!(ask(&router, in_console("Slow")).await.0, StatusCode::OK);
        assert_eq!(ask(&router, in_console("Endless")).await.0, StatusCode::GATEWAY_TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_plain_route_that_takes_too_long_is_cut() {
        let readiness = Readiness::new();
        readiness.register("slow", std::future::pending);
        readiness.started();
        let router = routes(readiness, Duration::from_secs(1), Slots::default());
        assert_eq!(ask(&router, get_request("/readyz")).await.0, StatusCode::SERVICE_UNAVAILABLE);
    }
}
