//! A test issuer of signed tokens, and a test certificate authority.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};

fn b64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Signs tokens with one Ed25519 key.
pub(crate) struct Issuer {
    key: Ed25519KeyPair,
}

impl Issuer {
    pub(crate) fn new() -> Issuer {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Issuer { key: Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap() }
    }

    /// The key set (JWKS) of this issuer.
    pub(crate) fn keys(&self) -> String {
        let key = json!({"kty": "OKP", "crv": "Ed25519", "kid": "k1", "x": b64(self.key.public_key())});
        json!({ "keys": [key] }).to_string()
    }

    pub(crate) fn write_keys(&self, folder: &Path) -> PathBuf {
        let path = folder.join("jwks.json");
        std::fs::write(&path, self.keys()).unwrap();
        path
    }

    /// A URL on this machine that serves the keys for the duration of the test.
    pub(crate) fn serve_keys(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        let keys = self.keys();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let head = BufReader::new(&stream).lines().map_while(Result::ok);
                assert!(head.take_while(|line| !line.is_empty()).any(|line| line.starts_with("GET /keys ")));
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{keys}", keys.len());
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        url
    }

    /// A token for these roles that expires this many seconds from now.
    pub(crate) fn token(&self, roles: &[&str], ends_in_s: i64) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().cast_signed();
        let subject = format!("somebody with {roles:?}");
        self.sign(&json!({"sub": subject, "exp": now + ends_in_s, "roles": roles, "seller_id": "s1"}))
    }

    /// A token for an hour, for this subject with these roles, who acts as this seller if one is
    /// given.
    pub(crate) fn token_of(&self, subject: &str, roles: &[&str], seller: Option<&str>) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        self.sign(&json!({"sub": subject, "exp": now + 3600, "roles": roles, "seller_id": seller}))
    }

    fn sign(&self, claims: &Value) -> String {
        let header = json!({"alg": "EdDSA", "typ": "JWT", "kid": "k1"});
        let signed = format!("{}.{}", b64(header.to_string()), b64(claims.to_string()));
        format!("{signed}.{}", b64(self.key.sign(signed.as_bytes())))
    }
}

/// Issues certificates for `localhost`.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Writes `cert.pem`, `key.pem` and, for clients, `ca.pem`.
    pub(crate) fn write_certificate(&self, folder: &Path) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        std::fs::write(folder.join("cert.pem"), certificate.pem()).unwrap();
        std::fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
        std::fs::write(folder.join("ca.pem"), self.0.pem()).unwrap();
    }

    /// A client that trusts this authority and speaks only this protocol.
    pub(crate) fn client(&self, protocol: &[u8]) -> Arc<rustls::ClientConfig> {
        let roots = net::roots(self.0.pem().as_bytes()).unwrap();
        let mut config = net::client(roots).with_no_client_auth();
        config.alpn_protocols = vec![protocol.to_vec()];
        Arc::new(config)
    }
}
