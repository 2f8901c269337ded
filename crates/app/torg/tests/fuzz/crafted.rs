//! Hand-made hostile requests: as deep, as long, as large and as wrong as possible.

use std::io::Write as _;
use std::net::TcpStream;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::PROTOCOLS;
use crate::common::PATIENCE;
use crate::common::described::Method;
use crate::common::wire::{Protocol, frame, framed};
use crate::raw::{put_block, put_varint};
use crate::rig::{Line, Rig};
use crate::valid::{self, Things};

/// The largest request that the process accepts in these tests.
const REQUEST_BYTES_MAX: usize = 256 << 10;
/// The size of a compressed message after decompression.
const BOMB_BYTES: usize = 64 << 20;
/// The nesting depth of hostile requests.
const DEPTH: usize = 20_000;
/// The memory that the process may have more after the second time than after the first.
const GROWTH_MAX_BYTES: usize = 64 << 20;

type Headers = Vec<(&'static str, &'static str)>;

/// Bodies that are invalid for every method, with a description.
fn bodies(method: &Method, valid: &Value, binary: &[u8]) -> Vec<(&'static str, Protocol, Bytes)> {
    let json = |text: String| Bytes::from(text.into_bytes());
    let mut groups = Vec::new();
    (0..DEPTH).for_each(|_| put_varint(3 << 3 | 3, &mut groups));
    let mut nested = Vec::new();
    for _ in 0..500 {
        let mut outer = Vec::new();
        put_block(1, &nested, &mut outer);
        nested = outer;
    }
    let mut many = Vec::new();
    (0..100_000).for_each(|_| put_block(1, &[], &mut many));
    let long = "x".repeat(REQUEST_BYTES_MAX - 1000);
    let mut promised = Vec::new();
    put_varint(1 << 3 | 2, &mut promised);
    put_varint(u64::MAX, &mut promised);
    let mut plain = vec![
        ("deep arrays", Protocol::Json, json("[".repeat(DEPTH))),
        ("deep objects", Protocol::Json, json("{\"offer\":".repeat(DEPTH))),
        (
            "deep and closed",
            Protocol::Json,
            json(format!("{{\"id\":{}{}}}", "[".repeat(DEPTH), "]".repeat(DEPTH))),
        ),
        ("a long key", Protocol::Json, json(format!("{{\"{long}\":1}}"))),
        ("a long text", Protocol::Json, json(format!("{{\"id\":\"{long}\",\"seller\":\"{long}\"}}"))),
        ("a long number", Protocol::Json, json(format!("{{\"version\":{}}}", "9".repeat(100_000)))),
        ("the same key twice", Protocol::Json, json("{\"id\":\"1\",\"id\":\"2\"}".to_owned())),
        (
            "half a pair",
            Protocol::Json,
            json("{\"id\":\"\\ud800\",\"seller\":\"\\udc00\\ud800\"}".to_owned()),
        ),
        ("NUL", Protocol::Json, json("{\"id\":\"\\u0000\",\"seller\":\"\\u0000\"}".to_owned())),
        ("no UTF-8", Protocol::Json, Bytes::from_static(b"{\"id\":\"\xff\xfe\"}")),
        ("another document behind it", Protocol::Json, json(format!("{valid}{valid}"))),
        ("no object", Protocol::Json, json("\"text\"".to_owned())),
        ("nothing at all", Protocol::Json, Bytes::new()),
        ("more than is taken", Protocol::Json, json(" ".repeat(REQUEST_BYTES_MAX + 1))),
        ("zeros", Protocol::Json, json(format!("{{\"ids\":[{}1]}}", "0,".repeat(100_000)))),
        ("more than is taken", Protocol::Proto, Bytes::from(vec![0; REQUEST_BYTES_MAX + 1])),
        ("groups in groups", Protocol::Proto, Bytes::from(groups.clone())),
        ("messages in messages", Protocol::Proto, Bytes::from(nested.clone())),
        ("many", Protocol::Proto, Bytes::from(many.clone())),
        ("a length that is not there", Protocol::Proto, Bytes::from(promised.clone())),
        ("an endless number", Protocol::Proto, Bytes::from(vec![0xff; 100])),
        ("field zero", Protocol::Proto, Bytes::from_static(&[0, 0])),
        ("cut", Protocol::Proto, Bytes::copy_from_slice(&binary[..binary.len() / 2])),
    ];
    if method.streams {
        for (_, _, body) in &mut plain {
            *body = framed(body);
        }
    }
    for (what, body) in [
        ("groups in groups", groups),
        ("messages in messages", nested),
        ("many", many),
        ("more than is taken", vec![0; REQUEST_BYTES_MAX + 1]),
    ] {
        plain.push((what, Protocol::Grpc, framed(&body)));
    }
    plain
}

