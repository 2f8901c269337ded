//! Links that are fetched, and links that are refused.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::common::Server;
use crate::feeds::rig::{create, ended, eventually, feeds, live, sofa, yml};

/// A server of files: every request gets the current content, and is counted.
struct Host {
    address: String,
    file: Arc<Mutex<String>>,
    asked: Arc<AtomicUsize>,
}

impl Host {
    fn start(file: &str) -> Host {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/feed.xml", listener.local_addr().unwrap());
        let (file, asked) = (Arc::new(Mutex::new(file.to_owned())), Arc::new(AtomicUsize::new(0)));
        let host = Host { address, file: Arc::clone(&file), asked: Arc::clone(&asked) };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                asked.fetch_add(1, Ordering::SeqCst);
                answer(stream, &file.lock().unwrap().clone());
            }
        });
        host
    }
}

fn answer(mut stream: TcpStream, file: &str) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
        head.push(byte[0]);
    }
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/xml\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{file}",
        file.len()
    );
    let _ = stream.write_all(answer.as_bytes());
}

/// The last fetch of ann's default feed, once there is one with this outcome.
fn fetched(server: &Server, outcome: &str) -> Value {
    eventually(outcome, || {
        let feed = feeds(server, "GetFeed", &json!({"seller": "ann"}))["feed"].clone();
        (feed["lastFetch"]["outcome"] == outcome).then_some(feed)
    })
}

#[test]
fn a_link_is_fetched_at_once_and_when_somebody_asks_and_again_only_if_the_file_is_another() {
    let host = Host::start(&yml(&[sofa("1", "Диван угловой", "10000")]));
    let settings = [
        ("TORG_STORE_URL", "memory:"),
        ("TORG_FEEDS_ALLOW_ADDRESSES", "127.0.0.0/8"),
        ("TORG_FEEDS_ANY_PORT", "true"),
    ];
    let server = Server::start(&settings);
    create(&server, &json!({"seller": "ann", "link": {"url": host.address}}));
    let feed = fetched(&server, "OUTCOME_NEW");
    assert!(feed["nextFetchTime"].is_string(), "{feed}");
    assert_eq!(ended(&server, "", "1")["origin"], "ORIGIN_LINK");
    assert_eq!(live(&server), ["Диван угловой"]);

    feeds(&server, "FetchNow", &json!({"seller": "ann"}));
    fetched(&server, "OUTCOME_UNCHANGED");
    assert_eq!(host.asked.load(Ordering::SeqCst), 2);
    *host.file.lock().unwrap() =
        yml(&[sofa("1", "Диван угловой", "9000"), sofa("2", "Диван прямой", "12000")]);
    feeds(&server, "FetchNow", &json!({"seller": "ann"}));
    let feed = fetched(&server, "OUTCOME_NEW");
    assert_eq!(feed["lastLoad"]["number"], "2", "{feed}");
    let load = ended(&server, "", "2");
    assert_eq!(
        (&load["counts"]["created"], &load["counts"]["changed"]),
        (&json!("1"), &json!("1")),
        "{load}"
    );
}

#[test]
fn a_link_to_a_private_address_is_not_fetched_and_the_feed_says_so() {
    let host = Host::start("secret");
    let server = Server::start(&[("TORG_STORE_URL", "memory:"), ("TORG_FEEDS_ANY_PORT", "true")]);
    create(&server, &json!({"seller": "ann", "link": {"url": host.address}}));
    let feed = fetched(&server, "OUTCOME_FAILED");
    assert_eq!(feed["lastFetch"]["code"], "private_address", "{feed}");
    assert!(feed["lastFetch"]["text"].as_str().unwrap().contains("127.0.0.1"), "{feed}");
    assert_eq!(host.asked.load(Ordering::SeqCst), 0);
    assert!(feed["lastLoad"].is_null(), "{feed}");
}
