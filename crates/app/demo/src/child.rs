//! Supervises the outside stage: starts it as a child process, registers it, and restarts it after
//! an exit.
//!
//! A restart reuses the previous port, so that Torg still finds the stage. If that port is taken,
//! it uses another one.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use buffa_types::google::protobuf::FieldMask;
use remote_stages::StageRegistry;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::watch;
use wire::torg::stages::v1::OutsideStage;

use super::folder::Folder;
use super::limits::{FAILURE_PAUSE, STAGE_AWAY, STAGE_PATIENCE};
use super::stage::{ID, LISTENING, VERB};

/// Holds the process id while the stage runs, for `kill`.
pub(super) const PID_FILE: &str = "stage.pid";
/// How long to wait until this process sees the registration, and the polling interval.
const KNOWN_TIME_MAX: Duration = Duration::from_secs(30);
const KNOWN_PAUSE: Duration = Duration::from_millis(20);
const AUTHOR: &str = "demo";

/// Deletes the pid file: the system may reuse the id for another process.
pub(super) fn forget_pid(folder: &Folder) {
    let file = folder.place(PID_FILE);
    match std::fs::remove_file(&file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            tracing::warn!(%error, file = %file.display(), "cannot delete the number of a process that ended");
        }
        _ => {}
    }
}

/// The child process of the outside stage, and what a restart needs.
pub(super) struct OutsideProcess {
    registry: StageRegistry,
    folder: Folder,
    address: SocketAddr,
    child: Option<Child>,
    /// Open while the process should run. It is not left in `child`, because waiting for the child
    /// closes it.
    input: Option<ChildStdin>,
}

impl OutsideProcess {
    pub(super) fn new(registry: StageRegistry, folder: Folder) -> OutsideProcess {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        OutsideProcess { registry, folder, address: any, child: None, input: None }
    }

    /// Starts and registers the stage. Returns its process id.
    pub(super) async fn start(&mut self) -> anyhow::Result<u32> {
        let started = match self.spawn(self.address).await {
            // Another program may have taken the port.
            Err(_) if self.address.port() != 0 => self.spawn(SocketAddr::new(self.address.ip(), 0)).await,
            started => started,
        };
        let (mut child, address) = started.context("the outside stage does not start")?;
        self.input = child.stdin.take();
        let pid = child.id().unwrap_or_default();
        (self.child, self.address) = (Some(child), address);
        self.folder.write_text(PID_FILE, &format!("{pid}\n"))?;
        self.register().await?;
        tracing::info!(stage = ID, pid, %address, "the demo's outside stage runs");
        Ok(pid)
    }

    /// Restarts the process after every exit until `stop` turns true, then ends it.
    pub(super) async fn keep(mut self, mut stop: watch::Receiver<bool>) {
        loop {
            let ended = async {
                match &mut self.child {
                    Some(child) => child.wait().await.map(|status| status.to_string()),
                    None => Ok("it did not start".to_owned()),
                }
            };
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                ended = ended => {
                    let why = ended.unwrap_or_else(|error| error.to_string());
                    let seconds = STAGE_AWAY.as_secs();
                    tracing::warn!(stage = ID, why, seconds, "the demo's outside stage ended, and comes back after these seconds");
                }
            }
            self.child = None;
            forget_pid(&self.folder);
            if rest(&mut stop, STAGE_AWAY).await {
                break;
            }
            while let Err(error) = self.start().await {
                tracing::warn!(error = format!("{error:#}"), "will try again");
                if rest(&mut stop, FAILURE_PAUSE).await {
                    break;
                }
            }
        }
        self.end().await;
    }

    /// Ends the process gracefully, or kills it after a timeout.
    async fn end(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // End of input tells the child to stop.
        self.input = None;
        if tokio::time::timeout(STAGE_PATIENCE, child.wait()).await.is_err() {
            // An error here is harmless: the child is killed when this process exits.
            let _ = child.kill().await;
        }
    }

    async fn spawn(&self, address: SocketAddr) -> anyhow::Result<(Child, SocketAddr)> {
        let mut child = Command::new(own_program()?)
            .arg0("torg")
            .args([VERB, "--listen", &address.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C in a terminal goes to the parent only; the child stops at the end of its
            // input.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .context("cannot start a process")?;
        let output = child.stdout.take().context("its output is not there")?;
        let mut lines = BufReader::new(output).lines();
        let line = tokio::time::timeout(STAGE_PATIENCE, lines.next_line()).await;
        let Some(line) = line.context("it says nothing")?? else { bail!("it ended without a word") };
        let address = line.strip_prefix(LISTENING).with_context(|| format!("it says {line:?}"))?;
        Ok((child, address.parse()?))
    }

    /// Registers the stage as `torg stages register` does.
    async fn register(&self) -> anyhow::Result<()> {
        let title = FieldMask { paths: vec!["title".to_owned()], ..FieldMask::default() };
        let declared = OutsideStage {
            id: ID.to_owned(),
            endpoints: vec![format!("http://{}", self.address)],
            may_change: Some(title).into(),
            ..OutsideStage::default()
        };
        let stored = self.registry.store();
        let outside = stored.complete(&declared).await?;
        let described = self.registry.plugin(&outside, None).describe(&outside).await;
        let described = described.map_err(|why| anyhow::anyhow!("stage {ID:?}: {why}"))?;
        let now = self.registry.offers().watcher().clock().now();
        stored.register(&outside, &described, AUTHOR, now).await?;
        self.registry.refresh_soon();
        // The demo must not be reported as ready before the stage is known.
        let known = async {
            while !self.registry.remote().contains_key(ID) {
                tokio::time::sleep(KNOWN_PAUSE).await;
            }
        };
        tokio::time::timeout(KNOWN_TIME_MAX, known).await.context("the outside stage is not taken up")
    }
}

impl Drop for OutsideProcess {
    /// The process has exited by now, or is killed when its `child` is dropped.
    fn drop(&mut self) {
        forget_pid(&self.folder);
    }
}

/// The path that runs this executable again, even after its file was replaced or deleted, as a
/// rebuild does while a demo runs.
fn own_program() -> anyhow::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        // The path then ends in `(deleted)`, and another program may be there. This link leads to
        // the running executable.
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    std::env::current_exe().context("this program has no path")
}

/// Sleeps. Returns true if it is time to stop.
pub(super) async fn rest(stop: &mut watch::Receiver<bool>, pause: Duration) -> bool {
    tokio::select! {
        biased;
        _ = stop.wait_for(|stop| *stop) => true,
        () = tokio::time::sleep(pause) => false,
    }
}
