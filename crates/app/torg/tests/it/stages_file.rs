//! Stages that the configuration declares (`stages.file`).
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::python_stage::{PHONE, Project, STAGE, has_python};
use crate::common::{PATIENCE, Server, torg};

const FILE: (&str, &str) = ("TORG_STAGES_FILE", "conf/stages.toml");

/// Writes the file in a subfolder of the server's.
fn declare(folder: &Path, text: &str) {
    std::fs::create_dir_all(folder.join("conf")).unwrap();
    std::fs::write(folder.join("conf/stages.toml"), text).unwrap();
}

/// The error of a start that is refused.
fn refused(folder: &Arc<tempfile::TempDir>) -> String {
    let mut command = torg(folder, &["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.env(FILE.0, FILE.1).stderr(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("it serves");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    said
}

#[test]
fn a_stage_of_the_file_works_like_a_registered_one_until_it_is_taken_out() {
    if !has_python("a stage that is configured") {
        return;
    }
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let project = Project::write_out(&folder, STAGE);
    let declared = format!("[{STAGE}]\nendpoints = [\"{}\"]\nmay_change = [\"title\"]\n", project.url());
    declare(folder.path(), &format!("{declared}timeout_ms = 5000\nbatch_max = 4\n"));
    let mut python = project.start();
    let server = Server::start_in(&folder, &[FILE]);
    let shown =
        server.done_once(&["stages", "show", STAGE], |shown| shown.contains("(configured, version 0.1.0)"));
    assert!(shown.contains("may change: title"), "{shown}");
    let offer = server.offer(&format!("Red bicycle {PHONE}"));
    server.title_becomes(&offer, "Red bicycle");

    let url = project.url();
    for arguments in [
        &["stages", "register", STAGE, "--endpoint", &url, "--may-change", "title"][..],
        &["stages", "remove", STAGE],
    ] {
        assert_eq!(
            server.refused(arguments),
            "error: stage \"phone-numbers\" is declared in the configuration (stages.file): change it there, and start again\n"
        );
    }
    assert!(server.refused(&["stages", "promote", STAGE]).contains("has no shadow"));
    server.stop();

    // A stage that is down at the start is known by its last description, and later visits the
    // offers of the meantime.
    python.kill();
    declare(folder.path(), &format!("{declared}shadow_endpoints = [\"{url}\"]\n"));
    let server = Server::start_in(&folder, &[FILE]);
    assert!(server.refused(&["stages", "promote", STAGE]).contains("is declared in the configuration"));
    let late = server.offer(&format!("Late bicycle {PHONE}"));
    server.done_once(&["stages", "show", STAGE], |shown| {
        shown.contains("(configured, version 0.1.0): down since ")
    });
    let _python = project.start();
    server.title_becomes(&late, "Late bicycle");
    server.stop();

    declare(folder.path(), "# none any more\n");
    let server = Server::start_in(&folder, &[FILE]);
    assert!(!server.done(&["stages", "list"]).contains(STAGE));
    let untouched = server.offer(&format!("Green bicycle {PHONE}"));
    assert!(server.refused(&["stages", "show", STAGE]).contains("there is no stage"));
    assert!(!server.done(&["explain", "offer", &untouched]).contains(STAGE));
    assert_eq!(server.title(&untouched), format!("Green bicycle {PHONE}"));
    // Now the id can be registered, and the stage's state is still there.
    server.register(&project, &[]);
    assert_eq!(server.state(&offer)["state"]["value"]["times"], 1.0);
}

#[test]
fn what_is_wrong_in_the_file_is_named_with_its_place_and_nothing_starts() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let missing = refused(&folder);
    assert!(missing.contains("cannot read stages.file conf/stages.toml: No such file"), "{missing}");
    for (text, expected) in [
        ("[spam\nendpoints = 1", &["conf/stages.toml: ", "line 1"][..]),
        (
            "[spam]\nendpoints = [\"http://h:1\"]\nmay_chang = [\"title\"]\n",
            &["line 3", "unknown field `may_chang`"],
        ),
        ("[spam]\nendpoints = \"http://h:1\"\n", &["line 2", "endpoints"]),
        ("[spam]\nmay_change = [\"title\"]\n", &["line 1", "missing field `endpoints`"]),
        ("[spam]\nendpoints = []\n", &["stage \"spam\": endpoints: from 1 to 64 addresses"]),
        ("[spam]\nendpoints = [\"h:1\"]\n", &["stage \"spam\": endpoints[0]: \"h:1\" is no address"]),
        (
            "[spam]\nendpoints = [\"http://h:1\"]\nmay_change = [\"id\"]\n",
            &["may_change: only Torg sets `id`"],
        ),
        (
            "[spam]\nendpoints = [\"http://h:1\"]\ninterest = [\"x\"]\n",
            &["interest: `x` is no field of offers"],
        ),
        (
            "[spam]\nendpoints = [\"http://h:1\"]\nshadow_endpoints = [\"http://h:2\"]\nshadow_share = 2.0\n",
            &["shadow.share: from 0 to 1"],
        ),
        (
            "[spam]\nendpoints = [\"http://h:1\"]\ntoken_file = \"none\"\n",
            &["stage \"spam\": cannot read conf/none: No such file"],
        ),
        ("[\"a stage\"]\nendpoints = [\"http://h:1\"]\n", &["stage \"a stage\": id: 1 to 64 letters"]),
        ("[expiry]\nendpoints = [\"http://h:1\"]\n", &["stage \"expiry\": ", "built-in"]),
    ] {
        declare(folder.path(), text);
        let said = refused(&folder);
        for expected in expected {
            assert!(said.contains(expected), "{expected} for\n{text}\nin {said}");
        }
        assert!(said.contains("\nhint: "), "{text}: {said}");
    }
}
