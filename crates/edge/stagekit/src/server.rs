//! The server for stages: gRPC over HTTP/2, and JSON over HTTP for `curl`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use connectrpc::{ConnectRpcService, Limits, Router};
use connectrpc_health::StaticChecker;
use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_rustls::TlsAcceptor;

use crate::listen::Connections;
use crate::service::Stages;
use crate::token::TokenCheck;
use crate::wire::STAGE_SERVICE_SERVICE_NAME;
use crate::{Error, Stage};

/// Options of the server.
#[derive(Debug, Clone)]
pub struct Options {
    /// `127.0.0.1:7070` by default; port 0 chooses a free one.
    pub address: String,
    /// The token that callers must present as `authorization: Bearer ...`. None by default.
    pub token: Option<String>,
    pub tls: Option<Tls>,
    /// The largest message; 16 MiB by default.
    pub message_bytes_max: usize,
    /// How long running calls may take to finish on shutdown; ten seconds by default.
    pub grace: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            address: "127.0.0.1:7070".to_owned(),
            token: None,
            tls: None,
            message_bytes_max: 16 << 20,
            grace: Duration::from_secs(10),
        }
    }
}

/// TLS files, PEM.
#[derive(Debug, Clone)]
pub struct Tls {
    /// The certificate chain of the server.
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// If set, clients need a certificate of this authority.
    pub client_ca: Option<PathBuf>,
}

/// A server that is bound and not running yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    service: ConnectRpcService,
    tls: Option<TlsAcceptor>,
    health: Arc<StaticChecker>,
    grace: Duration,
}

impl Server {
    pub async fn bind(stages: Vec<Arc<dyn Stage>>, options: Options) -> Result<Server, Error> {
        let Options { address, token, tls, message_bytes_max, grace } = options;
        let router = Router::new().add_service(Arc::new(Stages::new(stages)?));
        let (router, health) = connectrpc_health::install_static(router, [STAGE_SERVICE_SERVICE_NAME]);
        let limits = Limits::default()
            .with_max_request_body_size(message_bytes_max)
            .with_max_message_size(message_bytes_max);
        let service = ConnectRpcService::new(router).with_limits(limits);
        let service = match token.as_deref() {
            Some("") => return Err(Error::Setup("the token is empty: set one, or leave it out".to_owned())),
            Some(token) => service.with_interceptor(TokenCheck::new(token)),
            None => service,
        };
        let tls = tls.as_ref().map(Tls::load).transpose()?.map(|config| TlsAcceptor::from(Arc::new(config)));
        let failed = |why: std::io::Error| Error::Listen { address: address.clone(), why };
        let listener = TcpListener::bind(&address).await.map_err(failed)?;
        let at = listener.local_addr().map_err(failed)?;
        if token.is_none() && !at.ip().is_loopback() {
            tracing::warn!("{at} is public and no token is set");
        }
        Ok(Server { listener, address: at, service, tls, health, grace })
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` completes, then accepts no more calls and lets running ones finish
    /// within the grace period.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Server { listener, service, tls, health, grace, .. } = self;
        let mut connections = Connections::new(service, tls);
        tokio::select! {
            biased;
            () = stop => {}
            () = connections.accept(&listener) => {}
        }
        health.shutdown();
        drop(listener);
        connections.end(grace).await;
    }
}

/// Serves a stage until SIGTERM or Ctrl-C, then lets running calls finish. Prints `listening on
/// HOST:PORT`.
pub async fn serve(stage: impl Stage, options: Options) -> Result<(), Error> {
    serve_all(vec![Arc::new(stage)], options).await
}

/// Serves several stages on one port, like [`serve`].
pub async fn serve_all(stages: Vec<Arc<dyn Stage>>, options: Options) -> Result<(), Error> {
    let cannot = |error: std::io::Error| Error::Setup(format!("cannot handle signals: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(cannot)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot)?;
    let server = Server::bind(stages, options).await?;
    println!("listening on {}", server.address());
    let told = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    server.run(told).await;
    Ok(())
}

impl Tls {
    fn load(&self) -> Result<ServerConfig, Error> {
        let chain = read(&self.certificate, net::certificates)?;
        let key = read(&self.key, net::private_key)?;
        let clients = self.client_ca.as_deref();
        let clients = clients.map(|file| read(file, net::roots)).transpose()?;
        net::server(chain, key, clients).map_err(|error| wrong(&self.certificate, error))
    }
}

fn read<T>(file: &Path, parse: impl FnOnce(&[u8]) -> net::Result<T>) -> Result<T, Error> {
    let pem = std::fs::read(file).map_err(|error| wrong(file, error))?;
    parse(&pem).map_err(|error| wrong(file, error))
}

fn wrong(file: &Path, why: impl std::fmt::Display) -> Error {
    Error::Tls { file: file.to_owned(), why: why.to_string() }
}
