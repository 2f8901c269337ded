//! No connection to what is not public.

use fetch::{Cause, Proxy, Request, Rules};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::world::{World, answer, moved, whole};

const FILE: &str = "93.184.216.34:80";

#[tokio::test(start_paused = true)]
async fn a_public_file_is_fetched_from_the_address_that_was_checked() {
    let world = World::default();
    world.name("example.com", &[&["93.184.216.34"]]).says(FILE, answer("200 OK", b"a file"));
    assert_eq!(world.get("http://example.com/a?b=c#d").await.unwrap(), b"a file");
    assert_eq!(world.dialled(), [FILE]);
    assert!(
        world.heads()[0].starts_with("GET /a?b=c HTTP/1.1\r\nhost: example.com\r\n"),
        "{:?}",
        world.heads()
    );
}

#[tokio::test(start_paused = true)]
async fn a_name_that_leads_inside_is_refused_before_any_connection() {
    let inside = [
        "127.0.0.1",
        "10.0.0.5",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "::1",
        "fe80::1",
        "fd00:ec2::254",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "224.0.0.1",
        "192.0.2.1",
    ];
    for address in inside {
        let world = World::default();
        world.name("innocent.example.org", &[&[address]]);
        let error = world.get("http://innocent.example.org/photo.jpg").await.unwrap_err();
        assert!(matches!(error.cause, Cause::PrivateAddress { .. }), "{address}: {error}");
        assert!(!error.is_passing() && error.to_string().contains("innocent.example.org"), "{error}");
        assert!(world.dialled().is_empty(), "{address}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_address_in_the_url_is_checked_like_a_name() {
    let world = World::default();
    for (url, code) in [
        ("http://127.0.0.1/", "private_address"),
        ("http://127.0.0.1.:80/", "private_address"),
        ("http://[::1]/", "private_address"),
        ("http://[::ffff:10.0.0.1]/", "private_address"),
        ("http://[64:ff9b::a00:1]/", "private_address"),
        ("http://169.254.169.254/latest/meta-data/", "private_address"),
        ("http://2130706433/", "odd_address"),
        ("http://0x7f.0.0.1/", "odd_address"),
        ("http://0177.1/", "odd_address"),
        ("http://0/", "odd_address"),
    ] {
        assert_eq!(world.refusal(url).await, code, "{url}");
    }
    assert!(world.dialled().is_empty());
}

#[tokio::test(start_paused = true)]
async fn of_a_mixed_answer_only_the_public_addresses_are_asked() {
    let world = World::default();
    world
        .name("example.com", &[&["10.0.0.1", "93.184.216.34", "127.0.0.1"]])
        .says(FILE, answer("200 OK", b"a file"));
    assert_eq!(world.get("http://example.com/").await.unwrap(), b"a file");
    assert_eq!(world.dialled(), [FILE]);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_answers_otherwise_the_second_time_wins_nothing() {
    let world = World::default();
    world
        .name("rebind.example.org", &[&["93.184.216.34"], &["127.0.0.1"]])
        .says(FILE, moved("http://rebind.example.org/inside"))
        .says("127.0.0.1:80", answer("200 OK", b"a secret"));
    let error = world.get("http://rebind.example.org/").await.unwrap_err();
    assert!(matches!(error.cause, Cause::PrivateAddress { .. }), "{error}");
    assert_eq!(error.redirects, 1);
    assert_eq!(world.dialled(), [FILE], "one look-up, one connection, to what that look-up said");
}

#[tokio::test(start_paused = true)]
async fn the_next_address_is_tried_when_one_does_not_answer() {
    let world = World::default();
    world.name("example.com", &[&["93.184.216.33", "93.184.216.34"]]).says(FILE, answer("200 OK", b"a file"));
    assert_eq!(world.get("http://example.com/").await.unwrap(), b"a file");
    world.name("away.example.com", &[&["93.184.216.33"]]);
    let error = world.get("http://away.example.com/").await.unwrap_err();
    assert!(error.is_passing() && error.code() == "unreachable", "{error}");
    let error = world.get("http://nowhere.example.com/").await.unwrap_err();
    assert!(error.is_passing() && error.code() == "no_address", "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_operator_may_allow_addresses_and_nothing_else_is_allowed_by_it() {
    let world = World::default();
    world.name("own.example.com", &[&["10.0.0.7"]]).says("10.0.0.7:80", answer("200 OK", b"own"));
    world.name("other.example.com", &[&["10.0.0.8"]]);
    let rules = Rules { allow_addresses: vec!["10.0.0.7/32".parse().unwrap()], ..Rules::default() };
    let client = world.client(rules);
    assert_eq!(whole(&client, &Request::get("http://own.example.com/")).await.unwrap(), b"own");
    let error = whole(&client, &Request::get("http://other.example.com/")).await.unwrap_err();
    assert_eq!(error.code(), "private_address");
}

#[tokio::test(start_paused = true)]
async fn a_proxy_is_told_a_checked_address_and_never_a_name() {
    let world = World::default();
    world.name("example.com", &[&["93.184.216.34"]]).name("inside.example.com", &[&["10.0.0.1"]]);
    world.name("proxy", &[&["10.9.9.9"]]).server("10.9.9.9:3128", |_, mut pipe| async move {
        pipe.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
        let mut head = [0; 4];
        pipe.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"GET ");
        pipe.write_all(&answer("200 OK", b"through the proxy")).await.unwrap();
    });
    let proxy = Proxy { host: "proxy".to_owned(), port: 3128, auth: None };
    let client = world.client(Rules { proxy: Some(proxy), ..Rules::default() });
    assert_eq!(whole(&client, &Request::get("http://example.com/")).await.unwrap(), b"through the proxy");
    assert!(world.heads()[0].starts_with("CONNECT 93.184.216.34:80 HTTP/1.1\r\n"), "{:?}", world.heads());
    let error = whole(&client, &Request::get("http://inside.example.com/")).await.unwrap_err();
    assert_eq!(error.code(), "private_address");
    assert_eq!(world.dialled(), ["10.9.9.9:3128"]);
    world.says("10.9.9.9:3128", answer("403 Forbidden", b""));
    let error = whole(&client, &Request::get("http://example.com/")).await.unwrap_err();
    assert_eq!(error.code(), "proxy");
}
