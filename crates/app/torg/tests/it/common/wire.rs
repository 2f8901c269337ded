//! RPC calls byte by byte over HTTP/2, with any headers and bodies, and their complete responses.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use std::net::SocketAddr;

use bytes::{BufMut as _, Bytes, BytesMut};
use http::{HeaderMap, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use crate::common::PATIENCE;

/// The flag of the last message of a stream of the Connect protocol.
const END_OF_STREAM: u8 = 2;
/// The bytes before a message: a flag and a length.
const FRAME_HEAD_BYTES: usize = 5;

#[derive(Clone)]
pub struct Wire(SendRequest<Full<Bytes>>);

/// The protocols that the process speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// Connect with JSON: `curl`.
    Json,
    /// Connect with binary messages.
    Proto,
    Grpc,
    /// gRPC-Web, for browsers.
    GrpcWeb,
}

#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub trailers: HeaderMap,
}

impl Protocol {
    /// The type of a request; Connect has another one for streams.
    pub fn content_type(self, streams: bool) -> &'static str {
        match (self, streams) {
            (Protocol::Json, false) => "application/json",
            (Protocol::Json, true) => "application/connect+json",
            (Protocol::Proto, false) => "application/proto",
            (Protocol::Proto, true) => "application/connect+proto",
            (Protocol::Grpc, _) => "application/grpc",
            (Protocol::GrpcWeb, _) => "application/grpc-web",
        }
    }

    /// Whether requests are framed.
    pub fn frames(self, streams: bool) -> bool {
        streams || matches!(self, Protocol::Grpc | Protocol::GrpcWeb)
    }
}

pub fn framed(message: &[u8]) -> Bytes {
    frame(0, message.len() as u32, message)
}

/// A frame with any length field.
pub fn frame(flags: u8, length: u32, message: &[u8]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(FRAME_HEAD_BYTES + message.len());
    bytes.put_u8(flags);
    bytes.put_u32(length);
    bytes.put_slice(message);
    bytes.freeze()
}

impl Wire {
    pub async fn connect(address: SocketAddr) -> Wire {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let built = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
        let (sender, connection) = built.handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(async move {
            // The sender sees the end of the connection.
            let _ = connection.await;
        });
        Wire(sender)
    }

    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Sends one call. Of an endless stream it waits for the first message only.
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Reply, String> {
        match tokio::time::timeout(PATIENCE, self.exchange(request)).await {
            Ok(reply) => reply.map_err(|error| format!("{error:?}")),
            Err(_) => Err(format!("no answer in {PATIENCE:?}")),
        }
    }

    async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Reply, hyper::Error> {
        self.0.ready().await?;
        let mut answer = self.0.send_request(request).await?;
        let mut reply = Reply {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            body: Bytes::new(),
            trailers: HeaderMap::new(),
        };
        let mut body = BytesMut::new();
        while let Some(frame) = answer.frame().await {
            match frame?.into_data() {
                Ok(data) => body.put_slice(&data),
                Err(frame) => reply.trailers = frame.into_trailers().unwrap_or_default(),
            }
            if reply.streams() && has_message(&body) {
                break;
            }
        }
        reply.body = body.freeze();
        Ok(reply)
    }

    /// A call with additional headers.
    pub async fn call(
        &mut self,
        path: &str,
        content_type: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Reply, String> {
        let mut request =
            Request::post(format!("http://localhost{path}")).header("content-type", content_type);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Full::new(body)).unwrap()).await
    }
}

/// Whether a complete message has come that is not the end of its stream.
fn has_message(body: &[u8]) -> bool {
    frames(body).next().is_some_and(|(flags, _)| flags & END_OF_STREAM == 0)
}

/// The complete frames of a body.
fn frames(mut body: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = body.split_first_chunk::<FRAME_HEAD_BYTES>()?;
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let (message, rest) = rest.split_at_checked(length)?;
        body = rest;
        Some((head[0], message))
    })
}

impl Reply {
    fn content_type(&self) -> &str {
        self.headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default()
    }

    /// Whether several messages can come.
    fn streams(&self) -> bool {
        self.content_type().starts_with("application/connect+")
            || (self.content_type().starts_with("application/grpc") && self.status == 200)
    }

    /// A header, from the head or the trailers.
    pub fn header(&self, name: &str) -> Option<&str> {
        let value = self.headers.get(name).or_else(|| self.trailers.get(name));
        value.and_then(|value| value.to_str().ok())
    }

    /// The code, by the rules of the response's protocol; `ok` on success.
    pub fn code(&self) -> String {
        let kind = self.content_type().to_owned();
        if kind.starts_with("application/grpc-web") {
            return self.web_code();
        }
        if kind.starts_with("application/grpc") {
            return self.header("grpc-status").map_or_else(|| self.unfinished(), grpc_name);
        }
        if kind.starts_with("application/connect+") {
            let end = frames(&self.body).find(|(flags, _)| flags & END_OF_STREAM != 0);
            return match end {
                Some((_, end)) => json_code(end, "/error/code"),
                None => self.unfinished(),
            };
        }
        if self.status == 200 { "ok".to_owned() } else { json_code(&self.body, "/code") }
    }

    fn web_code(&self) -> String {
        if let Some(status) = self.header("grpc-status") {
            return grpc_name(status);
        }
        let Some((_, trailers)) = frames(&self.body).find(|(flags, _)| flags & 0x80 != 0) else {
            return self.unfinished();
        };
        let text = String::from_utf8_lossy(trailers).to_ascii_lowercase();
        let status = text.lines().find_map(|line| line.strip_prefix("grpc-status:"));
        status.map_or_else(|| "no status".to_owned(), |status| grpc_name(status.trim()))
    }

    /// A stream that goes on is a success.
    fn unfinished(&self) -> String {
        if has_message(&self.body) { "ok".to_owned() } else { format!("no end, HTTP {}", self.status) }
    }

    /// The text for people, if there is one.
    pub fn text(&self) -> String {
        let grpc = self.header("grpc-message").unwrap_or_default();
        format!("HTTP {} {grpc} {}", self.status, String::from_utf8_lossy(&self.body))
    }

    /// The only message of a successful response.
    pub fn message(&self) -> &[u8] {
        if self.streams() {
            frames(&self.body).next().map_or(&[], |(_, message)| message)
        } else {
            &self.body
        }
    }
}

fn json_code(json: &[u8], pointer: &str) -> String {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(json) else {
        return format!("no JSON: {:?}", String::from_utf8_lossy(json));
    };
    match value.pointer(pointer) {
        Some(code) => code.as_str().unwrap_or("no text").to_owned(),
        None => "ok".to_owned(),
    }
}

fn grpc_name(status: &str) -> String {
    let code = status.parse().ok().and_then(connectrpc::ErrorCode::from_grpc_code);
    match (status, code) {
        ("0", _) => "ok".to_owned(),
        (_, Some(code)) => code.as_str().to_owned(),
        _ => format!("grpc-status {status}"),
    }
}
