//! `torg stages new`, by the binary; `stagekit` has the templates and tests their output.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

use std::path::Path;
use std::process::{Command, Output};

fn torg(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_torg")).args(arguments).current_dir(folder).output().unwrap()
}

#[test]
fn a_project_is_written_out_once_and_says_what_to_do_next() {
    let folder = tempfile::tempdir().unwrap();
    let made = torg(folder.path(), &["stages", "new", "--lang", "python", "price-watch"]);
    let said = String::from_utf8(made.stdout).unwrap();
    assert!(made.status.success() && said.contains("torg stages register price-watch"), "{said}");
    assert!(folder.path().join("price-watch/torg_stages/__init__.py").is_file());
    let again = torg(folder.path(), &["stages", "new", "price-watch"]);
    let said = String::from_utf8(again.stderr).unwrap();
    assert_eq!(again.status.code(), Some(1), "{said}");
    assert!(said.contains("price-watch is there already and not empty\nhint: "), "{said}");
    let elsewhere = torg(folder.path(), &["stages", "new", "--lang", "rust", "price-watch", "other/place"]);
    assert!(elsewhere.status.success());
    assert!(folder.path().join("other/place/src/stage.rs").is_file());
}

#[test]
fn a_name_that_no_stage_can_have_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = torg(folder.path(), &["stages", "new", "price watch"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
