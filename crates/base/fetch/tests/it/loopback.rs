//! The real network, as far as it is on this machine.

use fetch::{Client, Request, Rules};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::world::{answer, whole};

#[tokio::test]
async fn this_machine_is_asked_only_where_the_rules_say_so() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = [0; 1024];
        let read = stream.read(&mut head).await.unwrap();
        assert!(head[..read].starts_with(b"GET /local "));
        stream.write_all(&answer("200 OK", b"local")).await.unwrap();
    });
    for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"] {
        let request = Request::get(format!("http://{host}:{port}/local"));
        let strict = Client::new(Rules { ports: vec![], ..Rules::default() });
        let error = whole(&strict, &request).await.unwrap_err();
        assert_eq!(error.code(), "private_address", "{error}");
    }
    assert!(!served.is_finished(), "nobody came so far");
    let client = Client::new(Rules::allow_loopback());
    let request = Request::get(format!("http://localhost:{port}/local"));
    assert_eq!(whole(&client, &request).await.unwrap(), b"local");
    served.await.unwrap();
}
