//! A plug-in in a separate process: this program again, with a hidden flag.

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;

use anyhow::Context as _;
use remote_stages::{Plugin, StageSpec};
use stagekit::{Options, Server};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};

use super::base::Base;
use super::options::StagesBench;
use super::work;
use crate::process::print_line;

const GREETING: &str = "listening on ";

/// A running plug-in; it ends when this is dropped.
pub(super) struct Serving {
    _child: Child,
    _stdin: ChildStdin,
    address: SocketAddr,
    pub(super) process: u32,
}

impl Serving {
    pub(super) async fn start() -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
        command.args(["stages", "--child", "plugin"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().context("cannot start the plug-in")?;
        let stdout = child.stdout.take().context("the plug-in has no output")?;
        let stdin = child.stdin.take().context("the plug-in has no input")?;
        let mut lines = BufReader::new(stdout).lines();
        let line = lines.next_line().await?.context("the plug-in ended")?;
        let address = line.strip_prefix(GREETING).context("the plug-in does not say where it is")?.parse()?;
        let process = child.id().context("the plug-in has ended")?;
        Ok(Self { _child: child, _stdin: stdin, address, process })
    }

    /// A stage of the plug-in, as the watcher calls it.
    pub(super) async fn stage(
        &self,
        args: &StagesBench,
        base: &Base,
        id: &str,
    ) -> anyhow::Result<Arc<Plugin>> {
        let outside = check(args, id, &self.address.to_string())?;
        let (catalogue, exposure) = (base.offers.catalogue(), base.offers.config().exposure);
        let described = Plugin::new(&outside, None, catalogue, exposure).describe(&outside).await;
        let described = described.map_err(anyhow::Error::msg)?;
        Ok(Arc::new(Plugin::new(&outside, Some(&described), catalogue, exposure)))
    }
}

/// A stage at an address where nothing listens.
pub(super) async fn nowhere(args: &StagesBench, base: &Base) -> anyhow::Result<Arc<Plugin>> {
    // The system does not reuse the port that soon.
    let address = tokio::net::TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
    let outside = check(args, work::DEAD, &address.to_string())?;
    let (catalogue, exposure) = (base.offers.catalogue(), base.offers.config().exposure);
    Ok(Arc::new(Plugin::new(&outside, None, catalogue, exposure)))
}

fn check(args: &StagesBench, id: &str, address: &str) -> anyhow::Result<StageSpec> {
    StageSpec::check(&args.declared(id, address)).map_err(|wrong| {
        let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        anyhow::Error::msg(wrong.join("; "))
    })
}

/// Serves all stages of a run until stdin ends.
pub(super) async fn in_child() -> anyhow::Result<()> {
    let options = Options { address: "127.0.0.1:0".to_owned(), ..Options::default() };
    let server = Server::bind(work::served(), options).await?;
    print_line(format!("{GREETING}{}", server.address()));
    let ended = async {
        let read = || std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = tokio::task::spawn_blocking(read).await;
    };
    server.run(ended).await;
    Ok(())
}
