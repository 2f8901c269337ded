//! TLS from files, and fetching over it.

use crate::support;

use std::path::Path;
use std::sync::Arc;

use access::{Fetch as _, HttpsFetch, Tls, TlsConfig};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use support::file;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::{TlsAcceptor, TlsConnector};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate and its key, as PEM.
fn issue(authority: &Authority) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    (params.signed_by(&key, authority).unwrap().pem(), key.serialize_pem())
}

fn write(folder: &Path, (certificate, key): &(String, String)) -> TlsConfig {
    TlsConfig {
        cert_file: file(folder, "cert.pem", certificate),
        key_file: file(folder, "key.pem", key),
        ..TlsConfig::default()
    }
}

fn trusting(authority: &Authority) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    roots
}

fn client(
    authority: &Authority,
    certificate: Option<(CertificateDer<'static>, PrivateKeyDer<'static>)>,
) -> TlsConnector {
    let builder = net::client(trusting(authority));
    let mut config = match certificate {
        Some((certificate, key)) => builder.with_client_auth_cert(vec![certificate], key).unwrap(),
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    TlsConnector::from(Arc::new(config))
}

/// Greets over TLS within this process; tells what the client read and which protocol was agreed
/// on.
async fn greet(tls: &Tls, client: &TlsConnector) -> std::io::Result<(String, Option<Vec<u8>>)> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let acceptor = TlsAcceptor::from(tls.current());
    let server = async move {
        let mut stream = acceptor.accept(far).await?;
        stream.write_all(b"hello").await?;
        stream.shutdown().await
    };
    let asked = async {
        let mut stream = client.connect(ServerName::try_from("localhost").unwrap(), near).await?;
        let protocol = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
        let mut said = String::new();
        stream.read_to_string(&mut said).await?;
        Ok((said, protocol))
    };
    let (done, asked) = tokio::join!(server, asked);
    done.and(asked)
}

#[tokio::test]
async fn a_certificate_from_files_serves_http_2() {
    let folder = tempfile::tempdir().unwrap();
    let authority = authority();
    let tls = Tls::load(&write(folder.path(), &issue(&authority))).unwrap().unwrap();
    let (said, protocol) = greet(&tls, &client(&authority, None)).await.unwrap();
    assert_eq!((said.as_str(), protocol.as_deref()), ("hello", Some(&b"h2"[..])));
}

#[test]
fn without_files_there_is_no_tls() {
    assert!(Tls::load(&TlsConfig::default()).unwrap().is_none());
}

#[tokio::test]
async fn changed_files_are_loaded_and_broken_ones_leave_the_old_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (authority(), authority());
    let config = write(folder.path(), &issue(&first));
    let tls = Tls::load(&config).unwrap().unwrap();
    assert!(!tls.reload().unwrap(), "nothing has changed");

    let renewed = issue(&second);
    file(folder.path(), "cert.pem", &renewed.0);
    let error = tls.reload().unwrap_err();
    assert!(error.to_string().contains("cert.pem with "), "the key is still the old one: {error}");
    assert!(greet(&tls, &client(&first, None)).await.is_ok());

    file(folder.path(), "key.pem", &renewed.1);
    assert!(tls.reload().unwrap());
    assert!(greet(&tls, &client(&second, None)).await.is_ok());
    assert!(greet(&tls, &client(&first, None)).await.is_err());
    assert!(!tls.reload().unwrap());
}

#[tokio::test]
async fn clients_must_have_a_certificate_where_their_authority_is_configured() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs, strangers) = (authority(), authority(), authority());
    let client_ca_file = file(folder.path(), "ca.pem", theirs.pem());
    let config = TlsConfig { client_ca_file, ..write(folder.path(), &issue(&ours)) };
    let tls = Tls::load(&config).unwrap().unwrap();
    let certified = |by: &Authority| {
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new(vec!["client".to_owned()]).unwrap().signed_by(&key, by).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        Some((certificate.der().clone(), key))
    };
    assert!(greet(&tls, &client(&ours, certified(&theirs))).await.is_ok());
    assert!(greet(&tls, &client(&ours, None)).await.is_err());
    assert!(greet(&tls, &client(&ours, certified(&strangers))).await.is_err());
}

