//! Calls, uploads and files for all tests.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Answer, PATIENCE, Server, post_json};

/// Longer than a load takes on a busy machine.
pub(crate) const LOAD_PATIENCE: Duration = Duration::from_secs(120);

/// Polls until there is a result.
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + LOAD_PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn ask(server: &Server, method: &str, request: &Value) -> Answer {
    server.ask(&post_json(&format!("/torg.{method}"), &request.to_string()))
}

pub(crate) fn feeds(server: &Server, method: &str, request: &Value) -> Value {
    let answer = ask(server, &format!("feeds.v1.FeedService/{method}"), request);
    assert_eq!(answer.status, 200, "{method}: {answer:?}");
    answer.json()
}

/// The refusal of a call: its code, its reason and its text.
pub(crate) fn refusal(server: &Server, method: &str, request: &Value) -> (String, String, String) {
    let answer = ask(server, &format!("feeds.v1.FeedService/{method}"), request).json();
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    (text(&answer["code"]), text(&answer["details"][0]["debug"]["reason"]), text(&answer["message"]))
}

pub(crate) fn create(server: &Server, feed: &Value) -> Value {
    feeds(server, "CreateFeed", &json!({"feed": feed}))["feed"].clone()
}

pub(crate) fn upload(server: &Server, path: &str, file: &[u8]) -> Answer {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        file.len()
    );
    send(server, &[head.as_bytes(), file].concat())
}

/// Sends bytes; the server may leave some of them unread.
pub(crate) fn send(server: &Server, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let _ = stream.write_all(request);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut whole = Vec::new();
    let _ = stream.read_to_end(&mut whole);
    Answer::of(&whole)
}

/// Waits until a load of ann's is over.
pub(crate) fn ended(server: &Server, namespace: &str, number: &str) -> Value {
    eventually("the load ends", || {
        let request = json!({"seller": "ann", "namespace": namespace, "number": number});
        let load = feeds(server, "GetLoad", &request)["load"].clone();
        let state = load["state"].as_str().unwrap();
        ["STATE_DONE", "STATE_FAILED", "STATE_SUPERSEDED", "STATE_WAITING"].contains(&state).then_some(load)
    })
}

/// The titles of ann's live offers, in order.
pub(crate) fn live(server: &Server) -> Vec<String> {
    let (mut titles, mut page) = (Vec::new(), String::new());
    loop {
        let request = json!({"seller": "ann", "preset": "PRESET_ACTIVE", "pageSize": 200, "pageToken": page});
        let listed = ask(server, "offers.v1.CabinetService/ListOffers", &request).json();
        let offers = listed["offers"].as_array().cloned().unwrap_or_default();
        titles.extend(offers.iter().map(|offer| offer["title"].as_str().unwrap().to_owned()));
        match listed["nextPageToken"].as_str().filter(|next| !next.is_empty()) {
            Some(next) => next.clone_into(&mut page),
            None => break,
        }
    }
    titles.sort();
    titles
}

/// A file of sofas: `(id, title, price)`.
pub(crate) fn yml(offers: &[(String, String, String)]) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<yml_catalog date=\"2026-11-15 12:00\"><shop><name>Мебель</name>\
         <currencies><currency id=\"RUB\" rate=\"1\"/></currencies>\
         <categories><category id=\"1\">Диваны</category></categories>\n<offers>\n",
    );
    for (id, title, price) in offers {
        writeln!(
            text,
            "<offer id=\"{id}\" available=\"true\"><name>{title}</name><price>{price}</price><currencyId>RUB</currencyId>\
             <categoryId>1</categoryId><picture>https://example.com/{id}.jpg</picture>\
             <description>Хороший диван, в отличном состоянии, почти новый.</description></offer>"
        )
        .unwrap();
    }
    text + "</offers></shop></yml_catalog>"
}

pub(crate) fn sofa(id: &str, title: &str, price: &str) -> (String, String, String) {
    (id.to_owned(), title.to_owned(), price.to_owned())
}
