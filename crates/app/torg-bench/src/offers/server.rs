//! The server process of a run, and clients of its port.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use connectrpc::client::{ClientConfig, Http2Connection, SharedHttp2Connection};
use connectrpc::{CompressionRegistry, Protocol};
use wire::torg::offers::v1::{CabinetServiceClient, OfferServiceClient};

use super::door::Door;
use super::options::OffersBench;
use crate::serving::Serving;
use wire::torg::topics::v1::{ListTopicsRequest, TopicServiceClient};

/// After this time without a new change the topic has all of them.
const STANDSTILL: Duration = Duration::from_secs(2);
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// The most calls that wait for one connection.
const WAITING_MAX: usize = 1024;

/// A running server with clients; killed when dropped.
pub(super) struct Server {
    serving: Serving,
    pub(super) process: u32,
    connections: Vec<SharedHttp2Connection>,
    config: ClientConfig,
    topic: String,
}

impl Server {
    /// Starts the server on the store of the run and connects to it.
    pub(super) async fn start(args: &OffersBench) -> anyhow::Result<Self> {
        // The server runs in a folder without a torg.toml, so the path of the store is absolute.
        let url = args.run.store_url(super::options::SCHEMA, &args.folder());
        let url = match url.strip_prefix("fjall:") {
            Some(folder) => format!("fjall:{}", std::path::absolute(folder)?.display()),
            None => url,
        };
        let settings = [("TORG_STORE_URL", url), ("TORG_STAGES_BUILT_IN", "expiry,evolution".to_owned())];
        let serving = Serving::start(&args.folder(), &settings).await?;
        let uri: http::Uri = format!("http://{}", serving.address).parse()?;
        let mut connections = Vec::new();
        for _ in 0..args.connections {
            let connection = Http2Connection::connect_plaintext(uri.clone()).await?;
            connections.push(connection.shared(WAITING_MAX));
        }
        let config = ClientConfig::new(uri).with_protocol(Protocol::Grpc).with_default_timeout(CALL_TIMEOUT);
        let config = if args.gzip { config } else { config.with_compression(CompressionRegistry::new()) };
        let (process, topic) = (serving.process, args.config().offers.topic);
        Ok(Self { serving, process, connections, config, topic })
    }

    /// A client on each connection.
    pub(super) fn doors(&self) -> Vec<Door> {
        let client = |connection: &SharedHttp2Connection| {
            Door::Rpc(Arc::new(OfferServiceClient::new(connection.clone(), self.config.clone())))
        };
        self.connections.iter().map(client).collect()
    }

    /// The cabinet client, on each connection.
    pub(super) fn cabinets(&self) -> Vec<CabinetServiceClient> {
        let client = |connection: &SharedHttp2Connection| {
            CabinetServiceClient::new(connection.clone(), self.config.clone())
        };
        self.connections.iter().map(client).collect()
    }

    /// Changes in the topic.
    pub(super) async fn exported(&self) -> anyhow::Result<i64> {
        let connection = self.connections.first().context("there is no connection")?;
        let client = TopicServiceClient::new(connection.clone(), self.config.clone());
        let topics = client.list_topics(ListTopicsRequest::default()).await?.topics;
        let topic = topics.into_iter().find(|topic| topic.name == self.topic).context("there is no topic")?;
        Ok(topic.partitions.iter().map(|partition| partition.end_offset).sum())
    }

    /// Waits until the topic has this many changes or gets no more: a write that changes nothing
    /// sends none. Returns how long it took.
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

    /// Stops the server in order.
    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        self.connections.clear();
        self.serving.stop().await
    }
}
