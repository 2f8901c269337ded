//! The port with TLS: both versions of HTTP, real clients, and connections without TLS.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use crate::access::issuer::Authority;
use crate::common::{Ended, PATIENCE, Server, run, torg};

const FILES: [(&str, &str); 2] = [("TORG_TLS_CERT_FILE", "cert.pem"), ("TORG_TLS_KEY_FILE", "key.pem")];

fn serving(authority: &Authority) -> Server {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    authority.write_certificate(folder.path());
    // Longer than any test: no test may rely on the timeout.
    Server::start_in(&folder, &[FILES[0], FILES[1], ("TORG_LIMITS_DRAIN_TIMEOUT_S", "600")])
}

type Stream = StreamOwned<ClientConnection, TcpStream>;

/// A connection over TLS that agrees on HTTP/1.1.
fn connect(server: &Server, authority: &Authority) -> Stream {
    let tcp = TcpStream::connect(server.address).unwrap();
    tcp.set_read_timeout(Some(PATIENCE)).unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    StreamOwned::new(ClientConnection::new(authority.client(b"http/1.1"), name).unwrap(), tcp)
}

fn ready(stream: &mut Stream) -> std::io::Result<String> {
    stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n")?;
    let mut answer = String::new();
    while !answer.ends_with("\"problems\":[]}\n") {
        let mut some = [0; 1024];
        let count = stream.read(&mut some)?;
        assert!(count > 0, "the answer ends early: {answer}");
        answer.push_str(std::str::from_utf8(&some[..count]).unwrap());
    }
    Ok(answer)
}

#[test]
fn http_1_and_grpc_are_served_over_tls() {
    let authority = Authority::new();
    let server = serving(&authority);
    let mut stream = connect(&server, &authority);
    assert!(ready(&mut stream).unwrap().starts_with("HTTP/1.1 200"));
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));

    let url = format!("https://localhost:{}", server.address.port());
    let list =
        |more: &[&str]| run(torg(&server.folder, &[&["keys", "list", "--server", &url], more].concat()));
    let Ended { code, stderr, .. } = list(&["--ca-file", "ca.pem"]);
    assert_eq!(code, Some(0), "{stderr}");
    let stranger = list(&[]);
    assert_eq!(stranger.code, Some(1));
    assert!(stranger.stderr.contains("invalid peer certificate"), "{}", stranger.stderr);
    assert!(
        stranger.stderr.contains("hint: ") && stranger.stderr.contains("--ca-file"),
        "{}",
        stranger.stderr
    );
    let plainly = run(torg(&server.folder, &["keys", "list", "--server", &server.url()]));
    assert_eq!(plainly.code, Some(1));
    assert!(plainly.stderr.contains("hint: ") && plainly.stderr.contains("https://"), "{}", plainly.stderr);
    let absent = list(&["--ca-file", "absent.pem"]);
    assert!(absent.stderr.contains("absent.pem: No such file"), "{}", absent.stderr);
}

#[test]
fn a_client_that_does_not_trust_the_certificate_is_not_served() {
    let server = serving(&Authority::new());
    let error = ready(&mut connect(&server, &Authority::new())).unwrap_err();
    assert!(error.to_string().contains("invalid peer certificate"), "{error}");
}

#[test]
fn plain_text_on_the_port_of_tls_is_hung_up_on_and_harms_nobody() {
    let authority = Authority::new();
    let server = serving(&authority);
    let mut plain = TcpStream::connect(server.address).unwrap();
    plain.set_read_timeout(Some(PATIENCE)).unwrap();
    plain.write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    // Closed, or reset because not all of it was read.
    let _ = plain.read_to_end(&mut answer);
    assert!(answer.len() < 16 && !answer.starts_with(b"HTTP"), "{answer:?}");
    assert!(ready(&mut connect(&server, &authority)).is_ok());
}

#[test]
fn a_renewed_certificate_is_served_without_a_restart() {
    let (first, second) = (Authority::new(), Authority::new());
    let server = serving(&first);
    let mut begun = connect(&server, &first);
    ready(&mut begun).unwrap();
    second.write_certificate(server.folder.path());
    server.log_line("the certificate has changed and was loaded again");
    assert!(ready(&mut connect(&server, &second)).is_ok());
    assert!(ready(&mut connect(&server, &first)).is_err());
    assert!(ready(&mut begun).is_ok(), "a running connection keeps what it began with");
}

#[test]
fn tls_does_not_hold_up_the_end() {
    let authority = Authority::new();
    let mut server = serving(&authority);
    let mut kept_alive = connect(&server, &authority);
    ready(&mut kept_alive).unwrap();
    let mut half_a_handshake = TcpStream::connect(server.address).unwrap();
    half_a_handshake.write_all(&[0x16, 0x03]).unwrap();
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_certificate_that_cannot_be_used_is_told_before_the_port_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    Authority::new().write_certificate(folder.path());
    std::fs::write(folder.path().join("key.pem"), "no key").unwrap();
    let mut command = torg(&folder, &["serve", "--listen", "127.0.0.1:0"]);
    command.envs(FILES);
    let Ended { code, stderr, .. } = run(command);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(
        stderr.contains("error: key.pem: no private key in PEM") && stderr.contains("hint: "),
        "{stderr}"
    );
}
