//! Runs the first stage of `docs/stages.md`: its own lines, by a shell.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use crate::common::Server;

/// Whether the programs that the lines need are installed; prints it if not.
fn has(program: &str, arguments: &[&str]) -> bool {
    let there = Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    if !there {
        testkit::skip("the first stage of docs/stages.md", format!("{program} is missing: see scripts/test"));
    }
    there
}

#[test]
fn the_lines_of_the_page_lead_to_a_stage_that_changes_offers() {
    if !has("curl", &["--version"]) || !has("/usr/bin/python3", &["-c", "import grpc"]) {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let page = std::fs::read_to_string(root.join("docs/stages.md")).unwrap();
    let lines = page
        .split("<!-- run by: first_stage.rs, first stage -->\n```sh\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let server = Server::start(&[]);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    // The stage ends with the shell in any case.
    let script = format!("trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{lines}");
    let path = format!("/usr/bin:{}", std::env::var("PATH").unwrap_or_default());
    let output = Command::new("timeout")
        .args(["120", "bash", "-euo", "pipefail", "-c", &script])
        .env("PATH", path)
        .env("torg", env!("CARGO_BIN_EXE_torg"))
        .env("server", server.url())
        .env("port", port.to_string())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(server.folder.path())
        .output()
        .unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{errors}");
    let expected = [
        "stage phone-numbers (version 0.1.0) is registered",
        "\"title\":\"Blue bicycle, call\"",
        "\"version\":\"",
        "\"times\":1",
        "\"kind\":\"KIND_STAGE\",\"name\":\"phone-numbers\"",
        "phone-numbers: ",
        "registered",
        "nothing was saved",
    ];
    for expected in expected {
        assert!(said.contains(expected), "no {expected} in\n{said}\n{errors}");
    }
}
