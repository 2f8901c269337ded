//! Connections: HTTP/2 and HTTP/1.1, with or without TLS, with graceful shutdown.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use connectrpc::ConnectRpcService;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// Further clients wait to be accepted.
const CONNECTIONS_MAX: usize = 1024;
/// Timeout of the TLS handshake and of HTTP/1.1 headers.
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
/// HTTP/2 keep-alive: interval and timeout.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// Pause after an error of `accept`, which may affect the whole process: no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The open connections.
pub(crate) struct Connections {
    serving: Serving,
    tasks: JoinSet<()>,
    graceful: GracefulShutdown,
    slots: Arc<Semaphore>,
}

impl Connections {
    pub(crate) fn new(service: ConnectRpcService, tls: Option<TlsAcceptor>) -> Connections {
        Connections {
            serving: Serving { builder: builder(), service, tls },
            tasks: JoinSet::new(),
            graceful: GracefulShutdown::new(),
            slots: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
        }
    }

    /// Accepts and serves connections forever. Safe to drop at any time.
    pub(crate) async fn accept(&mut self, listener: &TcpListener) {
        // The semaphore is never closed.
        while let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await {
            while self.tasks.try_join_next().is_some() {}
            match listener.accept().await {
                Ok((stream, _)) => self.serve(stream, slot),
                Err(error) => {
                    tracing::debug!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn serve(&mut self, stream: TcpStream, slot: OwnedSemaphorePermit) {
        let (serving, watcher) = (self.serving.clone(), self.graceful.watcher());
        self.tasks.spawn(async move {
            let _slot = slot;
            if let Err(error) = serving.serve(stream, watcher).await {
                tracing::debug!(%error, "a connection ended");
            }
        });
    }

    /// Lets running calls finish for at most `grace`, then closes the rest.
    pub(crate) async fn end(mut self, grace: Duration) {
        // The rest is closed in any case.
        let _ = timeout(grace, self.graceful.shutdown()).await;
        self.tasks.shutdown().await;
    }
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HANDSHAKE_TIME_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    builder
}

#[derive(Clone)]
struct Serving {
    builder: Builder<TokioExecutor>,
    service: ConnectRpcService,
    tls: Option<TlsAcceptor>,
}

type Broken = Box<dyn std::error::Error + Send + Sync>;

impl Serving {
    async fn serve(self, stream: TcpStream, watcher: Watcher) -> Result<(), Broken> {
        // Without it, small answers wait 40 ms for the peer's delayed acknowledgement.
        stream.set_nodelay(true)?;
        match self.tls.clone() {
            None => self.speak(stream, watcher).await,
            Some(tls) => {
                let shaken = timeout(HANDSHAKE_TIME_MAX, tls.accept(stream)).await;
                let stream = shaken.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
                self.speak(stream, watcher).await
            }
        }
    }

    async fn speak<S>(self, stream: S, watcher: Watcher) -> Result<(), Broken>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = TowerToHyperService::new(self.service);
        watcher.watch(self.builder.serve_connection(TokioIo::new(stream), service).into_owned()).await
    }
}
