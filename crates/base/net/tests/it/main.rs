//! Handshakes over a pipe in memory, with certificates of throw-away authorities.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::sync::Arc;

use net::{Error, certificates, private_key, roots};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// A certificate for `localhost` and its key, as PEM.
    fn issue(&self) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }

    fn server(&self, clients: Option<&Authority>) -> ServerConfig {
        let (certificate, key) = self.issue();
        let clients = clients.map(|clients| roots(clients.0.pem().as_bytes()).unwrap());
        let chain = certificates(certificate.as_bytes()).unwrap();
        net::server(chain, private_key(key.as_bytes()).unwrap(), clients).unwrap()
    }

    fn client(&self) -> ClientConfig {
        net::client(roots(self.0.pem().as_bytes()).unwrap()).with_no_client_auth()
    }

    fn client_with_certificate(&self) -> ClientConfig {
        let (certificate, key) = self.issue();
        let builder = net::client(roots(self.0.pem().as_bytes()).unwrap());
        let chain = certificates(certificate.as_bytes()).unwrap();
        builder.with_client_auth_cert(chain, private_key(key.as_bytes()).unwrap()).unwrap()
    }
}

async fn shake(client: ClientConfig, server: ServerConfig) -> std::io::Result<()> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let connector = TlsConnector::from(Arc::new(client));
    let acceptor = TlsAcceptor::from(Arc::new(server));
    let name = ServerName::try_from("localhost").unwrap();
    let (client, server) = tokio::join!(connector.connect(name, near), acceptor.accept(far));
    client?;
    server.map(drop)
}

#[tokio::test]
async fn a_certificate_of_a_trusted_authority_is_accepted_and_another_refused() {
    let (trusted, other) = (Authority::new(), Authority::new());
    shake(trusted.client(), trusted.server(None)).await.unwrap();
    assert!(shake(trusted.client(), other.server(None)).await.is_err());
}

#[tokio::test]
async fn a_server_may_ask_its_clients_for_a_certificate() {
    let authority = Authority::new();
    shake(authority.client_with_certificate(), authority.server(Some(&authority))).await.unwrap();
    assert!(shake(authority.client(), authority.server(Some(&authority))).await.is_err());
}

#[tokio::test]
async fn a_client_may_trust_any_certificate_or_one_only() {
    let authority = Authority::new();
    shake(net::client_trusting_any().with_no_client_auth(), authority.server(None)).await.unwrap();

    let (certificate, key) = authority.issue();
    let chain = certificates(certificate.as_bytes()).unwrap();
    let only = net::client_trusting_only(chain[0].clone()).with_no_client_auth();
    let server = net::server(chain, private_key(key.as_bytes()).unwrap(), None).unwrap();
    shake(only.clone(), server).await.unwrap();
    let error = shake(only, authority.server(None)).await.unwrap_err();
    assert!(error.to_string().contains("ApplicationVerificationFailure"), "{error}");
}

#[test]
fn wrong_pem_is_refused_and_no_part_of_a_key_is_shown() {
    let (certificate, key) = Authority::new().issue();
    for wrong in ["", "hello", &key, &certificate[..60]] {
        assert!(matches!(certificates(wrong.as_bytes()), Err(Error::NoCertificate)), "{wrong}");
    }
    for wrong in ["", "hello", &certificate, &key[..60]] {
        let error = private_key(wrong.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("no private key") && !error.contains(&key[30..50]), "{error}");
    }
}

#[test]
fn the_brackets_of_an_ipv6_address_are_no_part_of_its_host() {
    assert_eq!(net::bare_host("[::1]"), "::1");
    assert_eq!(net::bare_host("localhost"), "localhost");
}
