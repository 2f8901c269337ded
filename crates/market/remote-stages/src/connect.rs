//! Connections to remote stages, plain or over TLS, with a client certificate where one is set.

use std::sync::Arc;
use std::time::Duration;

use connectrpc::client::{Http2Connection, SharedHttp2Connection};
use http::Uri;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use wire::torg::stages::v1::outside_stage::Tls;

use crate::limits::WAITING_MAX;
use crate::tls::{LastError, OwnCertificate, ReportingStream};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The interval of HTTP/2 pings on a connection that waits for answers.
const ALIVE_EVERY: Duration = Duration::from_secs(10);
const ALIVE_TIMEOUT: Duration = Duration::from_secs(5);
const HTTPS_PORT: u16 = 443;

#[derive(Clone)]
pub(crate) struct Dialer {
    tls: Option<Secured>,
}

#[derive(Clone)]
struct Secured {
    connector: TlsConnector,
    own: Arc<OwnCertificate>,
    /// The name in the server's certificate; `None`: the host of the address.
    name: Option<ServerName<'static>>,
}

impl std::fmt::Debug for Dialer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.tls.is_some() { "Dialer(tls)" } else { "Dialer(plain)" })
    }
}

impl Dialer {
    pub(crate) fn plain() -> Self {
        Self { tls: None }
    }

    /// Over TLS with these settings; `None`: the system's root certificates.
    pub(crate) fn secured(tls: Option<&Tls>) -> Result<Self, String> {
        let (config, own) = client_config(tls)?;
        let name = tls.map(|tls| tls.server_name.clone()).filter(|name| !name.is_empty());
        let name = name.map(|name| {
            ServerName::try_from(name.clone())
                .map_err(|_| format!("server_name: {name:?} is no name of a host"))
        });
        let (connector, name) = (TlsConnector::from(Arc::new(config)), name.transpose()?);
        Ok(Self { tls: Some(Secured { connector, own, name }) })
    }

    /// A connection that is opened on first use and reopened after it breaks, and the cause of its
    /// last failure where that is more precise than the errors of calls.
    pub(crate) fn dial(&self, address: &Uri) -> (SharedHttp2Connection, LastError) {
        let last_error = LastError::default();
        let builder = Http2Connection::builder()
            .establishment_timeout(CONNECT_TIMEOUT)
            .keep_alive_interval(ALIVE_EVERY)
            .keep_alive_timeout(ALIVE_TIMEOUT);
        let secured = self.tls.clone().filter(|_| address.scheme_str() == Some("https"));
        let connection = match secured {
            None => builder.lazy_plaintext(address.clone()),
            Some(secured) => {
                let (host, port) = (host(address), address.port_u16().unwrap_or(HTTPS_PORT));
                let last_error = last_error.clone();
                let dial = tower::service_fn(move |_: Uri| {
                    let (secured, host, last_error) = (secured.clone(), host.clone(), last_error.clone());
                    async move { secured.connect(&host, port, last_error).await.map(TokioIo::new) }
                });
                builder.lazy_with_connector(dial, address.clone())
            }
        };
        (connection.shared(WAITING_MAX), last_error)
    }
}

impl Secured {
    async fn connect(self, host: &str, port: u16, last_error: LastError) -> std::io::Result<ReportingStream> {
        last_error.forget();
        let name = match self.name {
            Some(name) => name,
            None => ServerName::try_from(host.to_owned()).map_err(std::io::Error::other)?,
        };
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        let stream = self.connector.connect(name, stream).await;
        let stream = stream.inspect_err(|error| last_error.note_handshake(error))?;
        Ok(ReportingStream::new(stream, self.own, last_error))
    }
}

fn host(address: &Uri) -> String {
    let host = address.host().unwrap_or_default();
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).to_owned()
}

/// Whom to trust, and who we are.
fn client_config(tls: Option<&Tls>) -> Result<(ClientConfig, Arc<OwnCertificate>), String> {
    let mut roots = RootCertStore::empty();
    match tls.map(|tls| &*tls.ca_pem).filter(|pem| !pem.is_empty()) {
        Some(pem) => {
            for certificate in certificates("ca_pem", pem)? {
                roots.add(certificate).map_err(|error| format!("ca_pem: {error}"))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots);
    let own = tls.filter(|tls| !tls.certificate_pem.is_empty() || !tls.key_pem.is_empty());
    let key = match own {
        None => None,
        Some(tls) => {
            let chain = certificates("certificate_pem", &tls.certificate_pem)?;
            let key = PrivateKeyDer::from_pem_slice(tls.key_pem.as_bytes())
                .map_err(|_| "key_pem: no private key in PEM".to_owned())?;
            let both = CertifiedKey::from_der(chain, key, &provider);
            Some(both.map_err(|error| format!("certificate_pem, key_pem: {error}"))?)
        }
    };
    let own = Arc::new(OwnCertificate::new(key));
    let mut config = builder.with_client_cert_resolver(Arc::<OwnCertificate>::clone(&own));
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok((config, own))
}

fn certificates(field: &str, pem: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match read {
        Ok(read) if !read.is_empty() => Ok(read),
        _ => Err(format!("{field}: no certificate in PEM (-----BEGIN CERTIFICATE-----)")),
    }
}
