//! Tests of the documentation. Every shell block runs: here, or in the test that its mark names. A
//! block that cannot run has a reason.
//!
//! A mark is an HTML comment before the block:
//! - `run: SETTING`: runs here, by a shell, in that setting;
//! - `run by: FILE`: runs in that test, which is in the same folder and names the page in its code;
//! - `not run: REASON`.
//!
//! Links have targets, pages follow one another in the order of the index, and the packages that
//! the README lists are those that the build of the image installs.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

mod blocks;
mod links;
mod needed;
mod settings;
mod shell;

use std::path::{Path, PathBuf};

use blocks::{Block, Mark, all_blocks};

/// Every setting in which blocks run here; `settings` has a test for each.
const SETTINGS: [&str; 9] =
    ["access", "examples", "explain", "files", "ground", "postgres", "seller", "uploads", "values"];

/// Whether the code of a test names a page: its file, or the files beside it if the test is a
/// folder. Comments do not count.
fn names(tests: &Path, file: &str, page: &str) -> bool {
    let page = Path::new(page).file_name().unwrap().to_str().unwrap();
    let sources: Vec<PathBuf> = match file.split_once('/') {
        Some((folder, _)) => {
            std::fs::read_dir(tests.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect()
        }
        None => vec![tests.join(file)],
    };
    let names = |source: &PathBuf| {
        let text = std::fs::read_to_string(source).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        // A whole name, not the end of another page's.
        code.flat_map(|line| line.split(['"', '/', ' '])).any(|word| word == page)
    };
    sources.iter().filter(|source| source.extension().is_some_and(|kind| kind == "rs")).any(names)
}

#[test]
fn every_block_for_a_shell_is_run_or_says_why_not() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let blocks = all_blocks();
    assert!(blocks.len() > 30, "only {} blocks were found", blocks.len());
    for Block { page, mark, text } in &blocks {
        let known = match mark {
            Some(Mark::Run(setting)) => SETTINGS.contains(&setting.as_str()),
            Some(Mark::RunBy(file)) => tests.join(file).is_file() && names(&tests, file, page),
            Some(Mark::NotRun(reason)) => !reason.is_empty(),
            None => false,
        };
        assert!(known, "{page}: nobody runs this ({mark:?}):\n{text}");
    }
    for setting in SETTINGS {
        let used = blocks.iter().any(|block| block.mark == Some(Mark::Run(setting.to_owned())));
        assert!(used, "no block is marked `run: {setting}` any more");
    }
}
