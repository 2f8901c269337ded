//! Sockets and connections: HTTP/1.1 and HTTP/2 on one port, with TLS or without, and an orderly
//! end.

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

/// A client that says nothing for this long, at the start or between two requests of HTTP/1.1, is
/// hung up on.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// How long a client may take to agree on TLS.
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
/// How often a quiet HTTP/2 connection is asked whether it is still there, and how long it may take
/// to answer.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// After an error of `accept` that concerns the process (no more file descriptors), not one
/// connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Takes the port. A failure says what to do about it.
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
    /// Serves `router` on every connection, over `tls` if there is one; above `connections_max`
    /// open ones, further clients wait to be accepted. Every request has its [`Peer`] among its
    /// extensions.
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

    /// Stops accepting, lets running requests end for at most `patience`, then cuts what is left.
    /// Tells how many connections were cut.
    pub async fn drain(self, patience: Duration) -> usize {
        self.closing.send_replace(true);
        let Ok(Connections { mut tasks, graceful }) = self.accepting.await else { return 0 };
        // Elapsed or not: what still runs is counted below.
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
        // Without it small answers wait for the peer's delayed acknowledgement, 40 ms each.
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

/// What every connection is served with.
#[derive(Clone)]
struct Serving {
    builder: auto::Builder<TokioExecutor>,
    router: Router,
    tls: Option<Arc<Tls>>,
    closed: watch::Receiver<bool>,
}

/// A connection's bytes, whatever carries them.
trait Bytes: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Bytes for T {}

impl Serving {
    /// Serves one connection to its end.
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

/// Agrees on TLS with the certificate of this moment, unless it takes too long or the server
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

/// Waits for the first byte, so that a client that only connects costs no more than its socket and
/// not for long.
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
