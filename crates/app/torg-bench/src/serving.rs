//! A server under measurement, in a separate process of this program.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::process::{Child, Command};

/// The longest time for a start and a stop.
const PATIENCE: Duration = Duration::from_secs(600);

/// A running server; killed when dropped.
pub(super) struct Serving {
    child: Child,
    log: PathBuf,
    pub(super) process: u32,
    pub(super) address: SocketAddr,
}

impl Serving {
    /// Starts the server in this folder, with these settings and an otherwise empty environment,
    /// and waits until it is ready. Its log is `server.log` in the folder.
    pub(super) async fn start(folder: &Path, settings: &[(&str, String)]) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let log = folder.join("server.log");
        let file = std::fs::File::create(&log).context("cannot make the server's log")?;
        let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TORG_") {
                command.env_remove(name);
            }
        }
        command
            .arg("serve")
            .env("TORG_LOG_FORMAT", "json")
            .envs(settings.iter().map(|(name, value)| (name, value)))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .kill_on_drop(true);
        let child = command.spawn().context("cannot start the server")?;
        let process = child.id().context("the server has ended")?;
        let mut serving = Self { child, log, process, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        let listening = serving.log_line("listening").await?;
        serving.log_line("ready").await?;
        serving.address = listening["listen"].as_str().context("the server names no address")?.parse()?;
        Ok(serving)
    }

    /// Waits for the line of the log with this message.
    async fn log_line(&mut self, message: &str) -> anyhow::Result<serde_json::Value> {
        let start = Instant::now();
        loop {
            let log = std::fs::read_to_string(&self.log)?;
            let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
            if let Some(line) = lines.into_iter().find(|line| line["message"] == message) {
                return Ok(line);
            }
            let ended = self.child.try_wait()?;
            anyhow::ensure!(
                ended.is_none() && start.elapsed() < PATIENCE,
                "the server does not start:\n{log}"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Stops the server in order.
    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        let asked = Command::new("kill").args(["-TERM", &self.process.to_string()]).status().await?;
        anyhow::ensure!(asked.success(), "the server cannot be told to stop");
        let ended =
            tokio::time::timeout(PATIENCE, self.child.wait()).await.context("the server does not stop")??;
        anyhow::ensure!(ended.success(), "the server failed: {ended}");
        Ok(())
    }
}
