//! A measurement, not a test: the offer update through the store, beside a plain client with one transaction for each.
//!
//! `cargo test --release -p store --test postgres_speed -- --ignored --nocapture`

#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use store::{Batch, Postgres, Schema, Store, StoreOptions, Table};
use tokio_postgres::types::ToSql;
use tokio_postgres::{NoTls, Statement};

static OFFERS: Table<(u32, String)> = Table::versioned("offers", &["shard", "id"]).large();
static OUTBOX: Table<(u32, i64, String)> = Table::plain("outbox", &["shard", "at", "id"]).queue();
static ENTRIES: Table<(u32, String, String)> = Table::versioned("entries", &["shard", "id", "stage"]);
static PRESETS: Table<(u32, String, String)> = Table::plain("presets", &["shard", "name", "id"]);
static COUNTS: Table<(u32, String)> = Table::counters("counts", &["shard", "name"]);

const CALLERS: usize = 64;
const OFFERS_EACH: usize = 300;
const SHARDS: u32 = 64;
const COUNTERS: u32 = 1000;

struct Update {
    shard: u32,
    id: String,
    at: i64,
    version: u64,
    body: Vec<u8>,
    copy: Vec<u8>,
    counters: [u32; 2],
}

/// One caller's offers, which nobody else writes.
struct Caller {
    number: usize,
    versions: Vec<u64>,
    rng: StdRng,
    at: i64,
}

impl Caller {
    fn new(number: usize, version: u64) -> Self {
        let rng = StdRng::seed_from_u64(number as u64);
        Self { number, versions: vec![version; OFFERS_EACH], rng, at: (number as i64) << 40 }
    }

    fn next(&mut self) -> Update {
        let n = self.rng.random_range(0..OFFERS_EACH);
        self.versions[n] += 1;
        self.at += 1;
        let mut bytes = || {
            let mut bytes = vec![0; 2048];
            self.rng.fill_bytes(&mut bytes);
            bytes
        };
        let (body, copy) = (bytes(), bytes());
        let counters = [self.rng.random_range(0..COUNTERS), self.rng.random_range(0..COUNTERS)];
        let id = format!("{:04}-{n:06}", self.number);
        let shard = (self.number * OFFERS_EACH + n) as u32 % SHARDS;
        Update { shard, id, at: self.at, version: self.versions[n], body, copy, counters }
    }
}

fn batch(update: Update, checked: bool) -> Batch {
    let Update { shard, id, at, version, body, copy, counters } = update;
    let mut batch = Batch::new();
    if checked {
        batch.check(OFFERS.key((shard, &id)), version - 1);
    }
    batch.put(OFFERS.key((shard, &id)), version, body).set(OUTBOX.key((shard, at, &id)), copy);
    for part in ["a", "b"] {
        batch.put(ENTRIES.key((shard, &id, part)), version, vec![1; 40]);
        batch.set(PRESETS.key((shard, part, &id)), vec![2; 40]);
    }
    for counter in counters {
        batch.add(COUNTS.key((counter % SHARDS, counter.to_string())), 1);
    }
    batch
}

async fn store(url: &str, lanes: usize, group_max: usize) -> Store {
    let schema =
        Schema::new(1, [OFFERS.def(), OUTBOX.def(), ENTRIES.def(), PRESETS.def(), COUNTS.def()]).unwrap();
    let mut options = StoreOptions { group_max, ..StoreOptions::default() };
    options.postgres.commit_lanes = lanes;
    Store::over(Arc::new(Postgres::open(url, schema, &options).await.unwrap()), &options)
}

async fn load(url: &str) {
    let store = store(url, 4, 128).await;
    let callers = (0..CALLERS).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut caller = Caller::new(number, 0);
            for n in 0..OFFERS_EACH {
                let mut update = caller.next();
                update.id = format!("{number:04}-{n:06}");
                update.shard = (number * OFFERS_EACH + n) as u32 % SHARDS;
                update.version = 1;
                assert!(store.commit(batch(update, true)).await.unwrap().is_applied());
            }
        })
    });
    futures::future::join_all(callers.collect::<Vec<_>>()).await;
    store.close().await.unwrap();
}

/// Times of a process in hundredths of a second: its own, and those of its children that have ended.
fn ticks(pid: &str) -> Option<(u64, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |i: usize| fields[i].parse::<u64>().unwrap_or(0);
    Some((number(11) + number(12), number(13) + number(14)))
}

fn parent(pid: &str) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1).map(str::to_owned)
}

/// CPU time of this process and of the server with all its children.
fn cpu(postmaster: &str) -> [u64; 2] {
    let (own, ended) = ticks(postmaster).unwrap();
    let children = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.to_owned();
        (parent(&pid)? == postmaster).then(|| ticks(&pid))?.map(|(own, _)| own)
    });
    [ticks("self").unwrap().0, own + ended + children.sum::<u64>()]
}

struct Measured {
    rate: f64,
    /// Microseconds of CPU an update: here, and in the server.
    cpu: [f64; 2],
}

