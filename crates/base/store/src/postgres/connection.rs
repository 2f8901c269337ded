//! One connection: its settings, prepared statements and pipelined requests.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_postgres::{AsyncMessage, Client, Config, Notification, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::codec::Params;
use super::errors::{PgError, Trouble, engine, is_unsupported, one_line};
use crate::options::{Durability, StoreOptions};

/// A larger cache of statements is cleared. There are a few for each table, and one for each shape
/// of scan.
const STATEMENTS_MAX: usize = 1000;

/// How long a process that stalls in the middle of a commit may hold locks. Between its two round
/// trips a commit only decides; one that takes longer is disconnected, and retried when its process
/// continues.
const LANE_IDLE_MAX: Duration = Duration::from_secs(2);

/// Plans always use the primary key, and are made once for all parameters.
const PLANNING: [&str; 7] = [
    "SET client_min_messages = warning",
    "SET plan_cache_mode = force_generic_plan",
    "SET jit = off",
    "SET enable_seqscan = off",
    "SET enable_bitmapscan = off",
    "SET enable_hashjoin = off",
    "SET enable_mergejoin = off",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Reads, one statement at a time.
    Reader,
    /// Consistent views, which may stay open for a while.
    Snapshot,
    /// Commits.
    Lane,
    /// Notifications.
    Hints,
}

pub(super) struct Connector {
    config: Config,
    tls: MakeRustlsConnect,
    statement_timeout: Duration,
    snapshot_timeout: Duration,
    connect_timeout: Duration,
    durability: Durability,
    /// Connections that were made, and those that were found broken.
    pub(super) made: AtomicU64,
    pub(super) lost: AtomicU64,
}

