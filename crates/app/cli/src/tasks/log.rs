//! `torg tasks log`: prints the log of a run.

use std::io::Write as _;
use std::time::Duration;

use clap::Args;
use wire::torg::tasks::v1 as proto;

use super::asked::{Asked, answered};
use node::config::Config;

/// Polling interval for new log output.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Whose log to print.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// The task.
    task: String,
    /// This run instead of the last one; `torg tasks runs` shows their numbers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    run: Option<u64>,
    /// Goes on until the run has ended.
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    asked: Asked,
}

/// Prints the log in chunks; with JSON, one line per chunk.
pub(super) async fn run(log: Log, config: &Config) -> anyhow::Result<()> {
    let client = log.asked.client(config).await?;
    let run = log.run.unwrap_or_default();
    let mut request = proto::ReadLogRequest { task: log.task, run, ..Default::default() };
    loop {
        let piece = answered(client.read_log(request.clone()).await)?;
        let more = !piece.text.is_empty();
        if (more || log.asked.json) && !print_on(&piece, log.asked.json)? {
            return Ok(());
        }
        if piece.complete || !(more || log.follow) {
            return Ok(());
        }
        // Pin the run: later requests must not switch to a newer one.
        (request.run, request.offset) = (piece.run, piece.next_offset);
        if !more {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

/// Prints and flushes a chunk. Returns whether stdout is still open.
fn print_on(piece: &proto::ReadLogResponse, json: bool) -> anyhow::Result<bool> {
    let mut out = std::io::stdout().lock();
    let mut bytes = Vec::new();
    if json {
        serde_json::to_writer(&mut bytes, piece)?;
        bytes.push(b'\n');
    } else {
        if piece.left_out > 0 {
            writeln!(bytes, "\n[{} bytes were left out]", piece.left_out)?;
        }
        bytes.extend_from_slice(&piece.text);
    }
    match out.write_all(&bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        other => Ok(other.map(|()| true)?),
    }
}