#[test]
fn wrong_files_are_named_with_what_is_wrong_and_no_key_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let authority = authority();
    let (good, other) = (issue(&authority), issue(&authority));
    let complaint = |certificate: &str, key: &str, ca: Option<&str>| {
        let mut config = write(folder.path(), &(certificate.to_owned(), key.to_owned()));
        if let Some(ca) = ca {
            config.client_ca_file = file(folder.path(), "ca.pem", ca);
        }
        Tls::load(&config).unwrap_err().to_string()
    };
    for (certificate, key, ca, why) in [
        ("", good.1.as_str(), None, "cert.pem: no certificate in PEM"),
        (&good.1, &good.1, None, "cert.pem: no certificate in PEM"),
        (&good.0, "", None, "key.pem: no private key in PEM"),
        (&good.0, &good.0, None, "key.pem: no private key in PEM"),
        (&good.0, &good.1[..60], None, "key.pem: no private key in PEM"),
        (&good.0, &other.1, None, "TLS: "),
        (&good.0, &good.1, Some("hello"), "ca.pem: no certificate in PEM"),
    ] {
        let said = complaint(certificate, key, ca);
        assert!(said.contains(why), "{said}");
        for line in good.1.lines().chain(other.1.lines()).filter(|line| !line.starts_with("--")) {
            assert!(!said.contains(line), "{said}");
        }
    }
    let missing = TlsConfig {
        cert_file: "/nowhere/c.pem".into(),
        key_file: "/nowhere/k.pem".into(),
        ..TlsConfig::default()
    };
    assert!(Tls::load(&missing).unwrap_err().to_string().starts_with("/nowhere/c.pem: "));
}

/// Serves one raw answer over TLS on this machine, and tells the URL.
async fn serve_once(tls: Tls, answer: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let Ok(mut stream) = TlsAcceptor::from(tls.current()).accept(stream).await else { return };
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            request.push(stream.read_u8().await.unwrap());
        }
        assert!(request.starts_with(b"GET /keys?v=1 HTTP/1.1\r\n"));
        // A client that has seen enough may hang up before the end.
        let _ = stream.write_all(&answer).await;
        let _ = stream.shutdown().await;
    });
    format!("https://localhost:{port}/keys?v=1")
}

#[tokio::test]
async fn a_document_is_fetched_over_https_and_only_from_whom_we_trust() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, others) = (authority(), authority());
    let config = write(folder.path(), &issue(&ours));
    let tls = || Tls::load(&config).unwrap().unwrap();
    let answer = |status: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
    };
    let fetch = HttpsFetch::trusting(trusting(&ours));

    let url = serve_once(tls(), answer("200 OK", "{\"keys\":[]}")).await;
    assert_eq!(fetch.fetch(&url, 1000).await.unwrap(), b"{\"keys\":[]}");
    let url = serve_once(tls(), answer("200 OK", &"x".repeat(1001))).await;
    assert!(fetch.fetch(&url, 1000).await.unwrap_err().contains("length limit"));
    let url = serve_once(tls(), answer("302 Found", "")).await;
    assert_eq!(fetch.fetch(&url, 1000).await.unwrap_err(), "the answer is 302 Found");
    let url = serve_once(tls(), Vec::new()).await;
    assert!(fetch.fetch(&url, 1000).await.is_err());

    let url = serve_once(tls(), answer("200 OK", "{}")).await;
    let error = HttpsFetch::trusting(trusting(&others)).fetch(&url, 1000).await.unwrap_err();
    assert!(error.starts_with("TLS: "), "{error}");
    assert!(fetch.fetch("http://issuer.example/", 1000).await.unwrap_err().contains("use https"));
}

#[tokio::test(start_paused = true)]
async fn a_renewed_certificate_is_taken_by_itself_after_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (authority(), authority());
    let tls = Tls::load(&write(folder.path(), &issue(&first))).unwrap().unwrap();
    write(folder.path(), &issue(&second));
    let soon = access::limits::UPKEEP_INTERVAL + std::time::Duration::from_millis(1);
    assert!(tokio::time::timeout(soon, tls.upkeep()).await.is_err(), "it never ends");
    assert!(greet(&tls, &client(&second, None)).await.is_ok());
}
