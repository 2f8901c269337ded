//! The command line and its error messages: `error:` and `hint:` on stderr, exit 1; wrong usage
//! exits with 2; never a panic.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::net::TcpListener;
use std::process::Command;

use crate::common::{Ended, run, torg};

fn refused(command: Command, error: &str, hint: &str) {
    let Ended { code, stdout, stderr } = run(command);
    assert_eq!(code, Some(1), "{stderr}");
    assert_eq!(stdout, "");
    let lines: Vec<&str> = stderr.lines().filter(|line| !line.starts_with('{')).collect();
    assert_eq!(lines.len(), 2, "{stderr}");
    assert!(lines[0].starts_with("error: ") && lines[0].contains(error), "{stderr}");
    assert!(lines[1].starts_with("hint: ") && lines[1].contains(hint), "{stderr}");
}

fn folder_with_config(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("torg.toml"), text).unwrap();
    folder
}

#[test]
fn a_port_in_use_is_named_with_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    refused(
        torg(&folder, &["serve", "--listen", &address]),
        &format!("cannot listen on {address}: Address already in use"),
        "choose another port with --listen",
    );
}

#[test]
fn addresses_that_cannot_be_used_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (address, error, hint) in [
        ("nowhere", "--listen: listen: invalid socket address syntax", "TORG_LISTEN"),
        ("192.0.2.1:1", "cannot listen on 192.0.2.1:1", "this machine has no such address"),
    ] {
        let mut command = torg(&folder, &["serve", "--listen", address]);
        command.env("TORG_ACCESS_MODE", "required");
        refused(command, error, hint);
    }
}

#[test]
fn a_wrong_line_in_the_file_is_named_with_file_line_and_suggestion() {
    let folder = folder_with_config("listen = \"127.0.0.1:0\"\n[store]\ncahce_mb = 5\n");
    refused(
        torg(&folder, &["serve"]),
        "torg.toml:3: unknown key \"store.cahce_mb\"",
        "did you mean \"store.cache_mb\"?",
    );
    let folder = folder_with_config("[store\n");
    refused(torg(&folder, &["config"]), "torg.toml:1: ", "toml.io");
    let folder = folder_with_config("[limits]\nrequest_timeout_s = 0\n");
    refused(
        torg(&folder, &["config"]),
        "torg.toml:2: limits.request_timeout_s: 0 is not between 1 and 86400",
        "TORG_LIMITS_REQUEST_TIMEOUT_S",
    );
}

#[test]
fn files_and_folders_that_cannot_be_used_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    refused(torg(&folder, &["serve", "--config", "absent.toml"]), "cannot read absent.toml: ", "--config");
    std::fs::write(folder.path().join("binary.toml"), [0xff, 0xfe, 0x00]).unwrap();
    refused(torg(&folder, &["config", "--config", "binary.toml"]), "cannot read binary.toml: ", "--config");
    std::fs::write(folder.path().join("file"), "").unwrap();
    refused(
        torg(&folder, &["serve", "--listen", "127.0.0.1:0", "--data", "file/inside"]),
        "cannot make the data folder file/inside: ",
        "--data",
    );
}

#[test]
fn a_wrong_variable_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = torg(&folder, &["config"]);
    command.env("TORG_STORE_DURABILITY", "maybe");
    refused(
        command,
        "environment variable TORG_STORE_DURABILITY: store.durability: unknown variant `maybe`, expected `fsync` or `os`",
        "torg config",
    );
}

#[test]
fn wrong_usage_exits_with_2() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&[][..], &["sevre"], &["serve", "--port", "1"], &["serve", "extra"]] {
        let Ended { code, stderr, .. } = run(torg(&folder, arguments));
        assert_eq!(code, Some(2), "{arguments:?}: {stderr}");
    }
    assert_eq!(run(torg(&folder, &["--version"])).stdout, concat!("torg ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn config_prints_the_effective_values_with_their_origin_and_without_passwords() {
    let folder = folder_with_config("[store]\ncache_mb = 64\n");
    let mut command = torg(&folder, &["config", "--data", "/srv/torg", "--roles", "api"]);
    command.env("TORG_STORE_URL", "postgres://torg:hush@db/torg");
    let Ended { code, stdout, stderr } = run(command);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(!stdout.contains("hush"), "{stdout}");
    for line in [
        "data_dir = \"/srv/torg\"  # from --data",
        "roles = [\"api\"]  # from --roles",
        "url = \"postgres://torg:***@db/torg\"  # from TORG_STORE_URL",
        "url = \"file:/srv/torg/files\"  # follows data_dir",
        "cache_mb = 64  # from torg.toml:2",
        "group_max = 128",
    ] {
        assert!(stdout.lines().any(|printed| printed == line), "{line:?} is not in\n{stdout}");
    }
}
