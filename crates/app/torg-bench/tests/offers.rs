//! A small run of `torg-bench offers`: it succeeds and prints the expected line.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::process::{Command, Stdio};

/// Scripts rely on these keys, in this order.
const KEYS: [&str; 12] = [
    "bench",
    "engine",
    "writes_per_s",
    "reads_per_s",
    "mixed_writes_per_s",
    "mixed_reads_per_s",
    "handmade_writes_per_s",
    "ratio_handmade",
    "rpc_over_store",
    "big_seller_ratio",
    "p99_ms",
    "rss_mb",
];
const SMALL: [&str; 12] = [
    "--offers",
    "1000",
    "--big-seller",
    "1000",
    "--seconds",
    "1",
    "--warm-up",
    "0",
    "--callers",
    "8",
    "--turns",
    "1",
];

/// The last line of a small run; its first keys are those that scripts rely on, and no files or
/// tables stay.
fn line_of(options: &[&str]) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [&["offers"], &SMALL[..], options].concat();
    let mut command = Command::new(env!("CARGO_BIN_EXE_torg-bench"));
    command.args(arguments).current_dir(folder.path()).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let stdout = String::from_utf8(output.stdout).unwrap();
    let line = stdout.lines().next_back().unwrap();
    for (entry, key) in line[1..].split(',').zip(KEYS) {
        assert!(entry.starts_with(&format!("\"{key}\":")), "{entry} stands where {key} should: {line}");
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "something is left behind");
    serde_json::from_str(line).unwrap()
}

fn assert_measured(line: &serde_json::Value, keys: &[&str]) {
    for key in keys {
        assert!(line[key].as_f64().is_some_and(|figure| figure > 0.0), "{key}: {line}");
    }
}

#[test]
fn an_embedded_store_is_measured_and_the_hand_made_service_is_left_out_without_a_server() {
    let line = line_of(&["--json"]);
    assert_eq!((line["bench"].as_str(), line["engine"].as_str()), (Some("offers"), Some("fjall")));
    assert!(line["handmade_writes_per_s"].is_null() && line["ratio_handmade"].is_null(), "{line}");
    assert_measured(&line, &KEYS[2..6]);
    assert_measured(&line, &KEYS[8..]);
}

#[test]
fn on_postgresql_everything_is_measured() {
    let Some(postgres) = testkit::postgres() else { return };
    let line = line_of(&["--store", &postgres.fresh_database(), "--handmade-connections", "8"]);
    assert_eq!(line["engine"].as_str(), Some("postgres"));
    assert_measured(&line, &KEYS[2..]);
}
