//! `torg tasks apply | plan | files`: task files of a running process.

use std::path::PathBuf;

use clap::Args;
use wire::torg::tasks::v1 as proto;

use super::act::Why;
use super::asked::{Asked, answered};
use super::plan::Compare;
use super::{files, words};
use node::config::Config;

/// Which files to put to work.
#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// Task files, or folders that hold them: all that are to be at work.
    #[arg(id = "paths", value_name = "FILES", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    why: Why,
    #[command(flatten)]
    asked: Asked,
}

pub(super) async fn run(apply: Apply, config: &Config) -> anyhow::Result<()> {
    let Apply { paths, why, asked } = apply;
    let request = proto::ApplyTasksRequest { files: read(&paths)?, reason: why.reason, ..Default::default() };
    let answer = answered(asked.client(config).await?.apply_tasks(request).await)?;
    asked.say(&answer, || words::applied(&answer))
}

/// Prints what the files would change on a running process.
pub(super) async fn plan(compare: Compare, config: &Config) -> anyhow::Result<()> {
    let files = read(std::slice::from_ref(&compare.old))?;
    let request = proto::ApplyTasksRequest { files, dry_run: true, ..Default::default() };
    let answer = answered(compare.asked.client(config).await?.apply_tasks(request).await)?;
    compare.asked.say(&answer, || words::planned(&answer))
}

pub(super) async fn files(asked: &Asked, config: &Config) -> anyhow::Result<()> {
    let client = asked.client(config).await?;
    let answer = answered(client.get_task_files(proto::GetTaskFilesRequest::default()).await)?;
    asked.say(&answer, || words::files(&answer))
}

/// Reads files that pass the local checks: the local report has more detail than a refusal of the
/// server.
fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<proto::TaskFile>> {
    let texts = files::texts(paths)?;
    files::checked(texts.clone())?;
    Ok(texts.into_iter().map(|(name, text)| proto::TaskFile { name, text, ..Default::default() }).collect())
}
