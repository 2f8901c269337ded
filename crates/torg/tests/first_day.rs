//! The README's first day: its own lines, run by a shell; and the same with a stock Python client of gRPC.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Server;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Whether a program is there; says so if it is not.
fn has(program: &str, arguments: &[&str]) -> bool {
    let there = Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    if !there {
        testkit::skip("the first day of the README", format!("{program} is missing: see scripts/test"));
    }
    there
}

#[test]
fn the_readmes_lines_take_an_offer_from_its_draft_to_its_sale() {
    if !has("curl", &["--version"]) {
        return;
    }
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let lines = readme
        .split("<!-- run by: first_day.rs, first day -->\n```sh\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let server = Server::start(&[]);
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", lines])
        .env("torg", env!("CARGO_BIN_EXE_torg"))
        .env("server", server.url())
        .current_dir(server.folder.path())
        .output()
        .unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(said.lines().all(|line| !line.starts_with("{\"code\"")), "a call was refused:\n{said}");
    let expected = [
        "sg-4-4-3-2",
        "\"title\":\"Red bicycle\"",
        "\"status\":\"STATUS_ACTIVE\"",
        "\"status\":\"STATUS_SOLD\"",
        "{\"preset\":\"PRESET_SOLD\",\"offers\":\"1\"}",
        "\"sold\":\"1\",\"moneyEarned\":[{\"micros\":\"120000000\",\"currency\":\"EUR\"}]",
        "\"field\":\"price\"",
        "of dora: Red bicycle",
        "expiry: ",
    ];
    for expected in expected {
        assert!(said.contains(expected), "no {expected} in\n{said}");
    }
}

/// The demo as the README starts it; killed when dropped.
struct Demo(std::process::Child);

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_readmes_first_ten_minutes_lead_from_a_clone_to_a_loaded_feed() {
    if !has("git", &["--version"]) {
        return;
    }
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let clone = folder.path().join("torg");
    let cloned = Command::new("git").arg("clone").arg("--quiet").arg(root()).arg(&clone).output().unwrap();
    assert!(cloned.status.success(), "{}", String::from_utf8_lossy(&cloned.stderr));
    // What is written here, also before it is committed.
    std::fs::copy(root().join("README.md"), clone.join("README.md")).unwrap();
    let readme = std::fs::read_to_string(clone.join("README.md")).unwrap();
    let start = readme.lines().find_map(|line| line.strip_prefix("cargo run --release -- ")).unwrap();
    let arguments: Vec<&str> = start.split('#').next().unwrap().split_whitespace().collect();
    let lines = readme
        .split("<!-- run by: first_day.rs, ten minutes -->\n```sh\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let listen = format!("127.0.0.1:{}", testkit::free_port());
    // The program is the one that was built for the tests: building it anew would take most of the ten minutes.
    let mut demo = common::torg(&folder, &arguments);
    demo.env("TORG_LISTEN", &listen).current_dir(&clone).stdout(std::process::Stdio::piped());
    let mut demo = Demo(demo.stderr(std::process::Stdio::null()).spawn().unwrap());
    let mut told = std::io::BufRead::lines(std::io::BufReader::new(demo.0.stdout.take().unwrap()));
    assert!(told.any(|line| line.unwrap().contains("The demo of Torg is ready.")), "the demo ended");
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", lines])
        .env("torg", env!("CARGO_BIN_EXE_torg"))
        .env("TORG_LISTEN", &listen)
        .current_dir(&clone)
        .output()
        .unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{errors}");
    for expected in ["title-polish", "missing_attribute", "orders_digest", "orders.loaded_to"] {
        assert!(said.contains(expected), "no {expected} in\n{said}\n{errors}");
    }
    let mut show =
        common::torg(&folder, &["feed", "show", "--seller", "anna-k", "--namespace", "own", "--json"]);
    show.env("TORG_LISTEN", &listen);
    let shown = common::run(show);
    assert!(shown.stdout.contains("STATE_DONE"), "{}\n{}", shown.stdout, shown.stderr);
}

#[test]
fn a_stock_python_client_does_the_same() {
    let python = "/usr/bin/python3";
    if !has(python, &["-c", "import grpc"]) || !has("protoc", &["--version"]) {
        return;
    }
    let stubs = tempfile::tempdir().unwrap();
    let proto = root().join("proto");
    let plugin = Command::new("sh").args(["-c", "command -v grpc_python_plugin"]).output().unwrap();
    let plugin = String::from_utf8(plugin.stdout).unwrap();
    let generated = Command::new("protoc")
        .arg(format!("--plugin=protoc-gen-grpc_python={}", plugin.trim()))
        .arg(format!("--proto_path={}", proto.display()))
        .arg(format!("--python_out={}", stubs.path().display()))
        .arg(format!("--grpc_python_out={}", stubs.path().display()))
        .args(
            ["offer", "offers", "drafts", "cabinet", "moderation"]
                .map(|name| format!("torg/offers/v1/{name}.proto")),
        )
        .arg("google/rpc/error_details.proto")
        .output()
        .unwrap();
    assert!(generated.status.success(), "{}", String::from_utf8_lossy(&generated.stderr));
    let server = Server::start(&[]);
    let output = Command::new(python)
        .arg(root().join("crates/torg/tests/python/first_day.py"))
        .arg(server.address.to_string())
        .env("PYTHONPATH", stubs.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("all as it should be"), "{said}\n{errors}");
}

#[test]
fn the_api_and_the_scheduler_can_be_two_processes_on_one_store() {
    let Some(postgres) = testkit::postgres() else { return };
    let store = postgres.fresh_database();
    let start = |roles| Server::start(&[("TORG_STORE_URL", &*store), ("TORG_ROLES", roles)]);
    let api = start("api");
    let call = |method: &str, body: &str| api.post_json(&format!("/torg.offers.v1.{method}"), body).json();
    let offer = r#"{"offer": {"seller": "dora", "category": "sg-4-4-3-2", "title": "Red bicycle", "price": {"free": {}}}}"#;
    let made = call("OfferService/CreateOffer", offer);
    let id = made["offer"]["id"].as_str().unwrap_or_else(|| panic!("{made}"));
    let ban = format!(r#"{{"opinion": {{"offer": "{id}", "verdict": "VERDICT_BAN"}}}}"#);
    call("ModerationService/GiveOpinion", &ban);
    let about = format!(r#"{{"id": "{id}"}}"#);
    let explained = call("OfferService/ExplainOffer", &about);
    assert_eq!(explained["servedBy"].as_str().unwrap_or_default(), "", "nobody schedules yet: {explained}");
    // Nothing was lost while nobody was there to do it.
    let scheduler = start("scheduler");
    let refused = scheduler.post_json("/torg.offers.v1.OfferService/GetOffer", &about);
    assert_eq!(refused.json()["code"], "unimplemented", "{refused:?}");
    let until = std::time::Instant::now() + common::PATIENCE;
    loop {
        let status = call("OfferService/GetOffer", &about)["offer"]["status"].clone();
        let served = call("OfferService/ExplainOffer", &about)["servedBy"].clone();
        if status == "STATUS_BANNED" && served.is_string() {
            break;
        }
        assert!(std::time::Instant::now() < until, "{status}, served by {served}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}
