//! Connections to plug-ins: plain, or secured by TLS, ours with a certificate if they ask for one.

use std::sync::Arc;
use std::time::Duration;

use connectrpc::client::{Http2Connection, SharedHttp2Connection};
use contract::torg::stages::v1::outside_stage::Tls;
use http::Uri;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::limits::WAITING_MAX;

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How often a connection that waits for answers is asked whether it is alive.
const ALIVE_EVERY: Duration = Duration::from_secs(10);
const ALIVE_TIMEOUT: Duration = Duration::from_secs(5);
const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

/// Makes connections.
#[derive(Clone)]
pub(crate) struct Dialler {
    tls: Option<(TlsConnector, Option<ServerName<'static>>)>,
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

    /// `name` is that of the server's certificate, if it is not that of the address.
    pub(crate) fn secured(config: Arc<ClientConfig>, name: Option<String>) -> Result<Self, String> {
        let name = name.map(|name| {
            ServerName::try_from(name.clone())
                .map_err(|_| format!("server_name: {name:?} is no name of a host"))
        });
        Ok(Self { tls: Some((TlsConnector::from(config), name.transpose()?)) })
    }

    /// A connection that is made when it is needed, and made again when it broke.
    pub(crate) fn dial(&self, address: &Uri) -> SharedHttp2Connection {
        let secured = address.scheme_str() == Some("https");
        let (host, port) =
            (host(address), address.port_u16().unwrap_or(if secured { HTTPS_PORT } else { HTTP_PORT }));
        let tls = self.tls.clone().filter(|_| secured);
        let builder = Http2Connection::builder()
            .establishment_timeout(CONNECT_TIMEOUT)
            .keep_alive_interval(ALIVE_EVERY)
            .keep_alive_timeout(ALIVE_TIMEOUT);
        let connection = match tls {
            None => builder.lazy_plaintext(address.clone()),
            Some((connector, name)) => {
                let dial = tower::service_fn(move |_: Uri| {
                    let (connector, name, host) = (connector.clone(), name.clone(), host.clone());
                    async move {
                        let name = match name {
                            Some(name) => name,
                            None => ServerName::try_from(host.clone()).map_err(std::io::Error::other)?,
                        };
                        let stream = TcpStream::connect((&*host, port)).await?;
                        stream.set_nodelay(true)?;
                        connector.connect(name, stream).await.map(TokioIo::new)
                    }
                });
                builder.lazy_with_connector(dial, address.clone())
            }
        };
        connection.shared(WAITING_MAX)
    }
}

fn host(address: &Uri) -> String {
    let host = address.host().unwrap_or_default();
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).to_owned()
}

/// Whom to trust, and who we are.
pub(crate) fn client_config(tls: Option<&Tls>) -> Result<ClientConfig, String> {
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
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots);
    let own = tls.filter(|tls| !tls.certificate_pem.is_empty() || !tls.key_pem.is_empty());
    let mut config = match own {
        None => builder.with_no_client_auth(),
        Some(tls) => {
            let chain = certificates("certificate_pem", &tls.certificate_pem)?;
            let key = PrivateKeyDer::from_pem_slice(tls.key_pem.as_bytes())
                .map_err(|_| "key_pem: no private key in PEM".to_owned())?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| format!("certificate_pem, key_pem: {error}"))?
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}

fn certificates(field: &str, pem: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match read {
        Ok(read) if !read.is_empty() => Ok(read),
        _ => Err(format!("{field}: no certificate in PEM (-----BEGIN CERTIFICATE-----)")),
    }
}
