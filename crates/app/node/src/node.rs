//! Start and shutdown of a server process (`torg serve`).
//!
//! Authentication is set up first. Then the port is bound, so that `/healthz` answers and `/readyz`
//! reports "starting" while the store recovers. Each opened part registers its readiness check and
//! its close hook with [`Node`]; hooks run in reverse order. A failed background task
//! ([`supervisor`](crate::supervisor)) ends the process like a signal, but with an error.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use access::ApiKeys;
use anyhow::Context as _;
use clock::Clock;
use feeds::Feeds;
use futures::future::BoxFuture;
use store::Store;
use tasks::Tasks;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use topics::Topics;

use crate::auth::{self, Auth};
use crate::config::{Config, Role};
use crate::environment::{Environment, Opened, Prepare, Started};
use crate::figures::Metrics;
use crate::figures::{self, Observatory, Probe, Sampler, Sources};
use crate::health::Readiness;
use crate::parts::{self, instance_name};
use crate::server::{self, Front, Server, Slots};
use crate::supervisor::Running;
use terminal::errors::advised;

/// Exit code after a second signal: 128 + SIGINT, as shells report it.
const EXIT_AT_ONCE: i32 = 130;
/// Timeout for closing one part. Longer than the store waits for an unavailable database.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(60);
/// How often the retention of topics is applied.
const TRIM_INTERVAL: Duration = Duration::from_secs(60);

pub async fn serve(config: Config, prepare: Prepare) -> anyhow::Result<()> {
    let mut signals = Signals::install()?;
    let auth = Auth::prepare(&config)?;
    let listener = server::bind(config.listen).await?;
    let address = listener.local_addr().context("cannot read the address of the port")?;
    let environment = prepare(address)?;
    let mut app = Node::new(config);
    let limits = &app.config.limits;
    let router = server::router(
        app.readiness.clone(),
        app.metrics.clone(),
        app.slots.clone(),
        Duration::from_secs(limits.request_timeout_s.into()),
        Front {
            gate: auth.gate.clone(),
            tls: auth.tls.is_some(),
            console: app.config.roles.contains(&Role::Console),
            world: environment.clock(),
            public: environment.routes(),
        },
    );
    let server = Server::start(listener, router, auth.tls.clone(), limits.connections_max as usize);
    tracing::info!(listen = %address, version = env!("CARGO_PKG_VERSION"), "listening");

    let opened = tokio::select! {
        biased;
        name = signals.next() => Err(name),
        opened = app.open(&auth, &environment) => Ok(opened),
    };
    let outcome = match opened {
        Ok(Ok(guide)) => {
            app.readiness.started();
            tracing::info!(store = %app.config.store.url, roles = app.role_names().join(","), "ready");
            if let Some(guide) = guide {
                terminal::print(&[guide.trim_end()])?;
            }
            app.over(signals.next()).await
        }
        Ok(Err(error)) => Err(error),
        Err(name) => {
            tracing::info!(signal = name, "stopping before the start was over");
            Ok(())
        }
    };
    signals.exit_at_the_next();
    app.stop(server).await;
    outcome
}

/// A running process: its configuration, its open parts, and their close hooks.
pub(crate) struct Node {
    pub(crate) config: Config,
    pub(crate) started: Instant,
    pub(crate) readiness: Readiness,
    pub(crate) metrics: Metrics,
    /// Filled as parts become available to the routes.
    pub(crate) slots: Slots,
    /// Tells streams that the process stops.
    pub(crate) closing: watch::Sender<bool>,
    closers: Vec<Closer>,
    /// Resolves when a background task fails.
    pub(crate) failure: BoxFuture<'static, anyhow::Error>,
    /// Named after this process.
    pub(crate) observatory: Observatory,
}

/// Closes one part. Runs after the last request, also if a later part could not be opened.
struct Closer {
    part: &'static str,
    close: Box<dyn FnOnce() -> BoxFuture<'static, anyhow::Result<()>> + Send>,
}

impl Node {
    fn new(config: Config) -> Node {
        Node {
            config,
            started: Instant::now(),
            readiness: Readiness::new(),
            metrics: Metrics::new(),
            slots: Slots::default(),
            closing: watch::Sender::new(false),
            closers: Vec::new(),
            failure: Box::pin(std::future::pending()),
            observatory: Observatory::new(&instance_name()),
        }
    }

