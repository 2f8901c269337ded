//! A request and the head of its answer, on one connection.

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, HOST, IF_MODIFIED_SINCE, IF_NONE_MATCH, USER_AGENT,
};
use http::{Response, request};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::task::AbortHandle;
use url::Position;

use crate::error::Cause;
use crate::limits::{HEAD_BYTES_MAX, HEADERS_MAX};
use crate::network::Pipe;
use crate::request::{BasicAuth, Request};
use crate::rules::Rules;
use crate::target::Target;

/// The task of a connection. It ends when this value is dropped.
pub(crate) struct Line(AbortHandle);

impl Drop for Line {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(crate) async fn exchange(
    pipe: Box<dyn Pipe>,
    request: http::Request<Empty<Bytes>>,
) -> Result<(Response<Incoming>, Line), Cause> {
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .handshake(TokioIo::new(pipe))
        .await
        .map_err(|error| told(&error))?;
    // Errors of the connection appear in the answer or its body.
    let line = Line(tokio::spawn(async move { drop(connection.await) }).abort_handle());
    let response = sender.send_request(request).await.map_err(|error| told(&error))?;
    Ok((response, line))
}

fn told(error: &hyper::Error) -> Cause {
    if error.is_parse_too_large() {
        Cause::HeadTooLarge
    } else if error.is_parse() {
        Cause::NotHttp(error.to_string())
    } else {
        Cause::Truncated(error.to_string())
    }
}

/// The request on the wire. Credentials are included only if `is_at_home`, at the origin that they
/// were given for.
pub(crate) fn compose(
    target: &Target,
    request: &Request,
    rules: &Rules,
    is_at_home: bool,
) -> Result<http::Request<Empty<Bytes>>, Cause> {
    let path = &target.url[Position::BeforePath..Position::AfterQuery];
    let host = &target.url[Position::BeforeHost..Position::AfterPort];
    let mut builder = http::Request::builder()
        .method(request.method.clone())
        .uri(path)
        .header(HOST, host)
        .header(USER_AGENT, &rules.user_agent)
        .header(ACCEPT, "*/*")
        .header(ACCEPT_ENCODING, "gzip")
        .header(CONNECTION, "close");
    builder = add(builder, IF_NONE_MATCH, request.validators.etag.as_deref());
    builder = add(builder, IF_MODIFIED_SINCE, request.validators.last_modified.as_deref());
    if is_at_home {
        builder = add(builder, AUTHORIZATION, request.auth.as_ref().map(BasicAuth::header).as_deref());
    }
    builder.body(Empty::new()).map_err(|error| Cause::BadUrl(error.to_string()))
}

fn add(builder: request::Builder, name: http::HeaderName, value: Option<&str>) -> request::Builder {
    match value {
        Some(value) => builder.header(name, value),
        None => builder,
    }
}
