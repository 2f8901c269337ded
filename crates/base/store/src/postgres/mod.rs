//! The PostgreSQL engine: every declared table is a real table, with named and typed key columns
//! that can be read in psql.
//!
//! It uses only what distributed databases of PostgreSQL's family have too: no sequences, triggers,
//! advisory locks, temporary tables or SKIP LOCKED. `shard` is the first key column of every table,
//! ours included.
//!
//! Where things are: the address (`address.rs`, `tls.rs`), connections and retries
//! (`connection.rs`, `pool.rs`), tables (`schema.rs`) and statements (`sql.rs`), reads (`read.rs`,
//! `snapshot.rs`), commits (`commit.rs`, `checks.rs`) and the log that resolves unknown outcomes
//! (`log.rs`), hints between processes (`hints.rs`).

mod address;
mod checks;
mod codec;
mod commit;
mod connection;
mod errors;
mod hints;
mod log;
mod pool;
mod read;
mod schema;
mod snapshot;
mod sql;
#[cfg(test)]
mod tests;
mod tls;
mod verify;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng, TryRng};
use tokio::task::AbortHandle;

use crate::batch::BatchId;
use crate::engine::{ApplyError, Engine, Read};
use crate::group::{Group, Verdict};
use crate::hints::HintSender;
use crate::key::Key;
use crate::options::StoreOptions;
use crate::row::Row;
use crate::scan::{Page, Scan};
use crate::table::{Schema, TableDef};
use crate::{Error, Result};
use address::{Address, LockStyle};
use checks::Checks;
use commit::{Attempt, Failed};
use connection::{Connection, Connector, Role};
use errors::Trouble;
use hints::{Announcements, Exchange};
use log::CommitLog;
use pool::{Backoff, Pool, retry};
use sql::TableSql;

/// The statements of all tables, by name.
struct Tables(Vec<TableSql>);

impl Tables {
    fn named(&self, name: &str) -> Option<&TableSql> {
        self.0.binary_search_by_key(&name, |sql| sql.table.name).ok().map(|i| &self.0[i])
    }

    fn of(&self, table: &'static TableDef) -> Result<&TableSql> {
        self.named(table.name).ok_or(Error::UnknownTable { table: table.name })
    }
}

/// Tables in a PostgreSQL database.
///
/// - A read or commit retries for [`patience`](crate::PostgresOptions::patience) while the database
///   is unavailable; then it fails with [`Error::Unavailable`].
/// - Each of the [`commit_lanes`](crate::PostgresOptions::commit_lanes) has its own connection.
///   Half of the [`read_connections`](crate::PostgresOptions::read_connections) serve snapshots,
///   half other reads, so that neither starves the other.
/// - Several processes may work on one database at once.
pub struct Postgres {
    schema: Schema,
    tables: Arc<Tables>,
    lock: LockStyle,
    connector: Arc<Connector>,
    readers: Arc<Pool>,
    snapshots: Arc<Pool>,
    lanes: Arc<Pool>,
    log: Arc<CommitLog>,
    announcements: Arc<Announcements>,
    channel: String,
    opening: u64,
    retries: AtomicU64,
    unknowns: AtomicU64,
    snapshot_timeout: Duration,
    tasks: Mutex<Vec<AbortHandle>>,
}

