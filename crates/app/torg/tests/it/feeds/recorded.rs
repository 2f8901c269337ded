//! Uploads in the history of actions: who uploaded which file.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::common::{self, PATIENCE, Server};
use crate::feeds::rig::{ask, create, send, upload};

/// The recorded uploads, the oldest first, once there are this many.
fn uploads(server: &Server, count: usize) -> Vec<Value> {
    let is_upload = |action: &Value| action["method"].as_str().unwrap().ends_with("/upload");
    common::recorded(count, || {
        let answer = ask(server, "admin.v1.ObserveService/ListActions", &json!({})).json();
        let all = answer["actions"].as_array().cloned().unwrap_or_default();
        all.into_iter().rev().filter(is_upload).collect()
    })
}

fn request_of(action: &Value) -> Value {
    serde_json::from_str(action["request"].as_str().unwrap()).unwrap()
}

#[test]
fn an_upload_is_recorded_with_its_load_and_its_size_or_why_it_was_refused() {
    let server = Server::start(&[("TORG_STORE_URL", "memory:")]);
    create(&server, &json!({"seller": "ann"}));
    assert_eq!(upload(&server, "/feeds/ann/default/upload", b"anything").status, 202);
    assert_eq!(upload(&server, "/feeds/ann/none/upload", b"x").status, 404);
    assert_eq!(upload(&server, "/feeds/ann/default/upload", b"").status, 400);
    let recorded = uploads(&server, 3);
    let outcomes: Vec<(&str, &str)> = recorded
        .iter()
        .map(|action| (action["about"].as_str().unwrap(), action["outcome"].as_str().unwrap()))
        .collect();
    let wanted = [("ann/default", "ok"), ("ann/none", "not_found"), ("ann/default", "invalid_argument")];
    assert_eq!(outcomes, wanted);
    let [taken, missing, empty] = [0, 1, 2].map(|n: usize| &recorded[n]);
    assert_eq!(taken["method"], "POST /feeds/{seller}/{namespace}/upload");
    assert_eq!((&taken["author"], taken.get("error"), taken.get("through")), (&json!("local"), None, None));
    let known = json!({"seller": "ann", "namespace": "default", "bytes": 8, "load": "1"});
    assert_eq!(request_of(taken), known);
    assert_eq!(request_of(missing), json!({"seller": "ann", "namespace": "none", "bytes": 0}));
    assert!(empty["error"].as_str().unwrap().contains("the file is empty"), "{empty}");
}

/// Signs in as a seller; returns the cookie of the session.
fn sign_in(server: &Server, seller: &str) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let path = format!("/console/sign-in?as=seller&seller={seller}");
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let cookie = answer.lines().find_map(|line| line.split_once("torg_session=")).expect(&answer).1;
    format!("torg_session={}", cookie.split(';').next().unwrap())
}

#[test]
fn what_a_seller_hands_in_by_the_console_is_recorded_as_done_there() {
    let server = Server::start(&[("TORG_STORE_URL", "memory:")]);
    create(&server, &json!({"seller": "ann"}));
    let cookie = sign_in(&server, "ann");
    let head = format!("HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncookie: {cookie}\r\n");
    let page = server.ask(&format!("GET /console/feeds/ann/default {head}\r\n"));
    let token = page.body.split_once("name=\"form_token\" value=\"").expect(&page.body).1;
    let token = token.split('"').next().unwrap();
    let form = format!(
        "--XX\r\nContent-Disposition: form-data; name=\"form_token\"\r\n\r\n{token}\r\n\
         --XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.xml\"\r\n\r\nanything\r\n--XX--\r\n"
    );
    let kind = "content-type: multipart/form-data; boundary=XX";
    let length = form.len();
    let request = format!(
        "POST /console/feeds/ann/default/upload {head}{kind}\r\ncontent-length: {length}\r\n\r\n{form}"
    );
    let answer = send(&server, request.as_bytes());
    assert_eq!(answer.status, 303, "{answer:?}");
    let recorded = uploads(&server, 1);
    let [action] = &recorded[..] else { panic!("{recorded:?}") };
    assert_eq!((&action["author"], &action["through"]), (&json!("local seller"), &json!("console")));
    let known = json!({"seller": "ann", "namespace": "default", "bytes": 8, "load": "1"});
    assert_eq!((&action["outcome"], request_of(action)), (&json!("ok"), known));
}
