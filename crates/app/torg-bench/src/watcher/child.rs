//! Runs parts of a benchmark in separate processes: this program again, with a hidden flag. Such a
//! process prints one line of JSON.

use std::process::Stdio;

use anyhow::Context as _;
use clap::ValueEnum as _;
use serde::de::DeserializeOwned;
use tokio::process::Command;

use super::options::{Child, WatcherBench};
use crate::process::last_line;

/// Runs a part to its end.
pub(super) async fn run<T: DeserializeOwned>(args: &WatcherBench, part: Child) -> anyhow::Result<T> {
    let name = part.to_possible_value().context("every part has a name")?.get_name().to_owned();
    let store = match args.run.postgres() {
        Some(url) => url.to_owned(),
        None => format!("fjall:{}", args.run.folder().display()),
    };
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command.args(["watcher", "--json", "--child", &name, "--store", &store]);
    let numbers = [
        ("--seconds", args.seconds),
        ("--cache-mb", args.cache_mb),
        ("--deep", args.deep),
        ("--calls", args.calls as u64),
        ("--batch", args.batch as u64),
    ];
    for (flag, number) in numbers {
        command.args([flag, &number.to_string()]);
    }
    let output = command.stderr(Stdio::inherit()).kill_on_drop(true).output().await?;
    anyhow::ensure!(output.status.success(), "the process for {name} failed: {}", output.status);
    last_line(&output.stdout).with_context(|| format!("the process for {name} gave no answer"))
}
