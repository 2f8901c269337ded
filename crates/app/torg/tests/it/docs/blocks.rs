//! The shell blocks of the documentation.

use std::path::{Path, PathBuf};

/// The mark in the comment before a block: who runs it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Run(String),
    RunBy(String),
    NotRun(String),
}

impl Mark {
    fn of(line: &str) -> Option<Mark> {
        let said = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
        let (kind, rest) = said.split_once(": ")?;
        match kind {
            "run" => Some(Mark::Run(rest.to_owned())),
            // The text after a comma distinguishes blocks of one page.
            "run by" => Some(Mark::RunBy(rest.split(',').next()?.to_owned())),
            "not run" => Some(Mark::NotRun(rest.to_owned())),
            _ => None,
        }
    }
}

pub(crate) struct Block {
    /// From the root of the repository.
    pub(crate) page: String,
    pub(crate) mark: Option<Mark>,
    pub(crate) text: String,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

/// Every block of every page, in its order.
pub(crate) fn all_blocks() -> Vec<Block> {
    let mut pages = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    let names = docs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    pages.extend(
        names
            .filter(|name| Path::new(name).extension().is_some_and(|kind| kind == "md"))
            .map(|name| format!("docs/{name}")),
    );
    pages.sort();
    pages.iter().flat_map(|page| blocks_of(page)).collect()
}

/// The text of all blocks of a page that run in this setting, one after the other.
pub(crate) fn to_run(page: &str, setting: &str) -> String {
    let mark = Some(Mark::Run(setting.to_owned()));
    let blocks = blocks_of(page).into_iter().filter(|block| block.mark == mark);
    let text: String = blocks.map(|block| block.text).collect();
    assert!(!text.is_empty(), "{page} has no block that is run in the setting {setting}");
    text
}

fn blocks_of(page: &str) -> Vec<Block> {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let (mut blocks, mut before) = (Vec::new(), "");
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == "```sh" {
            let inside = lines.by_ref().take_while(|line| *line != "```");
            let text = inside.fold(String::new(), |text, line| text + line + "\n");
            blocks.push(Block { page: page.to_owned(), mark: Mark::of(before), text });
        }
        before = line;
    }
    blocks
}