    /// Waits for a signal or a failed background task.
    async fn over(&mut self, signal: impl Future<Output = &'static str>) -> anyhow::Result<()> {
        tokio::select! {
            biased;
            name = signal => {
                tracing::info!(signal = name, "stopping");
                Ok(())
            }
            error = &mut self.failure => {
                tracing::error!(error = format!("{error:#}"), "stopping");
                Err(error)
            }
        }
    }

    /// Opens the parts in the order of their dependencies, then accepts RPC calls. Returns a text
    /// to print, with which the demo says what to try.
    async fn open(
        &mut self,
        auth: &Auth,
        environment: &Arc<dyn Environment>,
    ) -> anyhow::Result<Option<String>> {
        self.create_data_dir().await?;
        let (store, probe) = self.open_store().await?;
        let keys = self.open_access(auth, &store);
        self.open_console(&store).await?;
        let topics = self.open_topics(&store).await?;
        let ctl = parts::open_ctl(&store);
        let (market, feeds) = self.open_marketplace(&**environment, &store, &topics, &ctl).await?;
        let tasks = self.open_tasks(&store, &topics, ctl.clone(), &market).await?;
        self.observe(probe, &topics, &market, &feeds, tasks.clone(), environment.clone());
        let (market_, feeds_, ctl_, topics_) = (market.clone(), feeds.clone(), ctl.clone(), topics.clone());
        let opened = Opened { market: market_, feeds: feeds_, ctl: ctl_, topics: topics_ };
        let guide = self.start_environment(&**environment, opened).await?;
        self.open_api(&store, topics, keys, market, feeds, ctl, tasks)?;
        Ok(guide)
    }

    async fn start_environment(
        &mut self,
        environment: &dyn Environment,
        node: Opened,
    ) -> anyhow::Result<Option<String>> {
        let Some(Started { running, guide }) = environment.start(node).await? else { return Ok(None) };
        self.fails_with(running.failure());
        self.on_close("environment", async move || running.close().await);
        Ok(Some(guide))
    }

    async fn open_store(&mut self) -> anyhow::Result<(Store, Probe)> {
        let store = parts::open_store(&self.config).await?;
        let probe = Probe::new(&store);
        let probed = probe.clone();
        self.readiness.register("store", move || {
            let probe = probed.clone();
            async move { probe.ask().await.map_err(|error| error.to_string()) }
        });
        let shown = store.clone();
        self.metrics.show(move || shown.gauges());
        let closed = store.clone();
        self.on_close("store", async move || closed.close().await.map_err(parts::store_error));
        Ok((store, probe))
    }

    fn open_access(&mut self, auth: &Auth, store: &Store) -> ApiKeys {
        let keys = auth::api_keys(store);
        let upkeep = auth.open(&keys);
        self.on_close("access", async move || upkeep.close().await);
        keys
    }

    async fn open_topics(&mut self, store: &Store) -> anyhow::Result<Topics> {
        let topics = parts::open_topics(&self.config, store).await?;
        let trimming = tokio::spawn(trim_topics(topics.clone()));
        let closed = topics.clone();
        self.on_close("topics", async move || {
            trimming.abort();
            closed.close().await.map_err(parts::topics_error)
        });
        Ok(topics)
    }

    fn observe(
        &mut self,
        probe: Probe,
        topics: &Topics,
        market: &api::Market,
        feeds: &Feeds,
        tasks: Option<Tasks>,
        environment: Arc<dyn Environment>,
    ) {
        let sources = Sources {
            registry: market.registry.clone(),
            feeds: feeds.clone(),
            tasks,
            topics: topics.clone(),
            photos: self.slots.photos.get().cloned(),
            consumers: parts::consumers(&self.config),
            time_moves: Box::new(move || environment.clock_jumps()),
        };
        let parts = figures::Parts {
            clock: Clock::system(),
            readiness: self.readiness.clone(),
            metrics: self.metrics.clone(),
            probe,
            sources,
        };
        self.metrics.show_seen(self.observatory.clone());
        let sampler = Sampler::new(parts, self.observatory.clone());
        let mut running = Running::new();
        let stopped = running.stopped();
        // Without the sampler no problem would be reported any more.
        running.start("nobody looks at how Torg fares any more", async move {
            sampler.run(stopped).await;
            Ok(())
        });
        self.fails_with(running.failure());
        self.on_close("figures", async move || running.close().await);
    }

    /// Ends the process with this error when it resolves.
    pub(crate) fn fails_with(&mut self, failure: impl Future<Output = anyhow::Error> + Send + 'static) {
        let before = std::mem::replace(&mut self.failure, Box::pin(std::future::pending()));
        self.failure = Box::pin(async move {
            tokio::select! {
                error = before => error,
                error = failure => error,
            }
        });
    }