impl Postgres {
    /// Connects, and creates missing tables. Must be called on a tokio runtime.
    ///
    /// Without [`create`](StoreOptions::create) it changes nothing, and the schema has the version
    /// of the store.
    ///
    /// Retries a server that does not answer for
    /// [`connect_timeout`](crate::PostgresOptions::connect_timeout).
    pub async fn open(url: &str, schema: Schema, options: &StoreOptions) -> Result<Self> {
        let address = Address::parse(url, &options.postgres)?;
        let tls = tls::connector(address.tls, &options.postgres)?;
        let connector = Arc::new(Connector::new(address.config.clone(), tls, options));
        let mut seeds = seeds(options.id_seed);
        let mut pool =
            |role, size, patience| Pool::new(Arc::clone(&connector), role, size, patience, seeds.next_u64());
        let (reads, patience) = (options.postgres.read_connections, options.postgres.patience);
        let snapshots = pool(Role::Snapshot, reads / 2, patience);
        let readers = pool(Role::Reader, reads - reads / 2, patience);
        let lanes = pool(Role::Lane, options.postgres.commit_lanes, patience);
        let opener = pool(Role::Lane, 1, connector.connect_timeout());
        let seed = options.create.then(|| seeds.next_u64());
        let (schema, lock) = prepare(&opener, &address, &schema, seed).await?;
        opener.close();
        let tables = schema.tables().iter().map(|table| TableSql::new(&address.schema, table)).collect();
        let opening = seeds.next_u64();
        let log = Arc::new(CommitLog::new(&address.schema, opening));
        let mut tasks = Vec::new();
        if options.create {
            let trimming =
                Arc::clone(&log).trim_repeatedly(Arc::clone(&readers), Backoff::new(seeds.next_u64()));
            tasks.push(tokio::spawn(trimming).abort_handle());
        }
        Ok(Self {
            schema,
            tables: Arc::new(Tables(tables)),
            lock,
            connector,
            readers,
            snapshots,
            lanes,
            log,
            announcements: Arc::default(),
            channel: format!("{}_hints", address.schema),
            opening,
            retries: AtomicU64::new(0),
            unknowns: AtomicU64::new(0),
            snapshot_timeout: options.postgres.snapshot_timeout,
            tasks: Mutex::new(tasks),
        })
    }

    fn stop(&self) {
        self.tasks.lock().drain(..).for_each(|task| task.abort());
        for pool in [&self.readers, &self.snapshots, &self.lanes] {
            pool.close();
        }
    }

    /// Retries a group until it is applied or refused, or an outcome is unknown.
    async fn apply_group(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError> {
        let checks = Checks::of(group, &self.tables, self.lock)?;
        let mut tries = self.lanes.tries();
        loop {
            let mut lease = tries.connection().await?;
            let log = self.log.entry();
            let (tables, lock) = (&*self.tables, self.lock);
            let attempt = Attempt { connection: &lease, tables, lock, group, log: &log };
            let trouble = match attempt.run(&checks).await {
                Ok(decision) => {
                    let is_over = decision.verdicts.contains(&Verdict::Applied);
                    let is_clean = is_over || lease.run("ROLLBACK").await.is_ok();
                    lease.set_reusable(is_clean);
                    self.announcements.note(&decision.writes);
                    return Ok(decision.verdicts);
                }
                Err(Failed::Unknown { verdicts, detail }) => {
                    self.unknowns.fetch_add(1, Ordering::Relaxed);
                    self.log.is_unknown(group, &log);
                    return Err(ApplyError::Unknown { verdicts, error: Error::Unavailable { detail } });
                }
                Err(Failed::NotApplied(trouble)) => trouble,
            };
            let is_clean = !matches!(trouble, Trouble::Lost(_)) && lease.run("ROLLBACK").await.is_ok();
            lease.set_reusable(is_clean);
            self.retries.fetch_add(1, Ordering::Relaxed);
            tries.failed(lease, trouble)?;
        }
    }
}

/// A source of seeds; repeatable if a seed is given.
fn seeds(seed: Option<u64>) -> StdRng {
    let random = || SysRng.try_next_u64().unwrap_or_else(|_| std::ptr::from_ref(&*Box::new(0)).addr() as u64);
    StdRng::seed_from_u64(seed.unwrap_or_else(random))
}

/// Creates the tables, with random pauses from a seed; without a seed only finds them. Also decides
/// how rows are locked.
async fn prepare(
    pool: &Arc<Pool>,
    address: &Address,
    declared: &Schema,
    seed: Option<u64>,
) -> Result<(Schema, LockStyle)> {
    let mut tries = pool.tries();
    let mut backoff = seed.map(Backoff::new);
    loop {
        let lease = tries.connection().await?;
        let found = match &mut backoff {
            Some(backoff) => schema::prepare(&lease, &address.schema, declared, backoff).await.map(Some),
            None => schema::find(&lease, &address.schema, declared).await,
        };
        match found {
            Ok(None) => return Err(Error::Missing { place: address.shown.clone() }),
            Ok(Some(schema)) => {
                let lock = match address.lock {
                    Some(lock) => lock,
                    None => default_lock(&lease).await,
                };
                return Ok((schema, lock));
            }
            Err(trouble) => tries.failed(lease, trouble)?,
        }
    }
}

async fn default_lock(connection: &Connection) -> LockStyle {
    let citus = "SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus'";
    match connection.query(citus, &Vec::new()).await {
        Ok(rows) if !rows.is_empty() => LockStyle::ByShard,
        _ => LockStyle::ByTable,
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
    }
}

#[async_trait]
impl Read for Postgres {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        Ok(retry!(self.readers, connection => read::get(&connection, &self.tables, keys)))
    }

