//! Public keys from a PEM file: `-----BEGIN PUBLIC KEY-----`, as OpenSSL writes them.

use std::path::Path;

use rustls::pki_types::pem::{PemObject, SectionKind};

use super::der::{BIT_STRING, Der, INTEGER, OBJECT_ID, SEQUENCE, magnitude, whole_bytes};
use super::jwks::{ed25519, p256, rsa};
use super::{Key, Material};
use crate::{Error, Result};

/// 1.2.840.113549.1.1.1
const RSA_ENCRYPTION: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01];
/// 1.2.840.10045.2.1
const EC_PUBLIC_KEY: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01];
/// 1.2.840.10045.3.1.7
const P256: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07];
/// 1.3.101.112
const ED25519: &[u8] = &[0x2B, 0x65, 0x70];

/// One section of a PEM file.
struct Section(SectionKind, Vec<u8>);

impl PemObject for Section {
    fn from_pem(kind: SectionKind, der: Vec<u8>) -> Option<Self> {
        Some(Self(kind, der))
    }
}

/// The public keys of a PEM file. They have no id and match every key id.
pub(super) fn keys(path: &Path, text: &[u8]) -> Result<Vec<Key>> {
    let sections: Result<Vec<Section>, _> = Section::pem_slice_iter(text).collect();
    let sections = sections.map_err(|error| Error::file(path, format!("no PEM: {error:?}")))?;
    if sections.is_empty() {
        let why = "no key in it: it should hold -----BEGIN PUBLIC KEY----- (of a PKCS#1 key: openssl rsa -RSAPublicKey_in -pubout)";
        return Err(Error::file(path, why));
    }
    sections.into_iter().map(|section| key(section).map_err(|why| Error::file(path, why))).collect()
}

fn key(Section(kind, der): Section) -> Result<Key, &'static str> {
    match kind {
        SectionKind::PublicKey => {
            let material =
                from_spki(&der).ok_or("the public key is broken, or of a kind that is not known")??;
            Ok(Key { kid: None, material })
        }
        SectionKind::Certificate => {
            Err("it holds a certificate: take the key out with openssl x509 -pubkey -noout")
        }
        SectionKind::PrivateKey | SectionKind::RsaPrivateKey | SectionKind::EcPrivateKey => Err(
            "it holds a private key, which belongs to the issuer alone: give the public one (openssl pkey -pubout)",
        ),
        _ => Err("it holds something else than a public key"),
    }
}

/// `None` if it is not a known public key; an error if the key is too weak.
fn from_spki(der: &[u8]) -> Option<Result<Material, &'static str>> {
    let mut outer = Der::new(der);
    let mut spki = Der::new(outer.take(SEQUENCE)?);
    let mut algorithm = Der::new(spki.take(SEQUENCE)?);
    let bits = whole_bytes(spki.take(BIT_STRING)?)?;
    if !outer.is_empty() || !spki.is_empty() {
        return None;
    }
    match algorithm.take(OBJECT_ID)? {
        RSA_ENCRYPTION => {
            let mut pair = Der::new(Der::new(bits).take(SEQUENCE)?);
            let (n, e) = (magnitude(pair.take(INTEGER)?)?, magnitude(pair.take(INTEGER)?)?);
            Some(rsa(n, e))
        }
        EC_PUBLIC_KEY if algorithm.take(OBJECT_ID)? == P256 => Some(p256(bits.to_vec())),
        EC_PUBLIC_KEY => Some(Err("the curve is not P-256")),
        ED25519 => Some(ed25519(bits.to_vec())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::keys::Algorithm;

    fn read(text: &str) -> Result<Vec<Algorithm>, String> {
        let keys = keys(Path::new("k.pem"), text.as_bytes());
        keys.map(|keys| keys.iter().map(Key::algorithm).collect()).map_err(|error| error.to_string())
    }

    const EC: &str = "-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
-----END PUBLIC KEY-----
";
    const ED: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
-----END PUBLIC KEY-----
";

    #[test]
    fn keys_of_several_kinds_may_stand_in_one_file() {
        assert_eq!(read(&format!("{EC}{ED}")), Ok(vec![Algorithm::Es256, Algorithm::EdDsa]));
    }

    #[test]
    fn what_is_no_public_key_is_named() {
        let private = EC.replace("PUBLIC KEY", "PRIVATE KEY");
        assert!(read(&private).unwrap_err().contains("private key, which belongs to the issuer"));
        assert!(read(&EC.replace("PUBLIC KEY", "CERTIFICATE")).unwrap_err().contains("certificate"));
        assert!(read("hello").unwrap_err().contains("no key in it"));
        assert!(read(&EC.replace("MFkw", "MFkx")).unwrap_err().contains("broken"));
        assert!(read(&EC.replace("QgAE", "QgAF")).unwrap_err().contains("point is broken"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..128)) {
            let _ = from_spki(&bytes);
            let _ = keys(Path::new("k.pem"), &bytes);
        }
    }
}
