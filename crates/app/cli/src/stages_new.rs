//! `torg stages new`: creates the project of a custom stage.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;
use stagekit::template::{self, Language, TemplateError};

use terminal::errors::advised;
use terminal::say;
use text::shell::quoted;

/// What to write out, and where.
#[derive(Debug, Args)]
pub(crate) struct NewStage {
    /// The stage's id: letters, digits, - and _, a letter first.
    name: String,
    /// The folder, which must not exist or be empty; the name, by default.
    dir: Option<PathBuf>,
    /// The language.
    #[arg(long, value_enum, default_value_t = Lang::Python)]
    lang: Lang,
    /// Where the crate `stagekit` is, as seen from the folder; for Rust.
    #[arg(long, value_name = "PATH")]
    sdk: Option<String>,
    /// Prints what was written, and what to do next, as an object of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Lang {
    Python,
    Rust,
}

/// Writes the project and prints the next steps.
pub(crate) fn run(new: &NewStage) -> anyhow::Result<()> {
    let NewStage { name, dir, lang, sdk, json } = new;
    let folder = dir.clone().unwrap_or_else(|| PathBuf::from(name));
    let (language, test, start) = match lang {
        Lang::Python => (Language::Python, "python3 -m unittest", "python3 stage.py"),
        Lang::Rust => (Language::Rust, "cargo test", "cargo run"),
    };
    let written =
        template::write_out(language, name, &folder, sdk.as_deref()).map_err(|error| match error {
            TemplateError::Name(_) => advised(error, "try something like price-watch"),
            TemplateError::Occupied(_) => advised(error, format!("give another folder: {name} DIR")),
            TemplateError::Io { .. } => advised(error, "give a folder that you may write to"),
        })?;
    let register = format!("torg stages register {name} --endpoint http://127.0.0.1:7070 --may-change title");
    let enter = format!("cd {}", quoted(&folder.to_string_lossy()));
    let next = [enter, test.to_owned(), start.to_owned(), register];
    let files: Vec<_> = written.iter().map(|file| file.to_string_lossy()).collect();
    let answer = json!({ "folder": folder.to_string_lossy(), "files": files, "next": next });
    say(*json, &answer, || {
        let head = format!("{} files written to {}; next:", written.len(), folder.display());
        std::iter::once(head).chain(next.iter().map(|line| format!("  {line}"))).collect()
    })
}