    async fn scan(&self, scan: &Scan) -> Result<Page> {
        Ok(retry!(self.readers, connection => read::scan(&connection, &self.tables, scan)))
    }
}

#[async_trait]
impl Engine for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    async fn snapshot(&self) -> Result<Box<dyn Read>> {
        let tables = Arc::clone(&self.tables);
        Ok(Box::new(snapshot::View::open(&self.snapshots, tables, self.snapshot_timeout).await?))
    }

    async fn apply(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError> {
        self.apply_group(group).await
    }

    async fn resolve(&self, group: &Group) -> Result<bool> {
        self.log.resolve(&self.lanes, group).await
    }

    async fn applied(&self, batch: BatchId) -> Result<bool> {
        self.log.applied(&self.readers, batch).await
    }

    fn lanes(&self) -> usize {
        self.lanes.size()
    }

    fn send_hints_to(&self, hints: HintSender) {
        let exchange = Exchange {
            connector: Arc::clone(&self.connector),
            tables: Arc::clone(&self.tables),
            announcements: Arc::clone(&self.announcements),
            channel: self.channel.clone(),
            opening: self.opening,
            hints,
        };
        self.tasks.lock().push(tokio::spawn(exchange.run(Backoff::new(self.opening))).abort_handle());
    }

    async fn takes_writes(&self) -> Result<()> {
        if retry!(self.readers, connection => verify::is_read_only(&connection)) {
            return Err(Error::ReadOnly { detail: "it is read-only".to_owned() });
        }
        Ok(())
    }

    async fn verify(&self, found: &mut (dyn FnMut(Error) + Send)) -> Result<BTreeMap<&'static str, u64>> {
        let mut counts = BTreeMap::new();
        for sql in &self.tables.0 {
            let mut after = None;
            let count: &mut u64 = counts.entry(sql.table.name).or_default();
            loop {
                let checked =
                    retry!(self.readers, connection => verify::check(&connection, sql, after.as_deref()));
                *count += checked.rows;
                checked.damages.into_iter().for_each(&mut *found);
                after = checked.last;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(counts)
    }

    async fn approximate_rows(&self) -> Result<u64> {
        let mut sum = 0;
        for sql in &self.tables.0 {
            sum += retry!(self.readers, connection => verify::approximate_rows(&connection, sql));
        }
        Ok(sum)
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        vec![
            ("postgres_read_connections_in_use", self.readers.in_use() as f64),
            ("postgres_snapshots_open", self.snapshots.in_use() as f64),
            ("postgres_commit_connections_in_use", self.lanes.in_use() as f64),
            ("postgres_connections_made", count(&self.connector.made)),
            ("postgres_connections_lost", count(&self.connector.lost)),
            ("postgres_commit_retries", count(&self.retries)),
            ("postgres_commit_unknowns", count(&self.unknowns)),
        ]
    }

    async fn close(&self) -> Result<()> {
        self.stop();
        Ok(())
    }
}
