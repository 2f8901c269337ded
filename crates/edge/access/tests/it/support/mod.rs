//! An issuer with keys of every kind, a manual clock, and a URL with prepared answers.

pub(crate) mod away;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use access::{Clock, Config, Fetch, Mode, Time};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use ring::{hmac, rsa};
use serde_json::{Value, json};

/// 2023-11-14T22:13:20Z
pub(crate) const NOW_S: i64 = 1_700_000_000;
pub(crate) const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
pub(crate) const RSA_PUBLIC_PEM: &str = include_str!("../keys/rsa_public.pem");

pub(crate) fn now() -> Time {
    Time::from_seconds(NOW_S)
}

pub(crate) fn b64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A private key.
pub(crate) enum Signer {
    Rsa(Box<RsaKeyPair>),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
    Hmac(hmac::Key),
}

impl Signer {
    pub(crate) fn rsa() -> Self {
        Self::Rsa(Box::new(RsaKeyPair::from_pkcs8(include_bytes!("../keys/rsa.pk8")).unwrap()))
    }

    pub(crate) fn ec() -> Self {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random);
        Self::Ec(key.unwrap())
    }

    pub(crate) fn ed() -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap())
    }

    pub(crate) fn hmac(secret: &[u8]) -> Self {
        Self::Hmac(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    pub(crate) fn alg(&self) -> &'static str {
        match self {
            Self::Rsa(_) => "RS256",
            Self::Ec(_) => "ES256",
            Self::Ed(_) => "EdDSA",
            Self::Hmac(_) => "HS256",
        }
    }

    /// The public key for a set.
    pub(crate) fn jwk(&self, kid: &str) -> Value {
        match self {
            Self::Rsa(pair) => {
                let public: rsa::PublicKeyComponents<Vec<u8>> = pair.public_key().into();
                json!({"kty": "RSA", "kid": kid, "use": "sig", "n": b64(public.n), "e": b64(public.e)})
            }
            Self::Ec(pair) => {
                let point = pair.public_key().as_ref();
                json!({"kty": "EC", "crv": "P-256", "kid": kid, "x": b64(&point[1..33]), "y": b64(&point[33..])})
            }
            Self::Ed(pair) => {
                json!({"kty": "OKP", "crv": "Ed25519", "kid": kid, "alg": "EdDSA", "x": b64(pair.public_key())})
            }
            Self::Hmac(_) => panic!("a secret has no public part"),
        }
    }

    pub(crate) fn sign_bytes(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature).unwrap();
                signature
            }
            Self::Ec(pair) => pair.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec(),
            Self::Ed(pair) => pair.sign(message).as_ref().to_vec(),
            Self::Hmac(key) => hmac::sign(key, message).as_ref().to_vec(),
        }
    }

    /// A token with exactly this header and these claims.
    pub(crate) fn sign(&self, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", b64(header.to_string()), b64(claims.to_string()));
        format!("{signed}.{}", b64(self.sign_bytes(signed.as_bytes())))
    }

    /// A token in order, by the key of that id.
    pub(crate) fn token(&self, kid: &str, claims: &Value) -> String {
        self.sign(&json!({"alg": self.alg(), "typ": "JWT", "kid": kid}), claims)
    }
}

pub(crate) fn jwks(keys: &[Value]) -> Vec<u8> {
    json!({ "keys": keys }).to_string().into_bytes()
}

/// Claims of a seller, valid for an hour.
pub(crate) fn claims() -> Value {
    json!({
        "iss": "https://issuer.example", "aud": "torg", "sub": "user-1", "exp": NOW_S + 3600, "nbf": NOW_S - 10,
        "roles": ["seller", "something-else"], "seller_id": "s1",
    })
}

/// The claims with one changed, or without it.
pub(crate) fn claims_but(name: &str, value: Value) -> Value {
    let mut claims = claims();
    if value.is_null() {
        claims.as_object_mut().unwrap().remove(name);
    } else {
        claims[name] = value;
    }
    claims
}

/// A configuration that demands everything that can be demanded.
pub(crate) fn strict() -> Config {
    Config {
        mode: Mode::Required,
        issuer: "https://issuer.example".to_owned(),
        audience: "torg".to_owned(),
        ..Config::default()
    }
}

pub(crate) fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// A clock that is moved by hand.
#[derive(Clone)]
pub(crate) struct Hands(Arc<AtomicI64>);

impl Hands {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicI64::new(NOW_S * 1000)))
    }

    pub(crate) fn clock(&self) -> Clock {
        let ms = Arc::clone(&self.0);
        Clock::new(move || Time::from_ms(ms.load(Ordering::SeqCst)))
    }

    pub(crate) fn forward(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

/// A URL that gives the prepared answers one after another, then repeats the last one.
#[derive(Default)]
pub(crate) struct FakeUrl {
    answers: Mutex<VecDeque<Result<Vec<u8>, String>>>,
    pub(crate) asked: Mutex<u32>,
}

impl FakeUrl {
    pub(crate) fn answering(answers: impl IntoIterator<Item = Result<Vec<u8>, String>>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into_iter().collect()), asked: Mutex::default() })
    }

    pub(crate) fn asked(&self) -> u32 {
        *self.asked.lock().unwrap()
    }
}

#[async_trait::async_trait]
impl Fetch for FakeUrl {
    async fn fetch(&self, _: &str, _: usize) -> Result<Vec<u8>, String> {
        *self.asked.lock().unwrap() += 1;
        let mut answers = self.answers.lock().unwrap();
        if answers.len() > 1 {
            return answers.pop_front().unwrap();
        }
        answers.front().cloned().unwrap_or_else(|| Err("nobody there".to_owned()))
    }
}

/// Fails every fetch.
pub(crate) fn no_url() -> Arc<dyn Fetch> {
    FakeUrl::answering([])
}
