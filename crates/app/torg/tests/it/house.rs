//! Layout rules of the workspace: rooms depend downwards only, modules of the app have no cycles,
//! and crates, files and comments have size limits.

#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// From the bottom up.
const ROOMS: [&str; 7] = ["base", "engine", "market", "feeds", "tasks", "edge", "app"];
const CRATE_LINES_MAX: usize = 12_000;
const FILE_LINES_MAX: usize = 600;
const COMMENT_COLUMNS_MAX: usize = 100;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

/// The crates of the workspace: name, room, folder, names of normal dependencies in the workspace.
struct Crate {
    name: String,
    room: usize,
    folder: PathBuf,
    uses: Vec<String>,
}

fn crates() -> Vec<Crate> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let crates: Vec<Crate> = packages
        .iter()
        .map(|package| {
            let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap());
            let folder = manifest.parent().unwrap().to_owned();
            let room = folder.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
            let uses = package["dependencies"].as_array().unwrap().iter();
            let uses = uses.filter(|used| used["kind"].is_null() && !used["path"].is_null());
            Crate {
                name: package["name"].as_str().unwrap().to_owned(),
                room: ROOMS
                    .iter()
                    .position(|known| *known == room)
                    .unwrap_or_else(|| panic!("no room {room}")),
                folder,
                uses: uses.map(|used| used["name"].as_str().unwrap().to_owned()).collect(),
            }
        })
        .collect();
    assert!(crates.len() > 25);
    crates
}

/// Sources below a folder, without tests: their path and their text.
fn sources(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if name != "tests" {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|kind| kind == "rs") && name != "tests.rs" {
            let text = std::fs::read_to_string(&path).unwrap();
            let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
            found.push((path, text[..end].to_owned()));
        }
    }
}

fn sources_of(found: &Crate) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    sources(&found.folder.join("src"), &mut all);
    all
}

#[test]
fn rooms_depend_downwards_only() {
    let crates = crates();
    let rooms: BTreeMap<&str, usize> = crates.iter().map(|found| (&*found.name, found.room)).collect();
    let wrong: Vec<String> = crates
        .iter()
        .flat_map(|from| from.uses.iter().map(move |to| (from, to)))
        .filter(|(from, to)| rooms[&***to] > from.room)
        .map(|(from, to)| format!("{} ({}) uses {to} ({})", from.name, ROOMS[from.room], ROOMS[rooms[&**to]]))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn crates_and_files_stay_small_enough_to_read() {
    let mut wrong = Vec::new();
    for found in crates() {
        let lines: usize = sources_of(&found).iter().map(|(_, text)| text.lines().count()).sum();
        if lines > CRATE_LINES_MAX {
            wrong.push(format!("{}: {lines} lines", found.name));
        }
        let mut files = Vec::new();
        sources(&found.folder, &mut files);
        for (path, _) in files {
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            if lines > FILE_LINES_MAX {
                wrong.push(format!("{}: {lines} lines", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn comments_wrap() {
    let mut wrong = Vec::new();
    for found in crates() {
        for (path, text) in sources_of(&found) {
            let mut is_code = false;
            for (number, line) in text.lines().enumerate() {
                let line = line.trim_end();
                is_code ^= line.trim_start_matches(['/', '!', ' ']).starts_with("```");
                // An address, a row of a table and code cannot be wrapped.
                let breaks = !is_code && !line.contains("http") && !line.contains(" | ");
                if breaks && line.trim_start().starts_with("//") && line.chars().count() > COMMENT_COLUMNS_MAX
                {
                    wrong.push(format!("{}:{}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} lines: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
}

/// The modules at a crate's root that each of them names.
fn modules(found: &Crate) -> BTreeMap<String, BTreeSet<String>> {
    let root = found.folder.join("src");
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let files = sources_of(found);
    for (path, _) in &files {
        uses.entry(module(&root, path)).or_default();
    }
    let known: Vec<String> = uses.keys().cloned().collect();
    for (path, text) in &files {
        let from = module(&root, path);
        let depth = path.strip_prefix(&root).unwrap().components().count();
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for to in &known {
                let named = |prefix: &str| {
                    line.match_indices(&format!("{prefix}::{to}")).any(|(at, name)| {
                        !line[at + name.len()..]
                            .starts_with(|next: char| next.is_alphanumeric() || next == '_')
                    })
                };
                if *to != from && (named("crate") || depth == 1 && named("super")) {
                    uses.get_mut(&from).unwrap().insert(to.clone());
                }
            }
        }
    }
    uses
}

fn module(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap();
    inside.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

#[test]
fn modules_of_the_app_have_no_cycles() {
    for found in crates().iter().filter(|found| ROOMS[found.room] == "app") {
        let mut uses = modules(found);
        // Removes modules without remaining dependencies until none is left.
        loop {
            let done: Vec<String> =
                uses.iter().filter(|(_, to)| to.is_empty()).map(|(name, _)| name.clone()).collect();
            if done.is_empty() {
                break;
            }
            for name in &done {
                uses.remove(name);
            }
            for to in uses.values_mut() {
                to.retain(|name| !done.contains(name));
            }
        }
        assert!(uses.is_empty(), "{}: these modules know each other: {uses:#?}", found.name);
    }
}

/// The texts in backquotes of a page that begin with a room.
fn paths_of(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let quoted = text.split('`').skip(1).step_by(2).map(|path| path.trim_start_matches("crates/").to_owned());
    quoted.filter(|path| ROOMS.iter().any(|room| path.starts_with(&format!("{room}/")))).collect()
}

#[test]
fn paths_that_the_pages_name_are_there() {
    for page in ["docs/architecture.md", "CONTRIBUTING.md"] {
        let paths = paths_of(page);
        assert!(paths.len() > 10, "{page} has only {} paths", paths.len());
        let missing: Vec<&String> =
            paths.iter().filter(|path| !root().join("crates").join(path).exists()).collect();
        assert!(missing.is_empty(), "{page}: {missing:#?}");
    }
}
