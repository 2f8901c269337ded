//! One client for all methods: it sends bytes to a path and returns bytes.
//!
//! Only encoding and decoding depends on the messages. The client of connectrpc would be compiled
//! once for each method that a program calls.

use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use buffa::{DecodeOptions, Message};
use bytes::Bytes;
use connectrpc::client::{
    CallOptions, ClientBody, ClientConfig, ClientTransport, ServerStream, call_server_stream, call_unary,
};
use connectrpc::{ConnectError, ErrorCode, Spec, StreamType};
use http::{Request, Response};
use hyper::body::Incoming;

use super::raw::{Raw, RawView};

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
type Answers = ServerStream<Incoming, RawView<'static>>;
type Sending = BoxFuture<'static, Result<Response<Incoming>, ConnectError>>;

/// A connection that calls take.
pub trait Transport: ClientTransport<ResponseBody = Incoming, Error = ConnectError> {}

impl<T: ClientTransport<ResponseBody = Incoming, Error = ConnectError>> Transport for T {}

/// Calls methods by their paths. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    connection: Connection,
    config: Arc<ClientConfig>,
}

/// A transport without its type.
#[derive(Clone)]
struct Connection(Arc<dyn Fn(Request<ClientBody>) -> Sending + Send + Sync>);

impl ClientTransport for Connection {
    type ResponseBody = Incoming;
    type Error = ConnectError;

    fn send(&self, request: Request<ClientBody>) -> Sending {
        (self.0)(request)
    }
}

impl Client {
    /// A client of the server at the other end of a connection.
    pub fn new(transport: impl Transport, config: ClientConfig) -> Self {
        let connection = Connection(Arc::new(move |request| transport.send(request)));
        Self { connection, config: Arc::new(config) }
    }

    /// The same client with another default timeout.
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        let config = ClientConfig::clone(&self.config).with_default_timeout(timeout);
        Self { connection: self.connection.clone(), config: Arc::new(config) }
    }

    /// Calls a method that has one answer.
    pub async fn unary<Res: Message>(
        &self,
        path: &'static str,
        request: &impl Message,
    ) -> Result<Res, ConnectError> {
        let answer = self.unary_bytes(path, request.encode_to_bytes()).await?;
        decode(&answer, &self.decode_options())
    }

    /// Calls a method that answers with a stream.
    pub async fn server_stream<Res: Message>(
        &self,
        path: &'static str,
        request: &impl Message,
    ) -> Result<MessageStream<Res>, ConnectError> {
        let stream = self.stream_bytes(path, request.encode_to_bytes()).await?;
        Ok(MessageStream { stream, options: self.decode_options(), message: PhantomData })
    }

    fn unary_bytes(&self, path: &'static str, request: Bytes) -> BoxFuture<'_, Result<Bytes, ConnectError>> {
        Box::pin(async move {
            let spec = Spec::client(path, StreamType::Unary);
            let options = CallOptions::default();
            let answer = call_unary::<_, _, RawView<'static>>(
                &self.connection,
                &self.config,
                spec,
                Raw(request),
                options,
            );
            Ok(answer.await?.into_owned().0)
        })
    }

    fn stream_bytes(
        &self,
        path: &'static str,
        request: Bytes,
    ) -> BoxFuture<'_, Result<Answers, ConnectError>> {
        let spec = Spec::client(path, StreamType::ServerStream);
        let options = CallOptions::default();
        Box::pin(call_server_stream(&self.connection, &self.config, spec, Raw(request), options))
    }

    fn decode_options(&self) -> DecodeOptions {
        let limit = self.config.default_element_memory_limit();
        limit.map_or_else(DecodeOptions::new, |bytes| DecodeOptions::new().with_element_memory_limit(bytes))
    }
}

/// The messages of a stream, in order.
pub struct MessageStream<M> {
    stream: Answers,
    options: DecodeOptions,
    message: PhantomData<fn() -> M>,
}

impl<M: Message> MessageStream<M> {
    /// The next message; nothing at the end of the stream.
    pub async fn message(&mut self) -> Result<Option<M>, ConnectError> {
        let bytes = next_bytes(&mut self.stream).await?;
        bytes.map(|bytes| decode(&bytes, &self.options)).transpose()
    }
}

fn next_bytes(stream: &mut Answers) -> BoxFuture<'_, Result<Option<Bytes>, ConnectError>> {
    Box::pin(async move { Ok(stream.message().await?.map(|message| message.to_owned_message().0)) })
}

fn decode<M: Message>(bytes: &[u8], options: &DecodeOptions) -> Result<M, ConnectError> {
    options.decode_from_slice(bytes).map_err(|error| {
        let code = match error {
            buffa::DecodeError::ElementMemoryLimitExceeded => ErrorCode::ResourceExhausted,
            _ => ErrorCode::Internal,
        };
        ConnectError::new(code, format!("failed to decode response: {error}"))
    })
}
