//! Too much, too long, too slow, too little.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fetch::{Cause, Fetched, Kind, Limits, Request, Rules};
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::world::{World, answer, whole};

const SERVER: &str = "93.184.216.34:80";
const URL: &str = "http://example.com/file";

fn world() -> World {
    let world = World::default();
    world.name("example.com", &[&["93.184.216.34"]]);
    world
}

fn zeros_packed(bytes: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let block = vec![0; 1 << 20];
    for _ in 0..bytes >> 20 {
        encoder.write_all(&block).unwrap();
    }
    encoder.finish().unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_endless_stream_is_cut_at_the_limit() {
    let world = world();
    let sent = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&sent);
    world.server(SERVER, move |_, mut pipe| {
        let count = Arc::clone(&count);
        async move {
            let _ = pipe.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            while pipe.write_all(&[b'a'; 4096]).await.is_ok() {
                count.fetch_add(4096, Ordering::Relaxed);
            }
        }
    });
    let limits = Limits { bytes_max: 1 << 20, ..Limits::default() };
    let client = world.client(Rules { limits, ..Rules::default() });
    let error = whole(&client, &Request::get(URL)).await.unwrap_err();
    assert_eq!(error.cause, Cause::TooLarge(1 << 20));
    let slack = 256 * 1024;
    assert!(sent.load(Ordering::Relaxed) <= (1 << 20) + slack, "what was read ahead is bounded too");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_nobody_reads_is_not_taken_from_the_server() {
    let world = world();
    let sent = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&sent);
    world.server(SERVER, move |_, mut pipe| {
        let count = Arc::clone(&count);
        async move {
            let _ = pipe.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            while pipe.write_all(&[b'a'; 4096]).await.is_ok() {
                count.fetch_add(4096, Ordering::Relaxed);
            }
        }
    });
    let Fetched::Found(download) = world.client(Rules::default()).send(&Request::get(URL)).await.unwrap()
    else {
        panic!("there is a body");
    };
    assert_eq!(download.kind, Kind::Text);
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
    assert!(sent.load(Ordering::Relaxed) <= 512 * 1024);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_says_that_it_is_too_large_is_not_even_begun() {
    let world = world();
    world.says(SERVER, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n");
    assert_eq!(world.refusal(URL).await, "too_large");
}

#[tokio::test(start_paused = true)]
async fn a_gzip_bomb_is_refused_by_its_ratio_and_by_its_size() {
    let bomb = answer("200 OK\r\nContent-Encoding: gzip", &zeros_packed(256 << 20));
    let world = world();
    world.says(SERVER, bomb);
    let error = world.get(URL).await.unwrap_err();
    assert_eq!(error.cause, Cause::Ratio(100));
    let limits = Limits { ratio_max: u64::MAX, unpacked_bytes_max: 2 << 20, ..Limits::default() };
    let client = world.client(Rules { limits, ..Rules::default() });
    let Fetched::Found(mut download) = client.send(&Request::get(URL)).await.unwrap() else {
        panic!("there is a body");
    };
    let mut largest = 0;
    let error = loop {
        match download.body.chunk().await {
            Ok(piece) => largest = largest.max(piece.unwrap().len()),
            Err(error) => break error,
        }
    };
    assert_eq!(error.cause, Cause::TooLargeUnpacked(2 << 20));
    assert!(largest <= 1100 * 1024, "a piece of {largest} bytes");
    assert_eq!(download.body.chunk().await.unwrap_err().cause, error.cause, "an error stays");
}

#[tokio::test(start_paused = true)]
async fn an_honest_packed_body_is_unpacked() {
    let text = (0..20_000).map(|n: u32| n.to_string()).collect::<Vec<_>>().join(" ");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let mut packed = encoder.finish().unwrap();
    let world = world();
    world.says(SERVER, answer("200 OK\r\nContent-Encoding: gzip", &packed));
    assert_eq!(world.get(URL).await.unwrap(), text.as_bytes());
    packed.truncate(packed.len() / 2);
    world.says(SERVER, answer("200 OK\r\nContent-Encoding: gzip", &packed));
    assert_eq!(world.refusal(URL).await, "bad_packing");
    world.says(SERVER, answer("200 OK\r\nContent-Encoding: br", b"abc"));
    assert_eq!(world.refusal(URL).await, "other_packing");
}

#[tokio::test(start_paused = true)]
async fn a_slow_drip_is_given_up() {
    let world = world();
    world.server(SERVER, |_, mut pipe| async move {
        let _ = pipe.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        while pipe.write_all(b"a").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    let error = world.get(URL).await.unwrap_err();
    assert!(matches!(error.cause, Cause::TooSlow { bytes: 1..20, .. }), "{error}");
    assert!(error.is_passing());
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_given_up_at_each_step() {
    let world = world();
    world.server(SERVER, |_, pipe| async move {
        std::future::pending::<()>().await;
        drop(pipe);
    });
    let error = world.get(URL).await.unwrap_err();
    assert_eq!(error.cause, Cause::TooLong { what: "to answer", max: Limits::default().first_byte_time_max });
    world.server(SERVER, |_, mut pipe| async move {
        pipe.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        std::future::pending::<()>().await;
    });
    assert_eq!(world.refusal(URL).await, "too_slow");
    world.server(SERVER, |_, mut pipe| async move {
        pipe.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if pipe.write_all(&[b'a'; 2048]).await.is_err() {
                break;
            }
        }
    });
    let error = world.get(URL).await.unwrap_err();
    assert_eq!(error.cause, Cause::TooLong { what: "in total", max: Limits::default().total_time_max });
    assert!(error.is_passing());
}

#[tokio::test(start_paused = true)]
async fn the_time_that_the_caller_takes_is_not_the_servers() {
    let world = world();
    world.server(SERVER, |_, mut pipe| async move {
        pipe.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        for _ in 0..4 {
            pipe.write_all(&[b'a'; 1024]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    let Fetched::Found(mut download) = world.client(Rules::default()).send(&Request::get(URL)).await.unwrap()
    else {
        panic!("there is a body");
    };
    let mut bytes = 0;
    while let Some(piece) = download.body.chunk().await.unwrap() {
        bytes += piece.len();
        tokio::time::sleep(Duration::from_secs(15)).await;
    }
    assert_eq!(bytes, 4096);
}

#[tokio::test(start_paused = true)]
async fn huge_heads_and_other_protocols_are_refused() {
    let world = world();
    world.says(SERVER, format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "a".repeat(1 << 20)));
    assert_eq!(world.refusal(URL).await, "head_too_large");
    world.says(SERVER, format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: a\r\n".repeat(1000)));
    assert_eq!(world.refusal(URL).await, "head_too_large");
    world.says(SERVER, "SSH-2.0-OpenSSH_9.2\r\n");
    assert_eq!(world.refusal(URL).await, "not_http");
    world.says(SERVER, "");
    assert_eq!(world.refusal(URL).await, "truncated");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_ends_early_is_an_error_and_may_pass() {
    let world = world();
    for cut in [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n",
    ] {
        world.says(SERVER, cut);
        let error = world.get(URL).await.unwrap_err();
        assert!(error.code() == "truncated" && error.is_passing(), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_kind_is_told_from_the_bytes_whatever_the_server_says() {
    let world = world();
    world.says(
        SERVER,
        answer("200 OK\r\nContent-Type: image/jpeg", b"<html><body>log in first</body></html>"),
    );
    let request = Request::get(URL).accept(&[Kind::Jpeg, Kind::Png]);
    let error = world.client(Rules::default()).send(&request).await.unwrap_err();
    assert!(matches!(error.cause, Cause::WrongKind { found: Kind::Html, .. }), "{error}");
    assert!(error.to_string().contains("a web page, not JPEG or PNG"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn statuses_say_whether_they_may_pass() {
    let world = world();
    for (status, is_passing) in [
        (400, false),
        (403, false),
        (404, false),
        (410, false),
        (204, false),
        (300, false),
        (304, false),
        (408, true),
        (429, true),
        (500, true),
        (503, true),
    ] {
        world.says(SERVER, answer(&format!("{status} Told\r\nRetry-After: 7"), b""));
        let error = world.get(URL).await.unwrap_err();
        assert_eq!((error.code(), error.is_passing()), ("status", is_passing), "{status}");
        assert!(matches!(error.cause, Cause::Status { retry_after: Some(Duration { .. }), .. }));
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_can_be_read_as_a_reader_and_its_errors_come_through() {
    let world = world();
    world.says(SERVER, answer("200 OK", b"twelve bytes"));
    let client = world.client(Rules::default());
    let Fetched::Found(download) = client.send(&Request::get(URL)).await.unwrap() else { panic!("found") };
    let mut text = String::new();
    Box::pin(download.body.into_reader()).read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "twelve bytes");
    world.says(SERVER, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc");
    let limits = Limits::default();
    let sent = client.send(&Request::get(URL).limits(limits)).await;
    assert_eq!(sent.unwrap_err().code(), "truncated", "already while the kind is told");
}