impl Connector {
    pub(super) fn new(config: Config, tls: MakeRustlsConnect, options: &StoreOptions) -> Self {
        let tried = config.get_hosts().len().max(config.get_hostaddrs().len()).max(1) as u32;
        let each = config.get_connect_timeout().copied().unwrap_or(options.postgres.connect_timeout);
        Self {
            config,
            tls,
            statement_timeout: options.postgres.statement_timeout,
            snapshot_timeout: options.postgres.snapshot_timeout,
            connect_timeout: each.saturating_mul(tried),
            durability: options.durability,
            made: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    pub(super) fn connect_timeout(&self) -> Duration {
        self.connect_timeout
    }

    pub(super) async fn connect(&self, role: Role) -> Result<Connection, Trouble> {
        self.connect_and_forward(role, None).await
    }

    /// Notifications on the connection go to `forward`.
    pub(super) async fn connect_and_forward(
        &self,
        role: Role,
        forward: Option<mpsc::UnboundedSender<Notification>>,
    ) -> Result<Connection, Trouble> {
        let made = tokio::time::timeout(self.connect_timeout, self.connect_now(role, forward)).await;
        made.unwrap_or_else(|_| Err(Trouble::Lost("the server did not answer in time".to_owned())))
    }

    async fn connect_now(
        &self,
        role: Role,
        forward: Option<mpsc::UnboundedSender<Notification>>,
    ) -> Result<Connection, Trouble> {
        let (client, mut socket) = self.config.connect(self.tls.clone()).await?;
        tokio::spawn(async move {
            while let Some(message) = poll_fn(|context| socket.poll_message(context)).await {
                match (message, &forward) {
                    (Ok(AsyncMessage::Notification(n)), Some(forward)) => _ = forward.send(n),
                    (Ok(AsyncMessage::Notice(n)), _) => tracing::debug!("PostgreSQL: {}", n.message()),
                    (Ok(_), _) => {}
                    (Err(error), _) => {
                        tracing::debug!("a connection to PostgreSQL ended: {}", one_line(&error));
                        return;
                    }
                }
            }
        });
        let settings = self.settings(role);
        let set = |text| Box::pin(client.batch_execute(text)) as BoxFuture<'_, Result<(), PgError>>;
        let requests = settings.iter().map(String::as_str).chain(PLANNING).map(set).collect();
        let mut answers = pipelined(requests).await.answers.into_iter();
        if let Some(refused) = answers.by_ref().filter_map(Result::err).find(|error| !is_unsupported(error)) {
            return Err(refused.into());
        }
        self.made.fetch_add(1, Ordering::Relaxed);
        Ok(Connection { client, statements: Mutex::default() })
    }

    /// A database that does not have one of the settings goes without it.
    fn settings(&self, role: Role) -> [String; 3] {
        let idle = match role {
            Role::Snapshot => self.snapshot_timeout,
            Role::Lane => self.statement_timeout.min(LANE_IDLE_MAX),
            Role::Reader | Role::Hints => self.statement_timeout,
        };
        let durable = if self.durability == Durability::Fsync { "on" } else { "off" };
        let milliseconds = |time: Duration| time.as_millis().min(i32::MAX as u128);
        [
            format!("SET statement_timeout = {}", milliseconds(self.statement_timeout)),
            format!("SET idle_in_transaction_session_timeout = {}", milliseconds(idle)),
            format!("SET synchronous_commit = {durable}"),
        ]
    }
}

pub(super) struct Connection {
    client: Client,
    statements: Mutex<BTreeMap<String, Statement>>,
}

impl Connection {
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Prepares missing statements in one round trip.
    pub(super) async fn prepare(&self, texts: &[&str]) -> Result<Vec<Statement>, PgError> {
        let known: Vec<Option<Statement>> = {
            let cache = self.statements.lock();
            texts.iter().map(|text| cache.get(*text).cloned()).collect()
        };
        if known.iter().all(Option::is_some) {
            return Ok(known.into_iter().flatten().collect());
        }
        let ready = texts.iter().zip(known).map(async |(text, known)| match known {
            Some(statement) => Ok(statement),
            None => self.client.prepare(text).await,
        });
        let statements: Vec<Statement> = join_all(ready).await.into_iter().collect::<Result<_, _>>()?;
        let mut cache = self.statements.lock();
        if cache.len() > STATEMENTS_MAX {
            cache.clear();
        }
        for (text, statement) in texts.iter().zip(&statements) {
            cache.insert((*text).to_owned(), statement.clone());
        }
        Ok(statements)
    }

    pub(super) async fn query(&self, text: &str, params: &Params<'_>) -> Result<Vec<Row>, PgError> {
        let statement = self.prepare(&[text]).await?.swap_remove(0);
        self.client.query(&statement, params).await
    }

    /// A request that is sent when it is first polled.
    pub(super) fn request<'a>(&'a self, statement: &'a Statement, params: &'a Params<'a>) -> Request<'a> {
        Box::pin(self.client.query(statement, params))
    }

    /// A request without parameters or rows, such as COMMIT, that is sent when it is first polled.
    pub(super) fn command(&self, text: &'static str) -> Request<'_> {
        Box::pin(async move { self.client.batch_execute(text).await.map(|()| Vec::new()) })
    }

    /// Runs statements without parameters and rows.
    pub(super) async fn run(&self, text: &str) -> Result<(), PgError> {
        self.client.batch_execute(text).await
    }
}

pub(super) type Request<'a> = BoxFuture<'a, Result<Vec<Row>, PgError>>;

pub(super) struct Pipelined<T> {
    /// In the order of the requests. Shorter if one could not be sent: none behind it was.
    pub(super) answers: Vec<Result<T, PgError>>,
    /// Whether the last request may have reached the server.
    pub(super) last_was_sent: bool,
}

/// Sends requests without waiting in between. A request that cannot be sent ends the sequence: none
/// behind it is sent, so that a COMMIT never follows a lost statement.
pub(super) async fn pipelined<T: Send>(mut requests: Vec<BoxFuture<'_, Result<T, PgError>>>) -> Pipelined<T> {
    let mut done: Vec<Option<Result<T, PgError>>> = Vec::with_capacity(requests.len());
    let mut stopped = false;
    poll_fn(|context| {
        for request in &mut requests {
            match request.as_mut().poll(context) {
                Poll::Pending => done.push(None),
                Poll::Ready(answer) => {
                    stopped = answer.is_err();
                    done.push(Some(answer));
                    if stopped {
                        break;
                    }
                }
            }
        }
        Poll::Ready(())
    })
    .await;
    let last_was_sent = done.len() == requests.len() && !stopped;
    let waiting = requests.into_iter().zip(done).map(async |(request, done)| match done {
        Some(answer) => answer,
        None => request.await,
    });
    Pipelined { answers: join_all(waiting).await, last_was_sent }
}

/// The rows of every answer, or the first failure.
pub(super) fn all_rows(pipelined: Pipelined<Vec<Row>>, asked: usize) -> Result<Vec<Vec<Row>>, Trouble> {
    let rows = pipelined.answers.into_iter().collect::<Result<Vec<_>, _>>()?;
    if rows.len() == asked { Ok(rows) } else { Err(engine("a request got no answer").into()) }
}
