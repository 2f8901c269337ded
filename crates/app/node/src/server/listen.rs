//! The network server: HTTP/1.1 and HTTP/2 on one port, with or without TLS, and a graceful
//! shutdown.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use access::{Peer, Tls};
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tower::util::MapRequest;

use terminal::errors::advised;

/// A client that sends nothing for this long, at the start or between two HTTP/1.1 requests, is
/// disconnected.
const SILENCE_MAX: Duration = Duration::from_secs(60);
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
/// Keep-alive of HTTP/2 connections: ping interval and timeout.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// Pause after an error of `accept` that concerns the process (no more file descriptors), not one
/// connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Binds the port. Errors carry a hint.
pub async fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AddrInUse => {
                "another process has this port: stop it, or choose another port with --listen".to_owned()
            }
            io::ErrorKind::PermissionDenied => {
                "ports below 1024 need a privilege: choose a higher one with --listen".to_owned()
            }
            io::ErrorKind::AddrNotAvailable => {
                "this machine has no such address: use 127.0.0.1, or 0.0.0.0 for all of its addresses"
                    .to_owned()
            }
            _ => "choose another address with --listen".to_owned(),
        };
        advised(format!("cannot listen on {address}: {error}"), hint)
    })
}

/// A running server. It serves until [`Server::drain`].
pub struct Server {
    closing: watch::Sender<bool>,
    accepting: JoinHandle<Connections>,
}

/// The open connections, handed over when the server stops accepting.
struct Connections {
    tasks: JoinSet<()>,
    graceful: GracefulShutdown,
}

impl Server {
    /// Serves `router` on every connection, over `tls` if set. Above `connections_max` open
    /// connections, further clients wait to be accepted. Every request carries its [`Peer`] as an
    /// extension.
    pub fn start(
        listener: TcpListener,
        router: Router,
        tls: Option<Arc<Tls>>,
        connections_max: usize,
    ) -> Server {
        let (closing, closed) = watch::channel(false);
        let serving = Serving { builder: builder(), router, tls, closed };
        let accepting = tokio::spawn(accept(listener, serving, Arc::new(Semaphore::new(connections_max))));
        Server { closing, accepting }
    }

    /// Stops accepting, gives running requests at most `patience` to finish, then aborts the rest.
    /// Returns the number of aborted connections.
    pub async fn drain(self, patience: Duration) -> usize {
        self.closing.send_replace(true);
        let Ok(Connections { mut tasks, graceful }) = self.accepting.await else { return 0 };
        // Connections that remain after the timeout are counted below.
        let _ = timeout(patience, graceful.shutdown()).await;
        while tasks.try_join_next().is_some() {}
        let cut = tasks.len();
        tasks.shutdown().await;
        cut
    }
}

fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(SILENCE_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    builder
}

async fn accept(listener: TcpListener, serving: Serving, slots: Arc<Semaphore>) -> Connections {
    let mut connections = Connections { tasks: JoinSet::new(), graceful: GracefulShutdown::new() };
    let mut closed = serving.closed.clone();
    loop {
        while connections.tasks.try_join_next().is_some() {}
        let accepted = tokio::select! {
            biased;
            _ = closed.wait_for(|closed| *closed) => return connections,
            accepted = async {
                let slot = Arc::clone(&slots).acquire_owned().await;
                (slot, listener.accept().await)
            } => accepted,
        };
        let (slot, stream, peer) = match accepted {
            (Ok(slot), Ok((stream, peer))) => (slot, stream, peer),
            (_, Err(error)) if concerns_one_connection(&error) => continue,
            (_, Err(error)) => {
                tracing::error!(%error, "cannot accept connections");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
            // The semaphore is never closed.
            (Err(_), Ok(_)) => return connections,
        };
        // Otherwise small responses wait for the peer's delayed acknowledgement, 40 ms each.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        let (serving, watcher) = (serving.clone(), connections.graceful.watcher());
        connections.tasks.spawn(async move {
            let _slot = slot;
            serving.serve(stream, peer, watcher).await;
        });
    }
}

/// The state that all connections share.
#[derive(Clone)]
struct Serving {
    builder: auto::Builder<TokioExecutor>,
    router: Router,
    tls: Option<Arc<Tls>>,
    closed: watch::Receiver<bool>,
}

/// A plain or TLS connection.
trait Bytes: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Bytes for T {}

impl Serving {
    async fn serve(self, stream: TcpStream, peer: SocketAddr, watcher: Watcher) {
        if !speaks(&stream, self.closed.clone()).await {
            return;
        }
        let bytes: Box<dyn Bytes> = match &self.tls {
            None => Box::new(stream),
            Some(tls) => match shake_hands(tls, stream, self.closed.clone()).await {
                Ok(stream) => Box::new(stream),
                Err(error) => {
                    tracing::debug!(%error, %peer, "no TLS with a client");
                    return;
                }
            },
        };
        let named = MapRequest::new(self.router, move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            request
        });
        let service = TowerToHyperService::new(named);
        let connection = self.builder.serve_connection(TokioIo::new(bytes), service).into_owned();
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%error, "connection ended");
        }
    }
}

/// Performs the TLS handshake with the current certificate. Fails on timeout or when the server
/// closes.
async fn shake_hands(
    tls: &Tls,
    stream: TcpStream,
    mut closed: watch::Receiver<bool>,
) -> io::Result<tokio_rustls::server::TlsStream<TcpStream>> {
    tokio::select! {
        biased;
        _ = closed.wait_for(|closed| *closed) => Err(io::Error::other("the server closes")),
        done = timeout(HANDSHAKE_TIME_MAX, TlsAcceptor::from(tls.current()).accept(stream)) => {
            done.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        }
    }
}

/// Waits for the first byte, so that an idle connection costs only its socket, and for a bounded
/// time.
async fn speaks(stream: &TcpStream, mut closed: watch::Receiver<bool>) -> bool {
    tokio::select! {
        biased;
        first = timeout(SILENCE_MAX, stream.readable()) => matches!(first, Ok(Ok(()))),
        _ = closed.wait_for(|closed| *closed) => false,
    }
}

fn concerns_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    )
}
