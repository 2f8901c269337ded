//! Runs processes that answer with a line of JSON: parts of a run, and peers (other products).

use std::fmt::Display;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::Context as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::process::Command;

/// Parses the last line of stdout.
pub(super) fn last_line<T: DeserializeOwned>(stdout: &[u8]) -> anyhow::Result<T> {
    let text = std::str::from_utf8(stdout)?;
    Ok(serde_json::from_str(text.lines().next_back().context("it printed nothing")?)?)
}

/// Prints the JSON line of this process.
pub(super) fn answer(answer: &impl Serialize) -> anyhow::Result<()> {
    print_line(serde_json::to_string(answer).context("cannot print the report")?);
    Ok(())
}

/// Writes a line to stdout and flushes it. A closed stdout is no error, because a run must still
/// clean up.
pub(super) fn print_line(line: impl Display) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// An installed peer of `bench/peers`.
pub(super) struct Peer {
    interpreter: PathBuf,
    runner: PathBuf,
}

impl Peer {
    /// The peer of this name in Node, or why it cannot run.
    pub(super) fn node(name: &str) -> Result<Self, String> {
        Self::find(name, "node_modules/.bin/node", "run.mjs")
    }

    /// The peer of this name in Python, or why it cannot run.
    pub(super) fn python(name: &str) -> Result<Self, String> {
        Self::find(name, "venv/bin/python", "run.py")
    }

    fn find(name: &str, interpreter: &str, runner: &str) -> Result<Self, String> {
        let cache = cache_folder().ok_or("neither TORG_CACHE nor HOME is set")?;
        let folder = cache.join("peers").join(name);
        let (interpreter, runner) = (folder.join(interpreter), folder.join(runner));
        if !interpreter.exists() || !runner.exists() {
            return Err(format!("it is not installed: run bench/peers/{name}/install"));
        }
        Ok(Self { interpreter, runner })
    }

    /// Runs a measurement of the peer.
    pub(super) async fn run<T: DeserializeOwned>(&self, arguments: &[&str]) -> anyhow::Result<T> {
        let mut command = Command::new(&self.interpreter);
        command.arg(&self.runner).args(arguments);
        let output = command.stderr(Stdio::inherit()).kill_on_drop(true).output().await?;
        anyhow::ensure!(output.status.success(), "the peer failed: {}", output.status);
        last_line(&output.stdout).context("the peer gave no answer")
    }
}

/// The folder for downloads and builds that are not part of a checkout.
fn cache_folder() -> Option<PathBuf> {
    let given = std::env::var_os("TORG_CACHE").map(PathBuf::from);
    given.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/torg")))
}
