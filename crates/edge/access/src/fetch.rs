//! Fetching a small document over HTTPS.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{ACCEPT, HOST, USER_AGENT};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_util::rt::TokioIo;
use rustls::RootCertStore;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::config::KeysUrl;

/// Fetches what stands at a URL. The caller bounds the time; whoever implements it bounds the size.
#[async_trait]
pub trait Fetch: Send + Sync {
    /// The document, if it is not longer than `bytes_max`; in words, why not.
    async fn fetch(&self, url: &str, bytes_max: usize) -> Result<Vec<u8>, String>;
}

/// Fetches with GET over a new connection, trusting the system's authorities. Redirections are not
/// followed, proxies not used.
#[derive(Clone, Default)]
pub struct HttpsFetch {
    roots: Option<Arc<RootCertStore>>,
}

impl HttpsFetch {
    /// Trusts these authorities instead of the system's.
    #[must_use]
    pub fn trusting(roots: RootCertStore) -> Self {
        Self { roots: Some(Arc::new(roots)) }
    }

    fn connector(&self) -> Result<TlsConnector, String> {
        let roots = match &self.roots {
            Some(roots) => Arc::clone(roots),
            None => Arc::new(net::system_roots()),
        };
        if roots.is_empty() {
            return Err("the system has no list of trusted authorities (ca-certificates)".to_owned());
        }
        Ok(TlsConnector::from(Arc::new(net::client(roots).with_no_client_auth())))
    }
}

#[async_trait]
impl Fetch for HttpsFetch {
    async fn fetch(&self, url: &str, bytes_max: usize) -> Result<Vec<u8>, String> {
        let url = KeysUrl::parse(url)?;
        let stream = TcpStream::connect((url.host(), url.port())).await;
        let stream = stream.map_err(|error| format!("cannot connect: {error}"))?;
        if !url.is_encrypted() {
            return get(stream, &url, bytes_max).await;
        }
        let name = ServerName::try_from(url.host().to_owned()).map_err(|error| error.to_string())?;
        let stream =
            self.connector()?.connect(name, stream).await.map_err(|error| format!("TLS: {error}"))?;
        get(stream, &url, bytes_max).await
    }
}

async fn get<S>(stream: S, url: &KeysUrl, bytes_max: usize) -> Result<Vec<u8>, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| error.to_string())?;
    let request = http::Request::get(url.path())
        .header(HOST, url.authority())
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, "torg")
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    let answered = async {
        let answer = sender.send_request(request).await.map_err(|error| error.to_string())?;
        if answer.status() != http::StatusCode::OK {
            return Err(format!("the answer is {}", answer.status()));
        }
        let body = Limited::new(answer.into_body(), bytes_max).collect().await;
        body.map(|body| body.to_bytes().to_vec()).map_err(|error| error.to_string())
    };
    // The connection lives as long as this future: when the caller's time is over, it is closed.
    // What came before its end is still an answer.
    let mut answered = std::pin::pin!(answered);
    tokio::select! {
        biased;
        answer = &mut answered => answer,
        _ = connection => answered.await,
    }
}
