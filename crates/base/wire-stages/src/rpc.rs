//! What the generated code of services stands on: registration with a router, and a client.

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod raw;

use std::sync::Arc;

use buffa::Message;
use connectrpc::{
    IdempotencyLevel, RequestContext, Router, ServiceResult, ServiceStream, Spec, handler_fn,
    streaming_handler_fn,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "client")]
pub use self::client::{Client, MessageStream, Transport};

/// Registers a method that has one answer.
pub fn unary<S, Req, Res, F, Fut>(router: Router, spec: Spec, service: &Arc<S>, call: F) -> Router
where
    S: Send + Sync + 'static,
    Req: Message + DeserializeOwned + Send + 'static,
    Res: Message + Serialize + Send + 'static,
    F: Fn(Arc<S>, RequestContext, Req) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ServiceResult<Res>> + Send + 'static,
{
    let service = Arc::clone(service);
    let handler = handler_fn(move |context, request| call(Arc::clone(&service), context, request));
    let (service, method) = (spec.service(), spec.method());
    let router = if spec.idempotency_level == IdempotencyLevel::NoSideEffects {
        router.route_idempotent::<_, Req, Res>(service, method, handler)
    } else {
        router.route::<_, Req, Res>(service, method, handler)
    };
    router.with_spec(spec)
}

/// Registers a method that answers with a stream.
pub fn server_stream<S, Req, Res, F, Fut>(router: Router, spec: Spec, service: &Arc<S>, call: F) -> Router
where
    S: Send + Sync + 'static,
    Req: Message + DeserializeOwned + Send + 'static,
    Res: Message + Serialize + Send + 'static,
    F: Fn(Arc<S>, RequestContext, Req) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ServiceResult<ServiceStream<Res>>> + Send + 'static,
{
    let service = Arc::clone(service);
    let handler = streaming_handler_fn(move |context, request| call(Arc::clone(&service), context, request));
    router.route_server_stream::<_, Req, Res>(spec.service(), spec.method(), handler).with_spec(spec)
}
