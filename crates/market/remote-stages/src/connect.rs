//! Connections to plug-ins: plain, or secured by TLS, ours with a certificate if they ask for one.

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
use crate::secured::{OwnCertificate, Trouble, Watched};

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How often a connection that waits for answers is asked whether it is alive.
const ALIVE_EVERY: Duration = Duration::from_secs(10);
const ALIVE_TIMEOUT: Duration = Duration::from_secs(5);
const HTTPS_PORT: u16 = 443;

/// Makes connections.
#[derive(Clone)]
pub(crate) struct Dialler {
    tls: Option<Secured>,
}

#[derive(Clone)]
struct Secured {
    connector: TlsConnector,
    own: Arc<OwnCertificate>,
    /// The name in the server's certificate, if it is not that of the address.
    name: Option<ServerName<'static>>,
}

impl std::fmt::Debug for Dialler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.tls.is_some() { "Dialler(tls)" } else { "Dialler(plain)" })
    }
}

impl Dialler {
    pub(crate) fn plain() -> Self {
        Self { tls: None }
    }

    /// Secured in this way, or by the system's authorities.
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

    /// A connection that is made when it is needed, and made again when it broke; and where it says why it cannot be used, if it knows better than the errors of calls.
    pub(crate) fn dial(&self, address: &Uri) -> (SharedHttp2Connection, Trouble) {
        let trouble = Trouble::default();
        let builder = Http2Connection::builder()
            .establishment_timeout(CONNECT_TIMEOUT)
            .keep_alive_interval(ALIVE_EVERY)
            .keep_alive_timeout(ALIVE_TIMEOUT);
        let secured = self.tls.clone().filter(|_| address.scheme_str() == Some("https"));
        let connection = match secured {
            None => builder.lazy_plaintext(address.clone()),
            Some(secured) => {
                let (host, port) = (host(address), address.port_u16().unwrap_or(HTTPS_PORT));
                let trouble = trouble.clone();
                let dial = tower::service_fn(move |_: Uri| {
                    let (secured, host, trouble) = (secured.clone(), host.clone(), trouble.clone());
                    async move { secured.connect(&host, port, trouble).await.map(TokioIo::new) }
                });
                builder.lazy_with_connector(dial, address.clone())
            }
        };
        (connection.shared(WAITING_MAX), trouble)
    }
}

impl Secured {
    async fn connect(self, host: &str, port: u16, trouble: Trouble) -> std::io::Result<Watched> {
        trouble.forget();
        let name = match self.name {
            Some(name) => name,
            None => ServerName::try_from(host.to_owned()).map_err(std::io::Error::other)?,
        };
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        let stream = self.connector.connect(name, stream).await;
        let stream = stream.inspect_err(|error| trouble.note_handshake(error))?;
        Ok(Watched::new(stream, self.own, trouble))
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
