//! TLS, through rustls.
//!
//! `prefer`, and `require` without a file of authorities, encrypt but trust whatever certificate the server shows, as
//! every PostgreSQL client does. `require` with such a file, and `verify-full`, verify certificate and host name.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::TlsMode;
use super::errors::engine;
use crate::options::PostgresOptions;
use crate::{Error, Result};

/// What connects with TLS, if the server and the address want it.
pub(super) fn connector(mode: TlsMode, options: &PostgresOptions) -> Result<MakeRustlsConnect> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let must_verify = match mode {
        TlsMode::Disable | TlsMode::Prefer => false,
        TlsMode::Require => options.tls_ca_file.is_some(),
        TlsMode::VerifyFull => true,
    };
    let verifier: Arc<dyn ServerCertVerifier> = if must_verify {
        let roots = Arc::new(roots(options.tls_ca_file.as_deref())?);
        let built = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider)).build();
        built.map_err(|error| engine(format!("TLS: {error}")))?
    } else {
        Arc::new(AnyCertificate(Arc::clone(&provider)))
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| engine(format!("TLS: {error}")))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let config = match &options.tls_client_files {
        Some((certificate, key)) if mode != TlsMode::Disable => {
            let chain = certificates(certificate)?;
            let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
            config.with_client_auth_cert(chain, private).map_err(|error| unreadable(certificate, &error))?
        }
        _ => config.with_no_client_auth(),
    };
    Ok(MakeRustlsConnect::new(config))
}

fn roots(file: Option<&Path>) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = file {
        for certificate in certificates(file)? {
            roots.add(certificate).map_err(|error| unreadable(file, &error))?;
        }
    } else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(engine("TLS: the system has no list of trusted authorities; give a file of them"));
        }
    }
    Ok(roots)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|error| unreadable(file, &error))?;
    if read.is_empty() { Err(unreadable(file, &"there is no certificate in it")) } else { Ok(read) }
}

fn unreadable(file: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::Io { path: file.display().to_string(), detail: error.to_string() }
}

/// Takes any certificate, but still demands that the server owns its key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
