//! Keys from a JSON Web Key Set (RFC 7517). As the RFC requires, keys for other purposes or of
//! unknown kinds are skipped; a set without a usable key is an error.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use super::{Key, Material};
use crate::limits::{JWKS_BYTES_MAX, JWKS_KEYS_MAX, RSA_BITS_MAX, RSA_BITS_MIN};

#[derive(Deserialize)]
struct Set {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// The usable keys; an error if there are none.
pub(super) fn keys(text: &[u8]) -> Result<Vec<Key>, String> {
    if text.len() > JWKS_BYTES_MAX {
        return Err(format!("{} bytes, more than {JWKS_BYTES_MAX}", text.len()));
    }
    let set: Set = serde_json::from_slice(text).map_err(|error| format!("no set of keys: {error}"))?;
    if set.keys.len() > JWKS_KEYS_MAX {
        return Err(format!("{} keys, more than {JWKS_KEYS_MAX}", set.keys.len()));
    }
    let mut passed_over = Vec::new();
    let mut usable = Vec::new();
    for (place, jwk) in set.keys.into_iter().enumerate() {
        match key(jwk) {
            Ok(key) => usable.push(key),
            Err(why) => passed_over.push(format!("key {}: {why}", place + 1)),
        }
    }
    if usable.is_empty() {
        return Err(format!("no usable key ({})", passed_over.join("; ")));
    }
    if !passed_over.is_empty() {
        tracing::debug!(passed_over = passed_over.join("; "), "some keys of the set are not used");
    }
    Ok(usable)
}

fn key(jwk: serde_json::Value) -> Result<Key, &'static str> {
    let jwk: Jwk = serde_json::from_value(jwk).map_err(|_| "no key")?;
    if jwk.usage.as_deref().is_some_and(|usage| usage != "sig") {
        return Err("not for signatures");
    }
    if jwk.key_ops.as_ref().is_some_and(|ops| !ops.iter().any(|op| op == "verify")) {
        return Err("not for verifying");
    }
    let material = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
        ("RSA", _) => rsa(&bytes(jwk.n.as_ref())?, &bytes(jwk.e.as_ref())?)?,
        ("EC", Some("P-256")) => {
            let (x, y) = (bytes(jwk.x.as_ref())?, bytes(jwk.y.as_ref())?);
            if x.len() != 32 || y.len() != 32 {
                return Err("the point is broken");
            }
            p256([&[4][..], &x, &y].concat())?
        }
        ("OKP", Some("Ed25519")) => ed25519(bytes(jwk.x.as_ref())?)?,
        ("oct", _) => {
            return Err("a shared secret, which a public set cannot hold (access.hs256_secret_file)");
        }
        _ => return Err("of a kind that is not known"),
    };
    let key = Key { kid: jwk.kid, material };
    match jwk.alg {
        Some(alg) if alg != key.algorithm().name() => Err("for another algorithm"),
        _ => Ok(key),
    }
}

fn bytes(text: Option<&String>) -> Result<Vec<u8>, &'static str> {
    let text = text.ok_or("a part is absent")?;
    URL_SAFE_NO_PAD.decode(text).map_err(|_| "a part is no base64")
}

/// An RSA key of an allowed size.
pub(super) fn rsa(n: &[u8], e: &[u8]) -> Result<Material, &'static str> {
    // Some issuers include a sign byte.
    let n = n.iter().position(|byte| *byte != 0).map_or(Vec::new(), |start| n[start..].to_vec());
    let bits = n.len() * 8 - n.first().map_or(0, |first| first.leading_zeros() as usize);
    if !(RSA_BITS_MIN..=RSA_BITS_MAX).contains(&bits) {
        return Err("the RSA key has less than 2048 or more than 8192 bits");
    }
    if !matches!(e, [3] | [1, 0, 1]) {
        return Err("the RSA key has an odd exponent");
    }
    Ok(Material::Rsa { n, e: e.to_vec() })
}

/// A point on P-256, uncompressed.
pub(super) fn p256(point: Vec<u8>) -> Result<Material, &'static str> {
    let fits = point.len() == 65 && point.first() == Some(&4);
    if fits { Ok(Material::P256(point)) } else { Err("the point is broken") }
}

/// A point on Ed25519.
pub(super) fn ed25519(point: Vec<u8>) -> Result<Material, &'static str> {
    if point.len() == 32 { Ok(Material::Ed25519(point)) } else { Err("the point is broken") }
}