/// Bodies whose frames are invalid, with their headers.
fn frames(binary: &[u8], bomb: &[u8]) -> Vec<(&'static str, Headers, Bytes)> {
    let length = |bytes: &[u8]| bytes.len() as u32;
    let encoding = |name| vec![("grpc-encoding", name), ("connect-content-encoding", name)];
    vec![
        ("no frame", vec![], Bytes::new()),
        ("half a head", vec![], Bytes::from_static(&[0, 0, 0])),
        ("a length too long", vec![], frame(0, length(binary) + 1, binary)),
        ("a length too short", vec![], frame(0, length(binary).saturating_sub(1), binary)),
        ("the longest length", vec![], frame(0, u32::MAX, binary)),
        ("two messages", vec![], [framed(binary), framed(binary)].concat().into()),
        ("unknown flags", vec![], frame(0xff, length(binary), binary)),
        ("compressed, by nothing", vec![], frame(1, length(binary), binary)),
        ("compressed rubbish", encoding("gzip"), frame(1, 4, b"abcd")),
        ("an unknown compression", encoding("snappy"), frame(1, 4, b"abcd")),
        ("compressed, and not", encoding("gzip"), framed(binary)),
        ("a bomb", encoding("gzip"), frame(1, length(bomb), bomb)),
        ("half a bomb", encoding("gzip"), frame(1, length(bomb) / 2, &bomb[..bomb.len() / 2])),
    ]
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

async fn every_body(rig: &Rig, line: &mut Line<'_>, things: &Things) {
    let bomb = gzip(&vec![0; BOMB_BYTES]);
    for method in &rig.methods {
        let valid = valid::request(&method.path, things);
        let binary = rig.described.encode(method, &valid);
        for (what, protocol, body) in bodies(method, &valid, &binary) {
            line.send(&method.path, protocol.content_type(method.streams), &[], body, what).await;
        }
        for (what, headers, body) in frames(&binary, &bomb) {
            let kinds = if method.streams { &PROTOCOLS[1..] } else { &PROTOCOLS[2..] };
            for protocol in kinds {
                line.send(&method.path, protocol.content_type(method.streams), &headers, body.clone(), what)
                    .await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deep_long_large_or_compressed_is_refused_and_leaves_no_memory_behind() {
    let most = REQUEST_BYTES_MAX.to_string();
    let mut rig = Rig::start(&[("TORG_LIMITS_REQUEST_BYTES_MAX", &most)]);
    let mut line = rig.line().await;
    let things = line.things().await;
    every_body(&rig, &mut line, &things).await;
    let before = rig.server.allocated();
    every_body(&rig, &mut line, &things).await;
    let after = rig.server.allocated();
    println!("{before} bytes, then {after} bytes; {:?}", line.ends);
    assert!(line.faults.is_empty(), "{:#?}", line.faults);
    assert!(after <= before + GROWTH_MAX_BYTES, "{before} bytes became {after} bytes");
    line.things().await;
    drop(line);
    rig.assert_sound();
}

#[tokio::test(flavor = "multi_thread")]
async fn strange_headers_types_and_verbs_are_refused() {
    let mut rig = Rig::start(&[]);
    let mut line = rig.line().await;
    let things = line.things().await;
    let reflection = Method {
        path: "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo".into(),
        ..rig.methods[0].clone()
    };
    for method in rig.methods.iter().chain([&reflection]) {
        let valid = valid::request(&method.path, &things).to_string();
        for kind in [
            "",
            "text/plain",
            "application/json; charset=utf-16",
            "application/xml",
            "application/grpc+json",
            "application/grpc+thrift",
            "application/connect+",
            "multipart/form-data",
        ] {
            line.send(&method.path, kind, &[], valid.clone().into(), "a type").await;
            line.send(&method.path, kind, &[], framed(valid.as_bytes()), "a type, framed").await;
        }
        for header in [
            ("content-encoding", "br"),
            ("content-encoding", "gzip"),
            ("connect-protocol-version", "7"),
            ("connect-timeout-ms", "-1"),
            ("connect-timeout-ms", "99999999999999999999"),
            ("grpc-timeout", "1"),
            ("grpc-timeout", "99999999999H"),
            ("grpc-encoding", "gzip,gzip"),
            ("accept-encoding", "nothing"),
            ("x-torg-anonymous", "short"),
            ("authorization", "Bearer rubbish"),
        ] {
            for protocol in [Protocol::Json, Protocol::Grpc] {
                let body = if protocol.frames(method.streams) {
                    framed(valid.as_bytes())
                } else {
                    valid.clone().into()
                };
                line.send(&method.path, protocol.content_type(method.streams), &[header], body, "a header")
                    .await;
            }
        }
        for query in [
            "",
            "?",
            "?encoding=json",
            "?encoding=json&base64=1&message=!!!",
            "?encoding=proto&base64=1&message=A",
            "?encoding=json&message=%ff",
            "?encoding=xml&message={}",
            "?connect=v9&encoding=json&message={}",
            "?encoding=json&compression=gzip&base64=1&message=AAAA",
        ] {
            let answer = rig.server.get(&format!("{}{query}", method.path));
            assert!(answer.status < 500 && answer.status >= 200, "GET {}{query}: {answer:?}", method.path);
            assert!(!answer.body.contains("\"internal\""), "GET {}{query}: {answer:?}", method.path);
        }
    }
    assert!(line.faults.is_empty(), "{:#?}", line.faults);
    drop(line);
    rig.assert_sound();
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_are_cut_in_the_middle_are_forgotten() {
    let mut rig = Rig::start(&[]);
    let mut line = rig.line().await;
    let things = line.things().await;
    for _ in 0..20 {
        for method in &rig.methods {
            let body = valid::request(&method.path, &things).to_string();
            let kind = Protocol::Json.content_type(method.streams);
            let head = format!(
                "POST {} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
                method.path,
                body.len() + 100
            );
            let mut stream = TcpStream::connect(rig.server.address).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(body.as_bytes()).unwrap();
        }
        // A watch whose reader disconnects after the first message.
        line.ask("/torg.offers.v1.OfferService/WatchOffers", &json!({})).await;
    }
    let until = std::time::Instant::now() + PATIENCE;
    while !rig.server.get("/metrics").body.contains("\ntorg_rpc_running 0") {
        assert!(std::time::Instant::now() < until, "calls that nobody waits for still run");
    }
    assert!(line.faults.is_empty(), "{:#?}", line.faults);
    drop(line);
    rig.assert_sound();
}

/// Amounts that are added up as earned, one after the other.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_was_paid_an_offer_is_sold_or_the_amount_is_refused() {
    let mut rig = Rig::start(&[]);
    let mut line = rig.line().await;
    let offers = "/torg.offers.v1.OfferService";
    // In a currency of small worth a house has such a price.
    for (price, paid) in [
        ("20000000000000000", None),
        ("1000000", Some(i64::MAX)),
        ("1000000", Some(i64::MAX)),
        ("1000000", Some(1 << 53)),
        ("1000000", Some((1 << 53) + 1)),
        ("1000000", Some(1_000_000_000_000_000_000)),
        ("1000000", Some(i64::MIN)),
    ] {
        let mut car = valid::car("ann");
        car["price"]["fixed"]["micros"] = price.into();
        let made = line.ask(&format!("{offers}/CreateOffer"), &json!({ "offer": car })).await;
        let mut sold = json!({"id": made["offer"]["id"], "to": "STATUS_SOLD"});
        if let Some(paid) = paid {
            sold["paid"] = json!({"micros": paid.to_string(), "currency": "EUR"});
        }
        let method = rig.described.method(&format!("{offers}/MoveOffer"));
        line.message(&method, Protocol::Json, sold.to_string().into_bytes(), "paid").await;
        line.read_back(&made["offer"]).await;
    }
    assert!(line.faults.is_empty(), "{:#?}", line.faults);
    let earned = line.ask("/torg.offers.v1.CabinetService/GetCounters", &json!({"seller": "ann"})).await;
    let expected = 20_000_000_000_000_000_i64 + (1 << 53) + ((1 << 53) + 1) + 1_000_000_000_000_000_000;
    assert_eq!(earned["moneyEarned"][0]["micros"], expected.to_string(), "{earned}");
    drop(line);
    rig.assert_sound();
}
