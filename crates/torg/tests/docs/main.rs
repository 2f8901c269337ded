//! Every block for a shell in the documentation is run: here, or by the test that its mark names. What cannot be run
//! says why.
//!
//! A mark is a comment of HTML before the block:
//! - `run: SETTING`: run here, by a shell, in that setting;
//! - `run by: FILE`: run by that test, which stands beside this one;
//! - `not run: REASON`.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

#[path = "../common/mod.rs"]
mod common;

mod blocks;
mod settings;
mod shell;

use std::path::Path;

use blocks::{Block, Mark, all_blocks};

/// Every setting in which blocks are run here; `settings` has a test for each.
const SETTINGS: [&str; 9] =
    ["access", "examples", "explain", "files", "ground", "postgres", "seller", "uploads", "values"];

#[test]
fn every_block_for_a_shell_is_run_or_says_why_not() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let blocks = all_blocks();
    assert!(blocks.len() > 30, "only {} blocks were found", blocks.len());
    for Block { page, mark, text } in &blocks {
        let known = match mark {
            Some(Mark::Run(setting)) => SETTINGS.contains(&setting.as_str()),
            Some(Mark::RunBy(file)) => tests.join(file).is_file(),
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