/// Runs all callers for some seconds.
async fn rate<F, U>(postmaster: &str, seconds: u64, update: U) -> Measured
where
    F: Future<Output = ()> + Send + 'static,
    U: Fn(usize, Update) -> F + Clone + Send + Sync + 'static,
{
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let tasks: Vec<_> = (0..CALLERS)
        .map(|number| {
            let (stop, done, update) = (Arc::clone(&stop), Arc::clone(&done), update.clone());
            tokio::spawn(run_caller(number, stop, done, update))
        })
        .collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (before, cpu_before) = (done.load(Relaxed), cpu(postmaster));
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let (after, cpu_after) = (done.load(Relaxed), cpu(postmaster));
    stop.store(true, Relaxed);
    futures::future::join_all(tasks).await.into_iter().for_each(Result::unwrap);
    let updates = (after - before) as f64;
    let cpu = [0, 1].map(|i| (cpu_after[i] - cpu_before[i]) as f64 * 10_000.0 / updates);
    Measured { rate: updates / seconds as f64, cpu }
}

async fn run_caller<F, U>(number: usize, stop: Arc<AtomicBool>, done: Arc<AtomicU64>, update: U)
where
    F: Future<Output = ()> + Send + 'static,
    U: Fn(usize, Update) -> F,
{
    let mut caller = Caller::new(number, 1);
    while !stop.load(Relaxed) {
        update(number, caller.next()).await;
        done.fetch_add(1, Relaxed);
    }
}

struct Plain {
    client: tokio_postgres::Client,
    statements: Vec<Statement>,
}

async fn plain(url: &str) -> Plain {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let mut statements = Vec::new();
    for text in [
        "UPDATE torg.offers SET version = $3::bigint, value = $4 WHERE shard = $1 AND id = $2 AND version = $3::bigint - 1",
        "INSERT INTO torg.outbox VALUES ($1, $2, $3, $4) ON CONFLICT (shard, at, id) DO UPDATE SET value = EXCLUDED.value",
        "INSERT INTO torg.entries VALUES ($1, $2, $3, $4, $5) ON CONFLICT (shard, id, stage) DO UPDATE SET version = EXCLUDED.version, value = EXCLUDED.value",
        "INSERT INTO torg.presets VALUES ($1, $2, $3, $4) ON CONFLICT (shard, name, id) DO UPDATE SET value = EXCLUDED.value",
        "INSERT INTO torg.counts AS t VALUES ($1, $2, 1) ON CONFLICT (shard, name) DO UPDATE SET amount = t.amount + EXCLUDED.amount",
    ] {
        statements.push(client.prepare(text).await.unwrap());
    }
    Plain { client, statements }
}

/// One transaction for one update, a round trip for each statement, counters in a fixed order.
async fn plain_update(plain: &Plain, update: Update) {
    let Plain { client, statements } = plain;
    let Update { shard, id, at, version, body, copy, mut counters } = update;
    let (shard, version, small) = (i64::from(shard), version as i64, vec![1u8; 40]);
    client.batch_execute("BEGIN").await.unwrap();
    let params: [&(dyn ToSql + Sync); 4] = [&shard, &id, &version, &body];
    assert_eq!(client.execute(&statements[0], &params).await.unwrap(), 1);
    client.execute(&statements[1], &[&shard, &at, &id, &copy]).await.unwrap();
    for part in ["a", "b"] {
        client.execute(&statements[2], &[&shard, &id, &part, &version, &small]).await.unwrap();
        client.execute(&statements[3], &[&shard, &part, &id, &small]).await.unwrap();
    }
    counters.sort_unstable_by_key(|counter| (counter % SHARDS, counter.to_string()));
    for counter in counters {
        let name = counter.to_string();
        client.execute(&statements[4], &[&i64::from(counter % SHARDS), &name]).await.unwrap();
    }
    client.batch_execute("COMMIT").await.unwrap();
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn offer_updates_beside_a_plain_client() {
    let Some(server) = testkit::postgres() else { return };
    let seconds = number("SECONDS_EACH", 8) as u64;
    let (lanes, group_max) = (number("LANES", 2), number("GROUP", 128));
    let reset = async || {
        let database = testkit::fresh_name("speed");
        let url = server.create_database(&database);
        load(&url).await;
        server.psql_in(&database, "VACUUM ANALYZE");
        server.psql_in(&database, "CHECKPOINT");
        url
    };
    let backend = server.psql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
    let postmaster = parent(&backend).unwrap();
    for _ in 0..number("ROUNDS", 2) {
        let url = reset().await;
        let store = store(&url, lanes, group_max).await;
        let caller = store.clone();
        let ours = rate(&postmaster, seconds, move |_, update| {
            let store = caller.clone();
            async move { assert!(store.commit(batch(update, true)).await.unwrap().is_applied()) }
        })
        .await;
        println!("ours {:.0}/s, CPU {:.0?} us", ours.rate, ours.cpu);
        store.close().await.unwrap();
        if number("PLAIN", 1) == 1 {
            let url = reset().await;
            let clients = Arc::new(futures::future::join_all((0..CALLERS).map(|_| plain(&url))).await);
            let plain = rate(&postmaster, seconds, move |number, update| {
                let clients = Arc::clone(&clients);
                async move { plain_update(&clients[number], update).await }
            })
            .await;
            let ratio = ours.rate / plain.rate;
            println!("plain {:.0}/s, CPU {:.0?} us, ratio {ratio:.2}", plain.rate, plain.cpu);
        }
    }
}