    /// Creates the folder of embedded data, unless nothing is stored in it.
    async fn create_data_dir(&self) -> anyhow::Result<()> {
        let Config { data_dir, store, files, .. } = &self.config;
        if store.url.scheme() != "fjall" && files.url.scheme() != "file" {
            return Ok(());
        }
        tokio::fs::create_dir_all(data_dir).await.map_err(|error| {
            let message = format!("cannot make the data folder {}: {error}", data_dir.display());
            advised(message, "choose a folder that this user can write to with --data")
        })
    }

    pub(crate) fn on_close<F>(&mut self, part: &'static str, close: impl FnOnce() -> F + Send + 'static)
    where
        F: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        self.closers.push(Closer { part, close: Box::new(move || Box::pin(close())) });
    }

    pub(crate) fn has_any(&self, roles: &[Role]) -> bool {
        roles.iter().any(|role| self.config.roles.contains(role))
    }

    pub(crate) fn role_names(&self) -> Vec<String> {
        self.config.roles.iter().map(|role| role.name().to_owned()).collect()
    }

    /// Drains the server, then closes the parts in reverse order.
    async fn stop(self, server: Server) {
        let limits = &self.config.limits;
        let was_ready = self.readiness.draining();
        if was_ready && limits.drain_notice_s > 0 {
            tokio::time::sleep(Duration::from_secs(limits.drain_notice_s.into())).await;
        }
        self.closing.send_replace(true);
        let cut = server.drain(Duration::from_secs(limits.drain_timeout_s.into())).await;
        if cut > 0 {
            tracing::warn!(connections = cut, "cut off: they were not done in limits.drain_timeout_s");
        }
        for Closer { part, close } in self.closers.into_iter().rev() {
            match tokio::time::timeout(CLOSE_TIME_MAX, close()).await {
                Ok(Ok(())) => tracing::info!(part, "closed"),
                Ok(Err(error)) => tracing::error!(part, error = format!("{error:#}"), "cannot close"),
                Err(_) => tracing::error!(part, "does not close in time"),
            }
        }
        tracing::info!("stopped");
    }
}

/// Deletes messages beyond the retention of each topic, periodically. Several processes may do this
/// at once.
async fn trim_topics(topics: Topics) {
    loop {
        tokio::time::sleep(TRIM_INTERVAL).await;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64;
        let specs = topics.list().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot list the topics to trim");
            Vec::new()
        });
        for spec in specs {
            if let Err(error) = topics.trim(&spec.name, now).await {
                tracing::warn!(topic = spec.name, %error, "cannot trim");
            }
        }
    }
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn install() -> anyhow::Result<Signals> {
        let install = |kind| signal(kind).context("cannot listen to signals");
        Ok(Signals {
            terminate: install(SignalKind::terminate())?,
            interrupt: install(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }

    /// Exits immediately at a second signal.
    fn exit_at_the_next(mut self) {
        tokio::spawn(async move {
            let name = self.next().await;
            tracing::warn!(signal = name, "second signal: ending at once");
            std::process::exit(EXIT_AT_ONCE);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};
    use std::sync::{Arc, Mutex};

    use super::*;

    #[tokio::test]
    async fn parts_are_closed_in_reverse_order_and_a_failure_does_not_stop_the_others() {
        let mut app = Node::new(Config::default());
        let closed = Arc::new(Mutex::new(Vec::new()));
        for part in ["store", "topics", "files"] {
            let closed = Arc::clone(&closed);
            app.on_close(part, async move || {
                closed.lock().unwrap().push(part);
                if part == "topics" { Err(anyhow::anyhow!("no")) } else { Ok(()) }
            });
        }
        let listener = server::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.unwrap();
        let server = Server::start(listener, axum::Router::new(), None, 1);
        app.stop(server).await;
        assert_eq!(*closed.lock().unwrap(), ["files", "topics", "store"]);
    }

    #[tokio::test]
    async fn the_failure_of_what_must_not_end_ends_the_process_with_its_error() {
        let mut app = Node::new(Config::default());
        let mut running = Running::new();
        app.failure = Box::pin(running.failure());
        running.start("offers do not evolve any more", async { Err(anyhow::anyhow!("no name")) });
        let outcome = app.over(std::future::pending()).await;
        assert_eq!(outcome.unwrap_err().to_string(), "offers do not evolve any more: no name");

        let mut app = Node::new(Config::default());
        assert!(app.over(std::future::ready("SIGTERM")).await.is_ok());
    }
}
