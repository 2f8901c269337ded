//! The README's first day: its own lines, run by a shell; and the same with a stock gRPC client in
//! Python.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Server;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

/// Whether a program is installed; prints it if not.
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

/// A fresh clone of the repository.
fn clone_into(folder: &Path) -> PathBuf {
    let clone = folder.join("torg");
    let cloned = Command::new("git").arg("clone").arg("--quiet").arg(root()).arg(&clone).output().unwrap();
    assert!(cloned.status.success(), "{}", String::from_utf8_lossy(&cloned.stderr));
    clone
}

/// Every file of the repository that builds have read, from its root. The compiler's dep files list
/// the sources (also those of `include_str!` and the like); manifests, build scripts and their
/// inputs are added. Files of an old build that no longer exist are left out.
fn read_by_builds() -> BTreeSet<PathBuf> {
    let root = root();
    let results = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().canonicalize().unwrap();
    let program = std::env::current_exe().unwrap();
    let mut noted = BTreeSet::new();
    for entry in std::fs::read_dir(program.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|kind| kind == "d") {
            // Each file has its own rule, with nothing after the colon. Another build may be
            // rewriting the dep file.
            let rules = std::fs::read_to_string(path).unwrap_or_default();
            let names = rules.lines().filter_map(|line| line.strip_suffix(':'));
            noted.extend(names.map(|name| root.join(name.replace("\\ ", " "))));
        }
    }
    noted.insert(root.join("Cargo.lock"));
    files_below(&root.join("proto"), &mut noted);
    let here = noted.iter().filter_map(|path| path.canonicalize().ok());
    let here = here.filter(|path| !path.starts_with(&results));
    let mut read: BTreeSet<PathBuf> =
        here.filter_map(|path| Some(path.strip_prefix(&root).ok()?.to_owned())).collect();
    let folders: BTreeSet<PathBuf> =
        read.iter().flat_map(|path| path.ancestors().skip(1)).map(Path::to_owned).collect();
    let beside = folders.iter().flat_map(|folder| ["Cargo.toml", "build.rs"].map(|name| folder.join(name)));
    read.extend(beside.filter(|path| root.join(path).is_file()));
    read
}

fn files_below(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.insert(path);
        }
    }
}

/// Every file that git has, or would have with the next `git add`: a file may be new.
fn known_to_git() -> BTreeSet<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    String::from_utf8(listed.stdout).unwrap().split_terminator('\0').map(PathBuf::from).collect()
}

/// A build in the clone would take most of the ten minutes. The inputs of a build are known from
/// the one that made this test.
#[test]
fn a_clone_has_every_file_that_the_build_reads() {
    if !has("git", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (clone, known, read) = (clone_into(folder.path()), known_to_git(), read_by_builds());
    // One of each kind: a source, one of another crate, one that is included, a manifest, a build
    // script, its input.
    for expected in [
        "crates/app/torg/src/main.rs",
        "crates/base/store/src/lib.rs",
        "crates/app/demo/src/sample.xml",
        "crates/base/store/Cargo.toml",
        "crates/base/wire/build.rs",
        "proto/torg/offers/v1/offer.proto",
    ] {
        assert!(read.contains(Path::new(expected)), "the notes of the compiler do not have {expected}");
    }
    let missing: Vec<&PathBuf> =
        read.iter().filter(|path| !clone.join(path).is_file() && !known.contains(*path)).collect();
    assert!(missing.is_empty(), "the build reads what git ignores, and a clone does not have: {missing:#?}");
}

/// Makes the clone look built: the test's binary lies where a build puts it, and the returned path
/// begins with a `cargo` that builds nothing. A real build would take most of the ten minutes.
fn built(folder: &Path, clone: &Path) -> String {
    let program = clone.join("target/release/torg");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_torg"), &program).unwrap();
    // `run` takes the only binary of the default members: the real cargo knows them.
    let stand_in = format!(
        "#!/bin/bash\nset -eu\ntest \"$1 $2 $3\" = 'run --release --'\n\
         '{}' metadata --no-deps --offline --format-version 1 | grep -q '\"workspace_default_members\":\\[\"[^,]*crates/app/torg[^,]*\"\\]'\n\
         shift 3\nexec target/release/torg \"$@\"\n",
        env!("CARGO")
    );
    let folder = folder.join("bin");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("cargo"), stand_in).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.join("cargo"), executable).unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default())
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
    let clone = clone_into(folder.path());
    // The present text, also before it is committed.
    std::fs::copy(root().join("README.md"), clone.join("README.md")).unwrap();
    let readme = std::fs::read_to_string(clone.join("README.md")).unwrap();
    let [start, lines] = ["start", "ten minutes"].map(|name| {
        let mark = format!("<!-- run by: first_day.rs, {name} -->\n```sh\n");
        readme.split(&mark).nth(1).unwrap().split("```").next().unwrap()
    });
    let (listen, path) = (format!("127.0.0.1:{}", testkit::free_port()), built(folder.path(), &clone));
    let shell = |lines: &str| {
        let mut shell = Command::new("bash");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TORG_")) {
            shell.env_remove(name);
        }
        shell.args(["-euo", "pipefail", "-c", lines]).env("PATH", &path).env("TORG_LISTEN", &listen);
        shell.current_dir(&clone);
        shell
    };
    // `exec` replaces the shell, so that a kill ends the demo and not only the shell.
    let mut demo = shell(&format!("exec {}", start.trim()));
    demo.stdout(std::process::Stdio::piped());
    let mut demo = Demo(demo.stderr(std::process::Stdio::null()).spawn().unwrap());
    let mut told = std::io::BufRead::lines(std::io::BufReader::new(demo.0.stdout.take().unwrap()));
    assert!(told.any(|line| line.unwrap().contains("The demo of Torg is ready.")), "the demo ended");
    let output = shell(lines).output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{errors}");
    for expected in ["title-polish", "missing_attribute", "orders_digest", "orders.loaded_to"] {
        assert!(said.contains(expected), "no {expected} in\n{said}\n{errors}");
    }
    let mut show =
        crate::common::torg(&folder, &["feed", "show", "--seller", "anna-k", "--namespace", "own", "--json"]);
    show.env("TORG_LISTEN", &listen);
    let shown = crate::common::run(show);
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
        .arg(root().join("crates/app/torg/tests/python/first_day.py"))
        .arg(server.address.to_string())
        .env("PYTHONPATH", stubs.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("all as it should be"), "{said}\n{errors}");
}

#[test]
fn the_api_and_the_stages_can_be_two_processes_on_one_store() {
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
    // Nothing was lost while the process was down.
    let stages = start("stages");
    let refused = stages.post_json("/torg.offers.v1.OfferService/GetOffer", &about);
    assert_eq!(refused.json()["code"], "unimplemented", "{refused:?}");
    let until = std::time::Instant::now() + crate::common::PATIENCE;
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
