//! Certificates and private keys in PEM text.

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::{Error, Result};

/// The certificates in PEM text, at least one.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    read.ok().filter(|read| !read.is_empty()).ok_or(Error::NoCertificate)
}

/// The first private key in PEM text.
pub fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>> {
    // The parser's own error might show a part of the key.
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| Error::NoPrivateKey)
}
