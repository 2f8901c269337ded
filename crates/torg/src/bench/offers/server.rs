//! A `torg serve` of this program, in a process of its own, and clients of its port.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use connectrpc::client::{ClientConfig, Http2Connection, SharedHttp2Connection};
use connectrpc::{CompressionRegistry, Protocol};
use contract::torg::offers::v1::{CabinetServiceClient, OfferServiceClient};
use tokio::process::{Child, Command};

use super::door::Door;
use super::options::OffersBench;
use crate::proto::torg::topics::v1::{ListTopicsRequest, TopicServiceClient};

/// How long a start and a stop may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// After this time without a new change the topic has all of them.
const STANDSTILL: Duration = Duration::from_secs(2);
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Calls that wait for one connection at most.
const WAITING_MAX: usize = 1024;

/// A running server; killed when dropped.
pub(super) struct Server {
    child: Child,
    log: PathBuf,
    pub(super) process: u32,
    connections: Vec<SharedHttp2Connection>,
    config: ClientConfig,
    topic: String,
}

impl Server {
    /// Starts it on the store of the run and connects to it.
    pub(super) async fn start(args: &OffersBench) -> anyhow::Result<Self> {
        let log = args.folder().join("server.log");
        std::fs::create_dir_all(args.folder())?;
        let file = std::fs::File::create(&log).context("cannot make the server's log")?;
        let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TORG_") {
                command.env_remove(name);
            }
        }
        // Where no torg.toml is; so the store's folder has to be named from the root.
        let url = args.store_url();
        let url = match url.strip_prefix("fjall:") {
            Some(folder) => format!("fjall:{}", std::path::absolute(folder)?.display()),
            None => url,
        };
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data", "."])
            .env("TORG_STORE_URL", url)
            .env("TORG_LOG_FORMAT", "json")
            .env("TORG_STAGES_BUILT_IN", "expiry,evolution")
            .current_dir(args.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .kill_on_drop(true);
        let child = command.spawn().context("cannot start the server")?;
        let process = child.id().context("the server has ended")?;
        let config = ClientConfig::new(http::Uri::from_static("http://127.0.0.1"));
        let topic = args.config().offers.topic;
        let mut server = Self { child, log, process, connections: Vec::new(), config, topic };
        server.connect(args).await?;
        Ok(server)
    }

    async fn connect(&mut self, args: &OffersBench) -> anyhow::Result<()> {
        let listening = self.log_line("listening").await?;
        self.log_line("ready").await?;
        let address = listening["listen"].as_str().context("the server names no address")?;
        let uri: http::Uri = format!("http://{address}").parse()?;
        for _ in 0..args.connections {
            let connection = Http2Connection::connect_plaintext(uri.clone()).await?;
            self.connections.push(connection.shared(WAITING_MAX));
        }
        let config = ClientConfig::new(uri).with_protocol(Protocol::Grpc).with_default_timeout(CALL_TIMEOUT);
        self.config = if args.gzip { config } else { config.with_compression(CompressionRegistry::new()) };
        Ok(())
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

    /// A client on each connection.
    pub(super) fn doors(&self) -> Vec<Door> {
        let client = |connection: &SharedHttp2Connection| {
            Door::Rpc(Arc::new(OfferServiceClient::new(connection.clone(), self.config.clone())))
        };
        self.connections.iter().map(client).collect()
    }

    /// The cabinet, on each connection.
    pub(super) fn cabinets(&self) -> Vec<CabinetServiceClient<SharedHttp2Connection>> {
        let client = |connection: &SharedHttp2Connection| {
            CabinetServiceClient::new(connection.clone(), self.config.clone())
        };
        self.connections.iter().map(client).collect()
    }

    /// How many changes the topic has.
    pub(super) async fn exported(&self) -> anyhow::Result<i64> {
        let connection = self.connections.first().context("there is no connection")?;
        let client = TopicServiceClient::new(connection.clone(), self.config.clone());
        let topics = client.list_topics(ListTopicsRequest::default()).await?.into_owned().topics;
        let topic = topics.into_iter().find(|topic| topic.name == self.topic).context("there is no topic")?;
        Ok(topic.partitions.iter().map(|partition| partition.end_offset).sum())
    }

    /// Waits until the topic has so many changes, or gets no more: a write that changes nothing is none. Says how long it took.
    pub(super) async fn exports(&self, changes: i64) -> anyhow::Result<Duration> {
        let (start, mut known, mut grown) = (Instant::now(), 0, Duration::ZERO);
        while known < changes && start.elapsed() < grown + STANDSTILL {
            let now = self.exported().await?;
            if now > known {
                (known, grown) = (now, start.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(grown)
    }

    /// Ends it in order.
    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        self.connections.clear();
        let asked = Command::new("kill").args(["-TERM", &self.process.to_string()]).status().await?;
        anyhow::ensure!(asked.success(), "the server cannot be told to stop");
        let ended =
            tokio::time::timeout(PATIENCE, self.child.wait()).await.context("the server does not stop")??;
        anyhow::ensure!(ended.success(), "the server failed: {ended}");
        Ok(())
    }
}
