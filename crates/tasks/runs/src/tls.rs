//! TLS settings for connections to services.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use crate::spec::Tls;

/// The client configuration. The error says what is wrong with the settings, for people.
pub(crate) fn config(tls: Option<&Tls>) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    match tls.and_then(|tls| tls.ca_pem.as_deref()) {
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
    let own = tls.map(|tls| (tls.certificate_pem.as_deref(), tls.key_pem.as_ref()));
    match own {
        None | Some((None, None)) => Ok(builder.with_no_client_auth()),
        Some((Some(certificate), Some(key))) => {
            let chain = certificates("certificate_pem", certificate)?;
            let key = PrivateKeyDer::from_pem_slice(key.expose().as_bytes())
                .map_err(|_| "key_pem: no private key in PEM".to_owned())?;
            let with_own = builder.with_client_auth_cert(chain, key);
            with_own.map_err(|error| format!("certificate_pem, key_pem: {error}"))
        }
        Some(_) => Err("certificate_pem and key_pem: give both or none".to_owned()),
    }
}

fn certificates(field: &str, pem: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match read {
        Ok(read) if !read.is_empty() => Ok(read),
        _ => Err(format!("{field}: no certificate in PEM (-----BEGIN CERTIFICATE-----)")),
    }
}
