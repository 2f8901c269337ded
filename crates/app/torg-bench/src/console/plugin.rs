//! Stages in a separate process: this program again, with a hidden flag. They are called for every
//! offer and change nothing.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use anyhow::Context as _;
use async_trait::async_trait;
use stagekit::{Answer, Description, Failure, Options, Server, Stage, Subject};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};

use super::ConsoleBench;
use crate::process::print_line;

const GREETING: &str = "listening on ";
/// Stages of a run that this process does not serve: two are built in, and two do not answer.
const BUILT_IN: u64 = 2;
const DEAD: u64 = 2;
/// More than any run needs.
const SERVED_MAX: u64 = 60;

/// The process with the stages; it ends when this is dropped.
pub(super) struct Plugin {
    _child: Child,
    _stdin: ChildStdin,
    address: SocketAddr,
}

impl Plugin {
    pub(super) async fn start() -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
        command.args(["console", "--child"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().context("cannot start the stages")?;
        let stdout = child.stdout.take().context("the stages have no output")?;
        let stdin = child.stdin.take().context("the stages have no input")?;
        let line = BufReader::new(stdout).lines().next_line().await?.context("the stages ended")?;
        let address = line.strip_prefix(GREETING).context("the stages do not say where they are")?.parse()?;
        Ok(Self { _child: child, _stdin: stdin, address })
    }

    /// Writes the file that declares all outside stages of a run.
    pub(super) async fn declare(&self, args: &ConsoleBench) -> anyhow::Result<PathBuf> {
        // The system does not reuse the port that soon.
        let nowhere = tokio::net::TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
        let living = args.stages - BUILT_IN - DEAD;
        let stages = (0..living)
            .map(|number| (id(number), self.address))
            .chain((0..DEAD).map(|number| (format!("dead-{number:02}"), nowhere)));
        let lines: Vec<String> =
            stages.map(|(id, address)| format!("[{id}]\nendpoints = [\"http://{address}\"]\n")).collect();
        let file = std::path::absolute(args.folder())?.join("stages.toml");
        std::fs::write(&file, lines.concat()).context("cannot write the file of stages")?;
        Ok(file)
    }
}

fn id(number: u64) -> String {
    format!("look-{number:02}")
}

/// A stage that makes no changes.
struct Looks(String);

#[async_trait]
impl Stage for Looks {
    fn describe(&self) -> Description {
        Description::new(&self.0, "bench")
    }

    async fn process(&self, _: &Subject) -> Result<Answer, Failure> {
        Ok(Answer::untouched())
    }
}

/// Serves all stages until stdin ends.
pub(super) async fn in_child() -> anyhow::Result<()> {
    let stages = (0..SERVED_MAX).map(|number| Arc::new(Looks(id(number))) as Arc<dyn Stage>).collect();
    let options = Options { address: "127.0.0.1:0".to_owned(), ..Options::default() };
    let server = Server::bind(stages, options).await?;
    print_line(format!("{GREETING}{}", server.address()));
    let ended = async {
        let read = || std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = tokio::task::spawn_blocking(read).await;
    };
    server.run(ended).await;
    Ok(())
}
