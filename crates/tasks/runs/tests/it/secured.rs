//! Services over TLS: whom Torg trusts, and how it says who it is.

use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use runs::{Action, Grpc, Http, Reason, Spec, Tls};
use rustls::ServerConfig;

use crate::common::{Place, id};
use crate::grpc::{done_at_once, serve};
use crate::server::{Answer, Service, secured};

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// A certificate for a name, and its key, as PEM.
    fn issue(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }

    /// A server for `localhost` that asks its callers for a certificate of this authority.
    fn server(&self, protocol: &[u8]) -> ServerConfig {
        let roots = net::roots(self.0.pem().as_bytes()).unwrap();
        let (certificate, key) = self.issue("localhost");
        let chain = net::certificates(certificate.as_bytes()).unwrap();
        let key = net::private_key(key.as_bytes()).unwrap();
        let mut config = net::server(chain, key, Some(roots)).unwrap();
        config.alpn_protocols = vec![protocol.to_vec()];
        config
    }

    fn tls(&self) -> Tls {
        let (certificate, key) = self.issue("torg");
        let key_pem = Some(key.into());
        Tls { ca_pem: Some(self.0.pem()), certificate_pem: Some(certificate), key_pem, server_name: None }
    }
}

fn short(what: Action) -> Spec {
    Spec { timeout: Duration::from_secs(60), ..Spec::new("task", what) }
}

#[tokio::test]
async fn services_are_trusted_by_the_authority_that_was_given_and_know_us_by_our_certificate() {
    let (place, authority) = (Place::new(), Authority::new());
    let service = Service::start(|_, _| Answer::Status(200)).await;
    let port = secured(service.address, authority.server(b"http/1.1")).await.port();
    let http = Http { tls: Some(authority.tls()), ..Http::post(format!("https://localhost:{port}/")) };
    assert_eq!(place.execute("r1", &short(Action::Http(http))).await.reason, Reason::Done);
    let (address, _serving) = serve(&done_at_once("r2"), None).await;
    let port = secured(address, authority.server(b"h2")).await.port();
    let grpc = Grpc { tls: Some(authority.tls()), ..Grpc::at(format!("https://localhost:{port}")) };
    assert_eq!(place.execute("r2", &short(Action::Grpc(grpc))).await.reason, Reason::Done);
    // At an address that its certificate does not name, it is known by the name that was given.
    let (address, _serving) = serve(&done_at_once("r3"), None).await;
    let port = secured(address, authority.server(b"h2")).await.port();
    let tls = Tls { server_name: Some("localhost".to_owned()), ..authority.tls() };
    let grpc = Grpc { tls: Some(tls), ..Grpc::at(format!("https://127.0.0.1:{port}")) };
    assert_eq!(place.execute("r3", &short(Action::Grpc(grpc))).await.reason, Reason::Done);
}

#[tokio::test]
async fn a_service_of_an_unknown_authority_gets_nothing() {
    let (place, authority) = (Place::new(), Authority::new());
    let service = Service::start(|_, _| Answer::Status(200)).await;
    let port = secured(service.address, authority.server(b"http/1.1")).await.port();
    let http = Http { tls: Some(Authority::new().tls()), ..Http::post(format!("https://localhost:{port}/")) };
    let handle = place.runner.start(&id("r1"), &short(Action::Http(http))).await.unwrap();
    place.until_said("r1", "certificate").await;
    handle.kill().await.unwrap();
    handle.wait().await.unwrap();
    assert_eq!(service.asked().len(), 0);
}

#[tokio::test]
async fn certificates_that_cannot_be_read_are_refused_before_the_run_is_claimed() {
    let place = Place::new();
    let refused = async |tls: Tls| {
        let http = Http { tls: Some(tls), ..Http::post("https://localhost/") };
        place.runner.start(&id("r1"), &short(Action::Http(http))).await.err().unwrap().to_string()
    };
    let no_authority = Tls { ca_pem: Some("x".to_owned()), ..Tls::default() };
    assert!(refused(no_authority).await.starts_with("tls: ca_pem: no certificate"));
    let half = Tls { certificate_pem: Some("x".to_owned()), ..Tls::default() };
    assert!(refused(half).await.contains("give both or none"));
}
