//! Credentials, conditions, and TLS.

use std::sync::Arc;

use fetch::{BasicAuth, Fetched, Request, Rules, Validators};
use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::world::{World, answer, moved, whole};

fn auth() -> BasicAuth {
    BasicAuth { user: "ann".to_owned(), password: "secret".to_owned() }
}

#[tokio::test(start_paused = true)]
async fn credentials_go_to_their_own_host_and_to_no_other() {
    let world = World::default();
    world.name("example.com", &[&["93.184.216.34"]]).name("other.org", &[&["93.184.216.35"]]);
    world.server("93.184.216.34:80", |head, mut pipe| async move {
        let bytes = if head.starts_with("GET /a ") { moved("/b") } else { moved("http://other.org/c") };
        pipe.write_all(&bytes).await.unwrap();
    });
    world.says("93.184.216.35:80", answer("200 OK", b"c"));
    let request = Request::get("http://example.com/a").auth(auth());
    assert_eq!(whole(&world.client(Rules::default()), &request).await.unwrap(), b"c");
    let with: Vec<bool> =
        world.heads().iter().map(|head| head.contains("authorization: Basic YW5uOnNlY3JldA==")).collect();
    assert_eq!(with, [true, true, false]);
    assert!(!format!("{request:?}").contains("secret"));
}

#[tokio::test(start_paused = true)]
async fn what_has_not_changed_is_not_sent_again() {
    let world = World::default();
    world.name("example.com", &[&["93.184.216.34"]]).server(
        "93.184.216.34:80",
        |head, mut pipe| async move {
            let bytes = if head.contains("if-none-match: \"v1\"\r\n") {
                b"HTTP/1.1 304 Not Modified\r\n\r\n".to_vec()
            } else {
                answer("200 OK\r\nETag: \"v1\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT", b"file")
            };
            pipe.write_all(&bytes).await.unwrap();
        },
    );
    let client = world.client(Rules::default());
    let request = Request::get("http://example.com/");
    let Fetched::Found(download) = client.send(&request).await.unwrap() else { panic!("it is new") };
    assert_eq!(download.validators.etag.as_deref(), Some("\"v1\""));
    let again = request.unless(download.validators.clone());
    assert!(matches!(client.send(&again).await.unwrap(), Fetched::NotModified));
    assert!(world.heads()[1].contains("if-modified-since: Sun, 06 Nov 1994"), "{}", world.heads()[1]);
    let other = Validators { etag: Some("\"v0\"".to_owned()), last_modified: None };
    let request = Request::get("http://example.com/").unless(other);
    assert!(matches!(client.send(&request).await.unwrap(), Fetched::Found(_)));
}

#[tokio::test(start_paused = true)]
async fn a_head_request_asks_for_no_body() {
    let world = World::default();
    world.name("example.com", &[&["93.184.216.34"]]);
    world.says(
        "93.184.216.34:80",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\nContent-Type: video/mp4\r\n\r\n",
    );
    let client = world.client(Rules::default());
    let Fetched::Found(download) = client.send(&Request::head("http://example.com/v")).await.unwrap() else {
        panic!("it is there");
    };
    assert_eq!(
        (download.declared_bytes, download.declared_type.as_deref()),
        (Some(99_999_999_999), Some("video/mp4"))
    );
    assert!(world.heads()[0].starts_with("HEAD /v "));
}

/// A server with TLS on this machine, which always answers the same.
async fn tls_server(bytes: Vec<u8>) -> (u16, CertificateDer<'static>) {
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // A client that does not trust the certificate hangs up.
            let _ = serve_tls(&acceptor, stream, &bytes).await;
        }
    });
    (port, certificate.der().clone())
}

async fn serve_tls(acceptor: &TlsAcceptor, stream: TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    let mut stream = acceptor.accept(stream).await?;
    let mut head = [0; 2048];
    let _ = stream.read(&mut head).await?;
    stream.write_all(bytes).await?;
    stream.shutdown().await
}

#[tokio::test]
async fn https_needs_a_certificate_that_is_trusted_and_of_that_name() {
    let (port, certificate) = tls_server(answer("200 OK", b"a safe file")).await;
    let url = format!("https://localhost:{port}/");
    let error = whole(&fetch::Client::new(Rules::allow_loopback()), &Request::get(&url)).await.unwrap_err();
    assert_eq!(error.code(), "tls", "{error}");
    let rules = Rules { extra_roots: vec![certificate], ..Rules::allow_loopback() };
    let client = fetch::Client::new(rules);
    assert_eq!(whole(&client, &Request::get(&url)).await.unwrap(), b"a safe file");
    let other = Request::get(format!("https://127.0.0.1:{port}/"));
    assert_eq!(whole(&client, &other).await.unwrap_err().code(), "tls", "the name is another one");
}

#[tokio::test]
async fn with_credentials_https_is_not_left() {
    let (port, certificate) = tls_server(moved("http://localhost:1/")).await;
    let rules = Rules { extra_roots: vec![certificate], ..Rules::allow_loopback() };
    let client = fetch::Client::new(rules);
    let request = Request::get(format!("https://localhost:{port}/"));
    let error = whole(&client, &request.clone().auth(auth())).await.unwrap_err();
    assert_eq!(error.code(), "downgrade", "{error}");
    assert_eq!(
        whole(&client, &request).await.unwrap_err().code(),
        "unreachable",
        "without them it is followed"
    );
}
