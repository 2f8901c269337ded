//! The gate as a tower layer for any HTTP service.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{Either, LengthLimitError, Limited};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tower::{Layer, Service};

use crate::error::{Code, Denial};
use crate::gate::{Admitted, Gate};
use crate::limiter::Permit;

/// The peer address of a connection. The server adds it to the extensions of every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// Passes admitted requests with their [`Caller`](crate::Caller) in the extensions, and truncates
/// bodies at the caller's limit. `A` turns a denial and the request's headers into an answer.
///
/// A call counts as running until the body of its answer ends or is dropped.
#[derive(Clone, Debug)]
pub struct GateLayer<A> {
    gate: Gate,
    open: &'static [&'static str],
    files: &'static [&'static str],
    without_store: &'static [&'static str],
    answer: A,
}

impl<A> GateLayer<A> {
    pub fn new(gate: Gate, answer: A) -> Self {
        Self { gate, open: &[], files: &[], without_store: &[], answer }
    }

    /// These paths, and those below a path that ends with `/`, need no credential and are not
    /// counted: health probes.
    #[must_use]
    pub fn open(mut self, paths: &'static [&'static str]) -> Self {
        self.open = paths;
        self
    }

    /// Bodies for paths with these prefixes are not limited here: files have their own limit.
    #[must_use]
    pub fn files(mut self, prefixes: &'static [&'static str]) -> Self {
        self.files = prefixes;
        self
    }

    /// These paths reveal nothing of the store and work while it is unavailable: see
    /// [`Gate::admit_without_store`].
    #[must_use]
    pub fn without_store(mut self, paths: &'static [&'static str]) -> Self {
        self.without_store = paths;
        self
    }

    fn is_open(&self, path: &str) -> bool {
        self.open.iter().any(|open| path == *open || open.ends_with('/') && path.starts_with(open))
    }

    fn takes_files(&self, path: &str) -> bool {
        self.files.iter().any(|prefix| path.starts_with(prefix))
    }
}

impl<A> GateLayer<A> {
    fn deny<R>(&self, denial: &Denial, headers: &HeaderMap) -> Response<Held<R>>
    where
        A: Fn(&Denial, &HeaderMap) -> Response<R>,
    {
        let mut answer = (self.answer)(denial, headers);
        answer.headers_mut().extend(denial.headers());
        answer.map(|body| Held { body, permit: None })
    }
}

impl<S, A: Clone> Layer<S> for GateLayer<A> {
    type Service = Guarded<S, A>;

    fn layer(&self, inner: S) -> Self::Service {
        Guarded { layer: self.clone(), inner }
    }
}

/// A service behind a gate: see [`GateLayer`].
#[derive(Clone, Debug)]
pub struct Guarded<S, A> {
    layer: GateLayer<A>,
    inner: S,
}

/// The body of a request, limited to what its caller may send.
#[derive(Debug)]
pub struct Capped<B> {
    body: Either<B, Limited<B>>,
    cut: Cut,
}

/// Whether a body was truncated. The answer must say so: the reader of the body knows only that
/// reading failed.
#[derive(Clone, Debug, Default)]
struct Cut(Option<Arc<AtomicBool>>);

impl Cut {
    fn happened(&self) -> bool {
        self.0.as_ref().is_some_and(|cut| cut.load(Ordering::Relaxed))
    }
}

impl<B> Capped<B> {
    /// A body without a limit.
    fn whole(body: B) -> Self {
        Self { body: Either::Left(body), cut: Cut::default() }
    }

    fn at(body: B, most: u64) -> Self {
        let body = Either::Right(Limited::new(body, usize::try_from(most).unwrap_or(usize::MAX)));
        Self { body, cut: Cut(Some(Arc::default())) }
    }
}

impl<B> Body for Capped<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        if let (Some(Err(error)), Some(cut)) = (&frame, &self.cut.0)
            && error.is::<LengthLimitError>()
        {
            cut.store(true, Ordering::Relaxed);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<S, A, B, R> Service<Request<B>> for Guarded<S, A>
where
    S: Service<Request<Capped<B>>, Response = Response<R>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    A: Fn(&Denial, &HeaderMap) -> Response<R> + Clone + Send + 'static,
    B: Body<Data = Bytes> + Unpin + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    R: Send + 'static,
{
    type Response = Response<Held<R>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The service that was polled ready must be the one that is called.
        let waiting = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, waiting);
        let layer = self.layer.clone();
        let (mut parts, body) = request.into_parts();
        name_host(&mut parts);
        let request = Request::from_parts(parts, body);
        Box::pin(async move {
            if layer.is_open(request.uri().path()) {
                let answer = inner.call(request.map(Capped::whole)).await?;
                return Ok(answer.map(|body| Held { body, permit: None }));
            }
            let path = request.uri().path();
            let (lasts, takes_files) = (layer.without_store.contains(&path), layer.takes_files(path));
            match pass(&layer.gate, request, lasts, takes_files).await {
                Ok((request, permit)) => {
                    let cut = request.body().cut.clone();
                    let headers = cut.0.as_ref().map(|_| request.headers().clone()).unwrap_or_default();
                    let answer = inner.call(request).await?;
                    if cut.happened() {
                        return Ok(layer.deny(&too_large(), &headers));
                    }
                    Ok(answer.map(|body| Held { body, permit: Some(permit) }))
                }
                Err((denial, headers)) => Ok(layer.deny(&denial, &headers)),
            }
        })
    }
}

type Passed<B> = Result<(Request<Capped<B>>, Permit), (Denial, HeaderMap)>;

async fn pass<B: Body>(gate: &Gate, request: Request<B>, lasts: bool, takes_files: bool) -> Passed<B> {
    let (mut parts, body) = request.into_parts();
    let peer = parts.extensions.get::<Peer>().map(|peer| peer.0.ip());
    let admitted = if lasts {
        gate.admit_without_store(&parts.headers, peer).await
    } else {
        gate.admit(&parts.headers, peer).await
    };
    let Admitted { caller, permit, request_bytes_max } = match admitted {
        Ok(admitted) => admitted,
        Err(denial) => return Err((denial, parts.headers)),
    };
    parts.extensions.insert(caller);
    // Removed so that nothing behind the gate can log it.
    parts.headers.remove(header::AUTHORIZATION);
    let Some(most) = request_bytes_max.filter(|_| !takes_files) else {
        return Ok((Request::from_parts(parts, Capped::whole(body)), permit));
    };
    let size = body.size_hint();
    if size.lower() > most {
        return Err((too_large(), parts.headers));
    }
    // HTTP enforces a declared length.
    let body = if size.exact().is_some() { Capped::whole(body) } else { Capped::at(body, most) };
    Ok((Request::from_parts(parts, body), permit))
}

fn too_large() -> Denial {
    Denial::new(Code::TooLarge, "the request is too large for this caller")
}

/// HTTP/2 has the host in `:authority`: copy it to `Host`, where the gate looks.
fn name_host(parts: &mut http::request::Parts) {
    if !parts.headers.contains_key(header::HOST)
        && let Some(authority) = parts.uri.authority()
        && let Ok(host) = header::HeaderValue::from_str(authority.as_str())
    {
        parts.headers.insert(header::HOST, host);
    }
}

/// The body of an answer, which holds the permit until it ends.
#[derive(Debug)]
pub struct Held<B> {
    body: B,
    permit: Option<Permit>,
}

impl<B: Body + Unpin> Body for Held<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) {
            self.permit = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
