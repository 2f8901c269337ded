//! An interceptor around every call: limits concurrency, turns panics into errors, shortens errors,
//! and counts outcomes.
//!
//! A response stream that the client cancels counts as successful. Its duration is the client's
//! choice and is not measured.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use access::Peer;
use api::limits::REFUSAL_TEXT_BYTES_MAX;
use connectrpc::interceptor::{StreamRequest, StreamResponse, UnaryRequest, UnaryResponse};
use connectrpc::{ConnectError, Interceptor, Next, NextStream, PayloadStream, RequestContext};
use futures::{FutureExt as _, StreamExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::watches::{Watches, Watching};
use crate::figures::Metrics;
use crate::logging::panic_message;

/// Services that also answer when the process is at its limit, so that the overload can be
/// observed. Health streams have their own limits.
const ALWAYS_SERVED: &[&str] = &["grpc.health.v1.Health/", "grpc.reflection."];

const HEALTH_WATCH: &str = "grpc.health.v1.Health/Watch";

pub(super) struct Guard {
    slots: Arc<Semaphore>,
    watches: Watches,
    concurrent_max: usize,
    metrics: Metrics,
}

impl Guard {
    pub(super) fn new(concurrent_max: usize, metrics: Metrics) -> Guard {
        Guard {
            slots: Arc::new(Semaphore::new(concurrent_max)),
            watches: Watches::default(),
            concurrent_max,
            metrics,
        }
    }

    fn begin(&self, context: &RequestContext) -> Result<Running, ConnectError> {
        let method = context.path().unwrap_or_default().trim_start_matches('/').to_owned();
        self.metrics.call_began();
        let mut running = Running {
            metrics: self.metrics.clone(),
            slot: None,
            watch: None,
            began: Instant::now(),
            deadline: context.deadline(),
            is_stream: false,
            code: DROPPED,
            method,
        };
        if running.method == HEALTH_WATCH {
            let address = context.extensions().get::<Peer>().map(|peer| peer.0.ip());
            match self.watches.begin(address) {
                Ok(watch) => running.watch = Some(watch),
                Err(why) => return Err(running.failed(ConnectError::resource_exhausted(why))),
            }
        }
        if ALWAYS_SERVED.iter().any(|start| running.method.starts_with(start)) {
            return Ok(running);
        }
        running.slot = Arc::clone(&self.slots).try_acquire_owned().ok();
        if running.slot.is_none() {
            let why = format!("{} calls run already, try again later", self.concurrent_max);
            return Err(running.failed(ConnectError::resource_exhausted(why)));
        }
        Ok(running)
    }
}

#[connectrpc::async_trait]
impl Interceptor for Guard {
    async fn intercept_unary(
        &self,
        request: UnaryRequest,
        next: Next<'_>,
    ) -> Result<UnaryResponse, ConnectError> {
        let mut running = self.begin(&request.ctx)?;
        let answer = AssertUnwindSafe(next.run(request))
            .catch_unwind()
            .await
            .unwrap_or_else(|panic| Err(running.panicked(&*panic)));
        match answer {
            Ok(answer) => {
                running.code = "ok";
                Ok(answer)
            }
            Err(error) => Err(running.failed(error)),
        }
    }

    async fn intercept_streaming(
        &self,
        request: StreamRequest,
        inbound: PayloadStream,
        next: NextStream<'_>,
    ) -> Result<StreamResponse, ConnectError> {
        let mut running = self.begin(&request.ctx)?;
        let answer = AssertUnwindSafe(next.run(request, inbound))
            .catch_unwind()
            .await
            .unwrap_or_else(|panic| Err(running.panicked(&*panic)));
        match answer {
            Ok(answer) => {
                (running.is_stream, running.code) = (true, "ok");
                Ok(answer.map_body(|body| running.accompany(body)))
            }
            Err(error) => Err(running.failed(error)),
        }
    }
}

/// A running call, counted when it is dropped.
struct Running {
    metrics: Metrics,
    slot: Option<OwnedSemaphorePermit>,
    watch: Option<Watching>,
    began: Instant,
    /// The deadline, until the call answers.
    deadline: Option<Instant>,
    is_stream: bool,
    code: &'static str,
    method: String,
}

/// The outcome of a call that was dropped by its client or its deadline.
const DROPPED: &str = "canceled";

impl Running {
    /// Shortens the error text to fit into gRPC headers: a text that quotes the request may be as
    /// long as the request.
    fn failed(&mut self, mut error: ConnectError) -> ConnectError {
        error.message = error.message.map(|text| text::shortened_bytes(text, REFUSAL_TEXT_BYTES_MAX));
        self.code = error.code.as_str();
        tracing::debug!(method = self.method, code = self.code, error = error.message, "call failed");
        error
    }

    /// The client only learns that it is an internal error; the panic itself is in the log.
    fn panicked(&self, panic: &(dyn std::any::Any + Send)) -> ConnectError {
        tracing::error!(method = self.method, "a call ended in a panic: {}", panic_message(panic));
        ConnectError::internal("internal error")
    }

    /// Wraps a response stream until its end.
    fn accompany(mut self, body: PayloadStream) -> PayloadStream {
        let mut body = Some(AssertUnwindSafe(body).catch_unwind());
        Box::pin(futures::stream::poll_fn(move |context| {
            let Some(stream) = body.as_mut() else { return std::task::Poll::Ready(None) };
            let item = std::task::ready!(stream.poll_next_unpin(context));
            let item = match item {
                Some(Ok(Ok(payload))) => return std::task::Poll::Ready(Some(Ok(payload))),
                Some(Ok(Err(error))) => Some(Err(self.failed(error))),
                Some(Err(panic)) => {
                    let error = self.panicked(&*panic);
                    Some(Err(self.failed(error)))
                }
                None => None,
            };
            // A stream must not be polled after its end or an error.
            body = None;
            std::task::Poll::Ready(item)
        }))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop((self.slot.take(), self.watch.take()));
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let code = if self.code == DROPPED && is_late { "deadline_exceeded" } else { self.code };
        let took = (!self.is_stream).then(|| self.began.elapsed());
        self.metrics.call_ended(&self.method, code, took);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::Body;
    use connectrpc::{ConnectRpcService, DeadlinePolicy, Response, Router, handler_fn, streaming_handler_fn};
    use http::{Request, StatusCode};
    use tokio::sync::Notify;
    use tower::ServiceExt as _;

    use super::*;
    use wire::torg::admin::v1::{GetInfoRequest, GetInfoResponse};

    /// A service with calls that panic, wait, panic in the middle of a stream, or stream for ever.
    fn service(concurrent_max: usize, metrics: &Metrics, go: &Arc<Notify>) -> ConnectRpcService {
        let go = Arc::clone(go);
        let router = Router::new()
            .route("t.T", "Panic", handler_fn(|_, _: GetInfoRequest| async { explode() }))
            .route(
                "t.T",
                "Quote",
                handler_fn(|_, _: GetInfoRequest| async {
                    Err::<Response<GetInfoResponse>, _>(ConnectError::invalid_argument("x".repeat(100_000)))
                }),
            )
            .route(
                "t.T",
                "Wait",
                handler_fn(move |_, _: GetInfoRequest| {
                    let go = Arc::clone(&go);
                    async move {
                        go.notified().await;
                        Response::ok(GetInfoResponse::default())
                    }
                }),
            )
            .route_server_stream(
                "t.T",
                "Stream",
                streaming_handler_fn(|_, _: GetInfoRequest| async {
                    Response::stream_ok(futures::stream::iter(0..).map(|number| {
                        if number > 0 {
                            explode().map(|answer| answer.body)
                        } else {
                            Ok(GetInfoResponse::default())
                        }
                    }))
                }),
            );
        let router = router.route_server_stream(
            "t.T",
            "Watch",
            streaming_handler_fn(|_, _: GetInfoRequest| async {
                let first = futures::stream::iter([Ok(GetInfoResponse::default())]);
                Response::stream_ok(first.chain(futures::stream::pending()))
            }),
        );
        ConnectRpcService::new(router).with_interceptor(Guard::new(concurrent_max, metrics.clone()))
    }

    fn explode() -> connectrpc::ServiceResult<GetInfoResponse> {
        panic!("boom")
    }

    async fn call(
        service: &ConnectRpcService,
        method: &str,
        kind: &str,
        body: &'static [u8],
    ) -> (StatusCode, String) {
        let request = Request::post(format!("/t.T/{method}"))
            .header("content-type", kind)
            .body(Body::from(body))
            .unwrap();
        let Ok(answer) = service.clone().oneshot(request).await;
        let status = answer.status();
        let body = axum::body::to_bytes(Body::new(answer.into_body()), 10_000).await.unwrap();
        (status, String::from_utf8_lossy(&body).into_owned())
    }

    #[tokio::test]
    async fn a_panic_is_an_internal_error_that_tells_nothing_and_is_counted() {
        let metrics = Metrics::new();
        let service = service(8, &metrics, &Arc::default());
        let (status, body) = call(&service, "Panic", "application/json", b"{}").await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(body, "{\"code\":\"internal\",\"message\":\"internal error\"}");
        let text = metrics.encode().unwrap();
        assert!(text.contains("torg_rpc_calls_total{method=\"t.T/Panic\",code=\"internal\"} 1"), "{text}");
        assert!(text.contains("\ntorg_rpc_running 0"), "{text}");
    }

    #[tokio::test]
    async fn a_panic_in_a_stream_ends_it_with_an_internal_error() {
        let metrics = Metrics::new();
        let service = service(8, &metrics, &Arc::default());
        let (status, body) = call(&service, "Stream", "application/connect+json", b"\0\0\0\0\x02{}").await;
        assert_eq!(status, StatusCode::OK);
        assert!(body.contains("{\"code\":\"internal\",\"message\":\"internal error\"}"), "{body:?}");
        let text = metrics.encode().unwrap();
        assert!(text.contains("torg_rpc_calls_total{method=\"t.T/Stream\",code=\"internal\"} 1"), "{text}");
    }

    #[tokio::test]
    async fn a_stream_that_its_client_closes_has_ended_well_and_its_length_is_not_told() {
        let metrics = Metrics::new();
        let service = service(8, &metrics, &Arc::default());
        let request = Request::post("/t.T/Watch").header("content-type", "application/connect+json");
        let request = request.body(Body::from(&b"\0\0\0\0\x02{}"[..])).unwrap();
        let Ok(answer) = service.oneshot(request).await;
        let mut body = Body::new(answer.into_body()).into_data_stream();
        assert!(body.next().await.unwrap().is_ok());
        drop(body);
        let text = metrics.encode().unwrap();
        assert!(text.contains("torg_rpc_calls_total{method=\"t.T/Watch\",code=\"ok\"} 1"), "{text}");
        assert!(!text.contains("torg_rpc_duration_seconds_count{method=\"t.T/Watch\"}"), "{text}");
        let window = metrics.calls().take().remove("t.T").unwrap();
        assert_eq!(window.count(), 1);
        assert!(window.quantile(1.0).is_nan());
    }

    #[tokio::test]
    async fn a_call_that_its_deadline_drops_is_told_from_one_that_its_client_drops() {
        let metrics = Metrics::new();
        let service = service(8, &metrics, &Arc::default());
        let short = DeadlinePolicy::new().with_default_timeout(Duration::from_millis(1));
        let hasty = service.clone().with_deadline_policy(short);
        assert_eq!(call(&hasty, "Wait", "application/json", b"{}").await.0, StatusCode::GATEWAY_TIMEOUT);
        let waits = call(&service, "Wait", "application/json", b"{}");
        assert!(waits.now_or_never().is_none());
        let text = metrics.encode().unwrap();
        for code in ["deadline_exceeded", "canceled"] {
            let line = format!("torg_rpc_calls_total{{method=\"t.T/Wait\",code=\"{code}\"}} 1");
            assert!(text.contains(&line), "{line} is not in\n{text}");
        }
    }

    #[tokio::test]
    async fn an_error_that_quotes_the_request_is_cut() {
        let service = service(8, &Metrics::new(), &Arc::default());
        let (status, body) = call(&service, "Quote", "application/json", b"{}").await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert!(body.contains("xx…") && body.len() < 2 * REFUSAL_TEXT_BYTES_MAX, "{body}");
    }

    #[tokio::test]
    async fn calls_above_the_limit_are_refused_until_one_ends() {
        let go = Arc::new(Notify::new());
        let service = service(1, &Metrics::new(), &go);
        let first = tokio::spawn({
            let service = service.clone();
            async move { call(&service, "Wait", "application/json", b"{}").await }
        });
        let refused = loop {
            let answer = call(&service, "Panic", "application/json", b"{}").await;
            if answer.0 == StatusCode::TOO_MANY_REQUESTS {
                break answer.1;
            }
            tokio::task::yield_now().await;
        };
        assert!(refused.contains("1 calls run already"), "{refused}");
        go.notify_one();
        assert_eq!(first.await.unwrap().0, StatusCode::OK);
        assert_eq!(
            call(&service, "Panic", "application/json", b"{}").await.0,
            StatusCode::INTERNAL_SERVER_ERROR
        );
    }
}
