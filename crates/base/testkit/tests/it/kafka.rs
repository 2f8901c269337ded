//! The Kafka broker that tests get, tried on a real one. A Kafka client is the business of the
//! `topics` crate: here the protocol's smallest request (`ApiVersions`) shows that the broker
//! answers.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use testkit::{Kafka, KafkaOptions};

/// Asks for the versions of the protocol and returns the error code of the answer (0: fine).
fn ask_versions(address: &str) -> std::io::Result<i16> {
    const CORRELATION: i32 = 7;
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut request = Vec::new();
    request.extend(18_i16.to_be_bytes()); // ApiVersions
    request.extend(0_i16.to_be_bytes()); // its version
    request.extend(CORRELATION.to_be_bytes());
    request.extend((-1_i16).to_be_bytes()); // no client id
    stream.write_all(&(request.len() as i32).to_be_bytes())?;
    stream.write_all(&request)?;
    let mut answer = [0_u8; 10]; // length, correlation, error code
    stream.read_exact(&mut answer)?;
    assert_eq!(answer[4..8], CORRELATION.to_be_bytes());
    Ok(i16::from_be_bytes([answer[8], answer[9]]))
}

#[test]
fn a_broker_answers_before_and_after_a_stop_and_a_kill() {
    let Some(broker) = testkit::or_skip(Kafka::start()) else { return };
    let address = broker.bootstrap();
    assert_eq!(ask_versions(&address).unwrap(), 0);
    broker.stop();
    assert!(TcpStream::connect(&address).is_err(), "a stopped broker does not listen");
    broker.start_again();
    assert_eq!(ask_versions(&address).unwrap(), 0);
    broker.kill();
    assert!(TcpStream::connect(&address).is_err(), "a killed broker does not listen");
    broker.start_again();
    assert_eq!(ask_versions(&address).unwrap(), 0);
    drop(broker);
    assert!(TcpStream::connect(&address).is_err(), "a dropped broker does not listen");
}

#[test]
fn a_secure_broker_takes_no_plain_connections() {
    let Some(broker) =
        testkit::or_skip(Kafka::start_with(&KafkaOptions { secure: true, ..KafkaOptions::default() }))
    else {
        return;
    };
    assert_eq!(broker.user(), Some(("torg", "torg-test")));
    let folder = broker.tls().unwrap().ca.parent().unwrap().to_path_buf();
    ask_versions(&broker.bootstrap()).expect_err("plain bytes are no TLS handshake");
    drop(broker);
    assert!(!folder.exists(), "nothing stays behind");
}
