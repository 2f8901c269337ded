//! Hostile files: each load fails with its reason, nothing is removed, and memory stays bounded.
//!
//! A binary of its own, because it measures the peak memory of its process.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

#[path = "it/common.rs"]
#[allow(dead_code, reason = "this test needs some of the helpers")]
mod common;

use std::io::Write as _;

use crate::common::{Market, yml};
use flate2::Compression;
use flate2::write::GzEncoder;
use wire::torg::feeds::v1::load::State;

/// The limit of the peak memory, with the threads of the test and the files in memory.
const MEMORY_KIB_MAX: u64 = 600 * 1024;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<yml_catalog date=\"2026-11-15 12:00\"><shop><name>x</name>\
                    <categories><category id=\"1\">Диваны</category></categories><offers>";

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// A packed file of a beginning, a part repeated `times` times, and an end, as members of one gzip
/// file.
fn packed_parts(beginning: &str, part: &[u8], times: usize, end: &str) -> Vec<u8> {
    [packed(beginning.as_bytes()), packed(part).repeat(times), packed(end.as_bytes())].concat()
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().concat()
}

fn hostile_files() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let laughs =
        joined((1..10).map(|n| format!("<!ENTITY l{n} \"{}\">", format!("&l{};", n - 1).repeat(10))));
    let laughs = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE yml_catalog [<!ENTITY l0 \"lol\">{laughs}]><yml_catalog>&l9;</yml_catalog>"
    );
    let outside = "<?xml version=\"1.0\"?><!DOCTYPE yml_catalog [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><yml_catalog>&x;</yml_catalog>";
    let deep = format!("{HEAD}<offer id=\"1\">{}", "<a>".repeat(100_000));
    let attributes = joined((0..1_000_000).map(|n| format!(" a{n}=\"1\"")));
    let megabyte = vec![b'a'; 1 << 20];
    let zeros = vec![0; 10 << 20];
    vec![
        ("a billion laughs", "forbidden_doctype", laughs.into_bytes()),
        ("an external entity", "forbidden_doctype", outside.into()),
        ("a depth of 100,000", "broken_file", deep.into_bytes()),
        ("a million attributes", "broken_file", format!("{HEAD}<offer id=\"1\"{attributes}>").into_bytes()),
        ("10 GB of zeros, packed", "unknown_format", packed_parts("", &zeros, 1024, "")),
        ("10 GB of text, packed", "packed_too_tight", packed_parts(HEAD, &megabyte, 10 * 1024, "")),
        (
            "an offer of 200 MB, packed",
            "packed_too_tight",
            packed_parts(
                &format!("{HEAD}<offer id=\"1\"><name>"),
                &megabyte,
                200,
                "</name></offer></offers></shop></yml_catalog>",
            ),
        ),
        ("nothing but zeros", "unknown_format", vec![0; 1 << 20]),
        (
            "bytes in no encoding",
            "broken_file",
            [HEAD.as_bytes(), &[0xff, 0xfe, 0x80, 0xc0, 0x00, 0xd8], b"<offer id=\"\xc3\x28\">"].concat(),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_files_fail_with_their_reason_and_remove_nothing() {
    let market = Market::start().await;
    let feed = market.feed("ann", "default").await;
    market.load(&feed, &yml(&[("1", "Диван серый", 100), ("2", "Диван синий", 200)])).await;
    for (what, code, file) in hostile_files() {
        let number = market.upload_bytes(&feed, file).await;
        let load = market.ended(&feed, number).await;
        let failure = load.failure.as_option();
        let told =
            failure.map(|failure| format!("{}: {}", failure.code, failure.message)).unwrap_or_default();
        assert_eq!(load.state.as_known(), Some(State::STATE_FAILED), "{what}: {told}");
        assert_eq!(failure.unwrap().code, code, "{what}: {told}");
        assert_eq!(market.live(&feed).await.len(), 2, "{what}");
    }
    market.stop().await;
    let memory = most_memory_kib();
    assert!(memory < MEMORY_KIB_MAX, "{memory} KiB");
}

/// The peak memory of this process.
fn most_memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
