//! Plug-ins over TLS: whom Torg trusts, and how it says who it is.

use std::sync::Arc;
use std::time::Duration;

use catalog::Catalogue;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use remote_stages::{Plugin, StageSpec};
use wire::torg::stages::v1 as proto;
use wire::torg::stages::v1::outside_stage::Tls;

use crate::support::{Script, Serving, declared, serve_secured, titles};

const EXPOSURE: Duration = Duration::from_secs(180 * 24 * 3600);

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

    fn trusted(&self) -> Tls {
        Tls { ca_pem: self.0.pem(), ..Tls::default() }
    }
}

/// A plug-in with a certificate for a name, which asks its callers for one of an authority if there
/// is one.
async fn plugin_for(name: &str, authority: &Authority, clients: Option<&Authority>) -> Serving {
    let (certificate, key) = authority.issue(name);
    let chain = net::certificates(certificate.as_bytes()).unwrap();
    let key = net::private_key(key.as_bytes()).unwrap();
    let clients = clients.map(|clients| net::roots(clients.0.pem().as_bytes()).unwrap());
    let mut config = net::server(chain, key, clients).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    serve_secured(Script::new("titles", titles("x")), config).await
}

fn at(url: String, tls: Option<Tls>) -> proto::OutsideStage {
    proto::OutsideStage { tls: tls.into(), ..declared("titles", &[url], &["title"]) }
}

/// What a plug-in says of itself; or why it cannot be asked, in the words that people are shown.
async fn asked(url: String, tls: Option<Tls>) -> Result<String, String> {
    let outside = StageSpec::check(&at(url, tls)).unwrap();
    let plugin = Plugin::new(&outside, None, &Arc::new(Catalogue::builtin().unwrap()), EXPOSURE);
    plugin.describe(&outside).await.map(|described| described.version().to_owned())
}

fn localhost(serving: &Serving) -> String {
    format!("https://localhost:{}", serving.address.port())
}

#[tokio::test]
async fn a_plugin_is_trusted_by_the_authority_that_was_given_and_by_no_other() {
    let (ours, another) = (Authority::new(), Authority::new());
    let serving = plugin_for("localhost", &ours, None).await;
    assert_eq!(asked(localhost(&serving), Some(ours.trusted())).await, Ok("1.0".to_owned()));
    for tls in [Some(another.trusted()), Some(Tls::default()), None] {
        let why = asked(localhost(&serving), tls).await.unwrap_err();
        assert!(why.contains("certificate") && why.contains("authority"), "{why}");
        assert!(why.contains("ca_pem"), "{why}");
    }
}

#[tokio::test]
async fn the_certificate_has_to_be_for_the_address_or_for_the_name_that_was_given() {
    let ours = Authority::new();
    let serving = plugin_for("titles.example", &ours, None).await;
    let why = asked(localhost(&serving), Some(ours.trusted())).await.unwrap_err();
    assert!(why.contains("localhost") && why.contains("titles.example"), "{why}");
    assert!(why.contains("server_name"), "{why}");
    let named = |name: &str| Some(Tls { server_name: name.to_owned(), ..ours.trusted() });
    assert_eq!(asked(localhost(&serving), named("titles.example")).await, Ok("1.0".to_owned()));
    let why = asked(localhost(&serving), named("prices.example")).await.unwrap_err();
    assert!(why.contains("prices.example") && why.contains("titles.example"), "{why}");
}

#[tokio::test]
async fn an_address_of_digits_is_checked_as_well() {
    let ours = Authority::new();
    let serving = plugin_for("127.0.0.1", &ours, None).await;
    let url = format!("https://{}", serving.address);
    assert_eq!(asked(url, Some(ours.trusted())).await, Ok("1.0".to_owned()));
}

#[tokio::test]
async fn a_plugin_that_asks_for_a_certificate_gets_ours_and_says_so_when_there_is_none() {
    let (ours, another) = (Authority::new(), Authority::new());
    let serving = plugin_for("localhost", &ours, Some(&ours)).await;
    let with = |(certificate_pem, key_pem): (String, String)| {
        Some(Tls { certificate_pem, key_pem, ..ours.trusted() })
    };
    assert_eq!(asked(localhost(&serving), with(ours.issue("torg"))).await, Ok("1.0".to_owned()));
    let none = asked(localhost(&serving), Some(ours.trusted())).await.unwrap_err();
    assert!(none.contains("asks for a certificate") && none.contains("certificate_pem"), "{none}");
    let strange = asked(localhost(&serving), with(another.issue("torg"))).await.unwrap_err();
    assert!(strange.contains("refused our certificate"), "{strange}");
}

#[tokio::test]
async fn tls_where_there_is_none_says_so() {
    let serving = crate::support::serve(Script::new("titles", titles("x")), None).await;
    let why = asked(localhost(&serving), Some(Authority::new().trusted())).await.unwrap_err();
    assert!(why.contains("no TLS") && why.contains("http://"), "{why}");
}

#[tokio::test]
async fn certificates_that_cannot_be_used_are_refused_when_the_stage_is_declared() {
    let ours = Authority::new();
    let (certificate_pem, key_pem) = ours.issue("torg");
    let (_, other_key) = ours.issue("torg");
    let url = "https://localhost:1".to_owned();
    let wrong = |tls: Tls| {
        let wrong = StageSpec::check(&at(url.clone(), Some(tls))).unwrap_err();
        wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    let not_pem = wrong(Tls { ca_pem: "not PEM".to_owned(), ..Tls::default() });
    assert!(not_pem.contains("tls: ca_pem: no certificate in PEM"), "{not_pem}");
    let keyless = wrong(Tls { certificate_pem: certificate_pem.clone(), ..ours.trusted() });
    assert!(keyless.contains("key_pem: no private key"), "{keyless}");
    let nameless = wrong(Tls { key_pem, ..ours.trusted() });
    assert!(nameless.contains("certificate_pem: no certificate"), "{nameless}");
    let foreign = wrong(Tls { certificate_pem, key_pem: other_key, ..ours.trusted() });
    assert!(foreign.contains("certificate_pem, key_pem"), "{foreign}");
    let nowhere = wrong(Tls { server_name: "no name".to_owned(), ..ours.trusted() });
    assert!(nowhere.contains("server_name"), "{nowhere}");
}
