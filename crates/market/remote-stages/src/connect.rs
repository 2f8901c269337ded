//! Connections to remote stages, plain or over TLS, with a client certificate where one is set.

use std::sync::Arc;
use std::time::Duration;

use connectrpc::client::{Http2Connection, SharedHttp2Connection};
use http::Uri;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::sign::CertifiedKey;
use wire::torg::stages::v1::outside_stage::Tls;

use crate::limits::WAITING_MAX;
use crate::tls::{LastError, OwnCertificate, ReportingStream};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The interval of HTTP/2 pings on a connection that waits for answers.
const ALIVE_EVERY: Duration = Duration::from_secs(10);
const ALIVE_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub(crate) struct Dialer {
    tls: Option<Secured>,
}

#[derive(Clone)]
struct Secured {
    dialer: net::Dialer,
    own: Arc<OwnCertificate>,
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
        let name = tls.map(|tls| &*tls.server_name).filter(|name| !name.is_empty());
        let dialer = net::Dialer::new(config, name);
        let dialer = dialer.map_err(|error| format!("server_name: {name:?}: {error}"))?;
        Ok(Self { tls: Some(Secured { dialer, own }) })
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
                let last_error = last_error.clone();
                let dial = tower::service_fn(move |address: Uri| {
                    let (secured, last_error) = (secured.clone(), last_error.clone());
                    async move { secured.connect(&address, last_error).await.map(TokioIo::new) }
                });
                builder.lazy_with_connector(dial, address.clone())
            }
        };
        (connection.shared(WAITING_MAX), last_error)
    }
}

impl Secured {
    async fn connect(self, address: &Uri, last_error: LastError) -> std::io::Result<ReportingStream> {
        last_error.forget();
        let stream = self.dialer.connect(address).await;
        let stream = stream.inspect_err(|error| last_error.note_handshake(error))?;
        Ok(ReportingStream::new(stream, self.own, last_error))
    }
}

/// The settings, and the certificate that is shown if there is one.
fn client_config(tls: Option<&Tls>) -> Result<(ClientConfig, Arc<OwnCertificate>), String> {
    let authorities = tls.map(|tls| tls.ca_pem.as_bytes()).filter(|pem| !pem.is_empty());
    let roots = match authorities {
        Some(pem) => net::roots(pem).map_err(|error| format!("ca_pem: {error}"))?,
        None => net::system_roots(),
    };
    let own = tls.filter(|tls| !tls.certificate_pem.is_empty() || !tls.key_pem.is_empty());
    let key = match own {
        None => None,
        Some(tls) => {
            let chain = net::certificates(tls.certificate_pem.as_bytes());
            let chain = chain.map_err(|error| format!("certificate_pem: {error}"))?;
            let key = net::private_key(tls.key_pem.as_bytes());
            let key = key.map_err(|error| format!("key_pem: {error}"))?;
            let both = CertifiedKey::from_der(chain, key, &net::ring());
            Some(both.map_err(|error| format!("certificate_pem, key_pem: {error}"))?)
        }
    };
    let own = Arc::new(OwnCertificate::new(key));
    let config = net::client(roots).with_client_cert_resolver(Arc::<OwnCertificate>::clone(&own));
    Ok((config, own))
}
