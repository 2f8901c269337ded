//! A service over HTTP that does what a test says, and a way to secure any service.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// What is answered.
pub(crate) enum Answer {
    /// Nothing, for ever.
    Silence,
    /// A status, and a body that repeats it.
    Status(u16),
    /// That the work was accepted, and where to ask about it.
    At(String),
    /// A body, with the status 200.
    Body(&'static str),
}

type Script = dyn Fn(usize, &Asked) -> Answer + Send + Sync;

/// A service, and what it was asked.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Service {
    /// Answers by a script, which is told how many requests came before.
    pub(crate) async fn start(script: impl Fn(usize, &Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let service = Self { address: listener.local_addr().unwrap(), asked: Arc::default() };
        let (serving, script): (_, Arc<Script>) = (service.clone(), Arc::new(script));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (service, script) = (serving.clone(), Arc::clone(&script));
                let answer = service_fn(move |request| answer(service.clone(), Arc::clone(&script), request));
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::spawn(connection.serve_connection(TokioIo::new(stream), answer));
            }
        });
        service
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn asked_for(&self, path: &str) -> Vec<Asked> {
        self.asked().into_iter().filter(|asked| asked.path == path).collect()
    }
}

async fn answer(
    service: Service,
    script: Arc<Script>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, incoming) = request.into_parts();
    let body = incoming.collect().await.unwrap().to_bytes();
    let asked = Asked {
        method: parts.method,
        path: parts.uri.path().to_owned(),
        headers: parts.headers,
        body: String::from_utf8(body.to_vec()).unwrap(),
    };
    let before = {
        let mut all = service.asked.lock().unwrap();
        all.push(asked.clone());
        all.len() - 1
    };
    let (status, location, body) = match script(before, &asked) {
        Answer::Silence => return std::future::pending().await,
        Answer::Status(status) => (status, None, format!("answer {status}")),
        Answer::At(location) => (202, Some(location), String::new()),
        Answer::Body(body) => (200, None, body.to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    if let Some(location) = location {
        response.headers_mut().insert(http::header::LOCATION, location.parse().unwrap());
    }
    Ok(response)
}

/// Puts TLS in front of a service: answers where.
pub(crate) async fn secured(behind: SocketAddr, config: rustls::ServerConfig) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, acceptor) = (listener.local_addr().unwrap(), TlsAcceptor::from(Arc::new(config)));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut outside) = acceptor.accept(stream).await else { return };
                let mut inside = TcpStream::connect(behind).await.unwrap();
                _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
            });
        }
    });
    address
}
