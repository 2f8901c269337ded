//! The keys that verify tokens. A key has one algorithm; a token's `alg` is only compared with it.

mod der;
mod jwks;
mod pem;
mod source;

use std::fmt;

use ring::{hmac, signature};

pub(crate) use source::Keyring;

use crate::limits::HS256_SECRET_BYTES_MIN;

/// The supported signature algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// RSA with PKCS#1 v1.5 and SHA-256.
    Rs256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
    /// HMAC with SHA-256.
    Hs256,
}

impl Algorithm {
    /// The name in the header of a token.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
            Self::Hs256 => "HS256",
        }
    }
}

/// A key with its id, if it has one.
#[derive(Clone)]
pub(crate) struct Key {
    kid: Option<String>,
    material: Material,
}

#[derive(Clone)]
enum Material {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// An uncompressed point.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
    Hmac(hmac::Key),
}

impl Key {
    /// A shared secret for HS256; `None` if it is too short.
    pub(crate) fn from_secret(secret: &[u8]) -> Option<Self> {
        let long_enough = secret.len() >= HS256_SECRET_BYTES_MIN;
        let material = Material::Hmac(hmac::Key::new(hmac::HMAC_SHA256, secret));
        long_enough.then_some(Self { kid: None, material })
    }

    pub(crate) fn algorithm(&self) -> Algorithm {
        match &self.material {
            Material::Rsa { .. } => Algorithm::Rs256,
            Material::P256(_) => Algorithm::Es256,
            Material::Ed25519(_) => Algorithm::EdDsa,
            Material::Hmac(_) => Algorithm::Hs256,
        }
    }

    /// Whether this key may have signed a token with this key id, or without one.
    pub(crate) fn matches_id(&self, kid: Option<&str>) -> bool {
        match (self.kid.as_deref(), kid) {
            (Some(own), Some(asked)) => own == asked,
            (None, _) | (_, None) => true,
        }
    }

    /// Whether the id names exactly this key.
    pub(crate) fn is_named(&self, kid: Option<&str>) -> bool {
        kid.is_some() && self.kid.as_deref() == kid
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match &self.material {
            Material::Rsa { n, e } => signature::RsaPublicKeyComponents { n, e }.verify(
                &signature::RSA_PKCS1_2048_8192_SHA256,
                message,
                signature,
            ),
            Material::P256(point) => {
                signature::UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point)
                    .verify(message, signature)
            }
            Material::Ed25519(point) => {
                signature::UnparsedPublicKey::new(&signature::ED25519, point).verify(message, signature)
            }
            Material::Hmac(key) => hmac::verify(key, message, signature),
        };
        verified.is_ok()
    }
}

/// Names the key without showing it.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kid {
            Some(kid) => write!(f, "{} key {kid:?}", self.algorithm().name()),
            None => write!(f, "the {} key", self.algorithm().name()),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
