//! The file that declares outside stages.
//!
//! ```toml
//! [spam]
//! endpoints = ["http://127.0.0.1:7070"]
//! may_change = ["status", "status_reason"]
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use remote_stages::Outside;

use crate::declaration::Declaration;
use crate::errors::advised;

const HINT: &str = "mend it: docs/stages.md shows such a file";

/// The stages of a file; none if it has no name. `taken` are the ids of others.
pub(crate) fn read(file: &Path, taken: &[&str]) -> anyhow::Result<Vec<Outside>> {
    if file.as_os_str().is_empty() {
        return Ok(Vec::new());
    }
    let shown = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read stages.file {shown}"))?;
    let stages: BTreeMap<String, Declaration> =
        toml::from_str(&text).map_err(|error| advised(format!("{shown}: {error}"), HINT))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let stage = |(id, declaration): (String, Declaration)| {
        outside(folder, &id, declaration, taken).with_context(|| format!("{shown}: stage {id:?}"))
    };
    stages.into_iter().map(stage).collect()
}

fn outside(folder: &Path, id: &str, declaration: Declaration, taken: &[&str]) -> anyhow::Result<Outside> {
    if taken.contains(&id) {
        return Err(advised("a built-in stage has this id", "choose another id"));
    }
    let stage = declaration.stage(id, folder)?;
    Outside::check(&stage).map_err(|wrong| {
        let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        advised(wrong.join("; "), HINT)
    })
}
