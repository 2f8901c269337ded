//! A stage over TLS, for clients with a certificate only.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use connectrpc::client::{ClientConfig, Http2Connection};
use connectrpc::{ConnectError, Protocol};
use hyper_util::rt::TokioIo;
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::RootCertStore;
use rustls::pki_types::{PrivatePkcs8KeyDer, ServerName};
use stagekit::{Answer, Description, Failure, Options, Server, Stage, Subject, Tls};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_rustls::TlsConnector;
use wire_stages::torg::stages::v1::{DescribeRequest, StageServiceClient};

struct Nothing;

#[stagekit::async_trait]
impl Stage for Nothing {
    fn describe(&self) -> Description {
        Description::new("nothing", "1")
    }

    async fn process(&self, _subject: &Subject) -> Result<Answer, Failure> {
        Ok(Answer::untouched())
    }
}

/// An authority, and a certificate of it with its key.
struct Papers {
    authority: CertifiedIssuer<'static, KeyPair>,
    certificate: rcgen::Certificate,
    key: KeyPair,
}

fn papers() -> Papers {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    Papers { authority, certificate, key }
}

fn client_config(papers: &Papers, with_certificate: bool) -> rustls::ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(papers.authority.der().clone()).unwrap();
    let builder = net::client(roots);
    let mut config = if with_certificate {
        let key = PrivatePkcs8KeyDer::from(papers.key.serialize_der());
        builder.with_client_auth_cert(vec![papers.certificate.der().clone()], key.into()).unwrap()
    } else {
        builder.with_no_client_auth()
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    config
}

async fn describe(address: SocketAddr, config: rustls::ClientConfig) -> Result<String, ConnectError> {
    let connector = TlsConnector::from(Arc::new(config));
    let dial = tower::service_fn(move |_: http::Uri| {
        let connector = connector.clone();
        async move {
            let stream = TcpStream::connect(address).await?;
            connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.map(TokioIo::new)
        }
    });
    let uri: http::Uri = format!("https://localhost:{}", address.port()).parse().unwrap();
    let connection = Http2Connection::connect_with_connector(dial, uri.clone()).await?.shared(1);
    let client = StageServiceClient::new(connection, ClientConfig::new(uri).with_protocol(Protocol::Grpc));
    let request = DescribeRequest { stage: "nothing".to_owned(), ..DescribeRequest::default() };
    Ok(client.describe(request).await?.stage)
}

#[tokio::test]
async fn only_clients_with_a_certificate_of_the_authority_are_served() {
    let (papers, folder) = (papers(), tempfile::tempdir().unwrap());
    let file = |name: &str, text: String| -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let tls = Tls {
        certificate: file("certificate.pem", papers.certificate.pem()),
        key: file("key.pem", papers.key.serialize_pem()),
        client_ca: Some(file("authority.pem", papers.authority.pem())),
    };
    let options = Options { address: "127.0.0.1:0".to_owned(), tls: Some(tls), ..Options::default() };
    let server = Server::bind(vec![Arc::new(Nothing)], options).await.unwrap();
    let address = server.address();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async { drop(stopped.await) }));

    assert_eq!(describe(address, client_config(&papers, true)).await.unwrap(), "nothing");
    assert!(describe(address, client_config(&papers, false)).await.is_err());

    stop.send(()).unwrap();
    running.await.unwrap();
}

#[tokio::test]
async fn files_that_hold_no_certificate_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key.pem");
    std::fs::write(&key, "secret").unwrap();
    let tls = Tls { certificate: key.clone(), key, client_ca: None };
    let options = Options { address: "127.0.0.1:0".to_owned(), tls: Some(tls), ..Options::default() };
    let Err(error) = Server::bind(vec![Arc::new(Nothing)], options).await else { panic!("it was taken") };
    assert!(
        error.to_string().ends_with("key.pem: no certificate in PEM (-----BEGIN CERTIFICATE-----)"),
        "{error}"
    );
}
