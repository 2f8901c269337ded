//! TLS settings of clients and servers: rustls with ring, TLS 1.2 and 1.3.
//!
//! - Trusted authorities: [`roots`] from PEM, [`system_roots`] from the operating system.
//! - Certificates and keys: [`certificates`], [`private_key`]. Errors never repeat a part of a key.
//! - Settings: [`client`], [`client_trusting_any`], [`client_trusting_only`], [`server`].
//! - Connections to `https` addresses over HTTP/2: [`Dialer`].

mod dial;
mod pem;
mod unverified;

use std::sync::Arc;

use rustls::client::WantsClientCert;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, ServerConfig};

pub use dial::{Dialer, bare_host};
pub use pem::{certificates, private_key};

use unverified::Unverified;

/// The protocols of a server, the preferred one first.
const SERVER_PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Why certificates or keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no certificate in PEM (-----BEGIN CERTIFICATE-----)")]
    NoCertificate,
    #[error("no private key in PEM that is not encrypted (-----BEGIN PRIVATE KEY-----)")]
    NoPrivateKey,
    /// A certificate that is damaged, or that does not belong to its key.
    #[error(transparent)]
    Tls(#[from] rustls::Error),
    #[error(transparent)]
    Verifier(#[from] rustls::server::VerifierBuilderError),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The authorities in PEM text, at least one.
pub fn roots(pem: &[u8]) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    certificates(pem)?.into_iter().try_for_each(|certificate| roots.add(certificate))?;
    Ok(roots)
}

/// The authorities of the operating system; empty where it has none.
#[must_use]
pub fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

/// A client that trusts these authorities. It remains to be said which certificate it shows.
pub fn client(roots: impl Into<Arc<RootCertStore>>) -> ConfigBuilder<ClientConfig, WantsClientCert> {
    client_builder().with_root_certificates(roots)
}

/// A client that trusts any certificate, as long as the server has its key.
#[must_use]
pub fn client_trusting_any() -> ConfigBuilder<ClientConfig, WantsClientCert> {
    unverified(None)
}

/// A client that trusts one certificate whatever its issuer, names and dates are, as long as the
/// server has its key. Another certificate is an `ApplicationVerificationFailure`.
#[must_use]
pub fn client_trusting_only(
    certificate: CertificateDer<'static>,
) -> ConfigBuilder<ClientConfig, WantsClientCert> {
    unverified(Some(certificate))
}

/// A server of HTTP/2 and HTTP/1.1 that shows a certificate chain. With `clients` it only serves
/// clients that show a certificate of these authorities.
pub fn server(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    clients: Option<RootCertStore>,
) -> Result<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(ring()).with_safe_default_protocol_versions()?;
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(roots) => {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), ring()).build()?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder.with_single_cert(chain, key)?;
    config.alpn_protocols = SERVER_PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Ok(config)
}

/// The cryptography of every setting here.
#[must_use]
pub fn ring() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Makes ring the cryptography of the process, for libraries that build their own settings. A
/// choice that the program made before stays.
pub fn install_ring() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn client_builder() -> ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    ClientConfig::builder_with_provider(ring())
        .with_safe_default_protocol_versions()
        .expect("ring has TLS 1.2 and 1.3")
}

fn unverified(only: Option<CertificateDer<'static>>) -> ConfigBuilder<ClientConfig, WantsClientCert> {
    let verifier = Arc::new(Unverified::new(only, ring()));
    client_builder().dangerous().with_custom_certificate_verifier(verifier)
}
