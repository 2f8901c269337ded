//! A plain PostgreSQL client as a reference: one prepared transaction for each update, on as many
//! connections as there are callers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};

use crate::data::{Bodies, Numbers, looked_at, mix, offer_id};
use crate::measure::{Measure, all_beside};

const SCHEMA: &str = "
    drop schema if exists bench_plain cascade;
    create schema bench_plain;
    create table bench_plain.offers(shard bigint, id bytea, version bigint not null, value bytea not null, primary key (shard, id));
    create table bench_plain.outbox(shard bigint, number bigint, id bytea, value bytea not null, primary key (shard, number, id));
    create table bench_plain.queue(shard bigint, stage bigint, due bigint, id bytea, value bytea not null, primary key (shard, stage, due, id));
    create table bench_plain.entries(shard bigint, id bytea, stage bigint, value bytea not null, primary key (shard, id, stage));
    create table bench_plain.presets(shard bigint, seller bigint, at bigint, id bytea, value bytea not null, primary key (shard, seller, at, id));
    create table bench_plain.counters(shard bigint, kind bigint, number bigint, amount bigint not null, primary key (shard, kind, number));
    alter table bench_plain.offers alter value set storage external;";

/// In the order in which an update runs them.
const STATEMENTS: [&str; 9] = [
    "update bench_plain.offers set version = $3 + 1, value = $4 where shard = $1 and id = $2 and version = $3",
    "insert into bench_plain.outbox values ($1, $2, $3, $4)",
    "insert into bench_plain.queue values ($1, $2, $3, $4, $5) on conflict (shard, stage, due, id) do update set value = excluded.value",
    "insert into bench_plain.entries values ($1, $2, $3, $4) on conflict (shard, id, stage) do update set value = excluded.value",
    "delete from bench_plain.presets where shard = $1 and seller = $2 and at = $3 and id = $4",
    "insert into bench_plain.presets values ($1, $2, $3, $4, $5)",
    "insert into bench_plain.counters as c values ($1, 0, $2, 1) on conflict (shard, kind, number) do update set amount = c.amount + 1",
    "insert into bench_plain.counters as c values ($1, 1, $2, 1) on conflict (shard, kind, number) do update set amount = c.amount + 1",
    "select version, value from bench_plain.offers where shard = $1 and id = $2",
];
const READ: usize = 8;
const LOAD_STEP: usize = 1000;
const SHARDS: u64 = 64;

struct Connection {
    client: Client,
    statements: Vec<Statement>,
    /// The versions of the offers that this connection updates.
    versions: Vec<i64>,
}

struct Shared {
    bodies: Bodies,
    clock: AtomicU64,
    seeds: AtomicU64,
}

pub(super) struct PlainPostgres {
    connections: Vec<Connection>,
    shared: Arc<Shared>,
    rows: u64,
}

impl PlainPostgres {
    pub(super) async fn load(url: &str, rows: u64, callers: usize) -> anyhow::Result<Self> {
        let shared = Shared { bodies: Bodies::new(), clock: AtomicU64::new(1), seeds: AtomicU64::new(1) };
        let client = connect(url).await?;
        client.batch_execute(SCHEMA).await?;
        load_offers(&client, &shared, rows).await?;
        client.batch_execute("vacuum analyze").await?;
        client.batch_execute("checkpoint").await?;
        let mut connections = Vec::new();
        for _ in 0..callers {
            let client = connect(url).await?;
            let mut statements = Vec::new();
            for sql in STATEMENTS {
                statements.push(client.prepare(sql).await?);
            }
            connections.push(Connection {
                client,
                statements,
                versions: vec![1; (rows / callers as u64) as usize],
            });
        }
        Ok(Self { connections, shared: Arc::new(shared), rows })
    }

    pub(super) async fn updates(&mut self, time: Duration) -> anyhow::Result<Measure> {
        let callers = self.connections.len() as u64;
        let shared = &self.shared;
        let writers = self.connections.iter_mut().enumerate().map(|(caller, connection)| async move {
            let mut numbers = Numbers::new(shared.seeds.fetch_add(1, Ordering::Relaxed));
            let begin = Instant::now();
            let mut measure = Measure::default();
            while begin.elapsed() < time {
                let own = numbers.below(connection.versions.len() as u64);
                let start = Instant::now();
                connection.update(shared, own, own * callers + caller as u64, numbers.next()).await?;
                measure.note(start, 1);
            }
            measure.elapsed = begin.elapsed();
            anyhow::Ok(measure)
        });
        Ok(all_beside(futures::future::try_join_all(writers).await?))
    }

    pub(super) async fn reads(&mut self, time: Duration) -> anyhow::Result<Measure> {
        let (shared, rows) = (&self.shared, self.rows);
        let readers = self.connections.iter().map(|connection| async move {
            let mut numbers = Numbers::new(shared.seeds.fetch_add(1, Ordering::Relaxed));
            let begin = Instant::now();
            let mut measure = Measure::default();
            while begin.elapsed() < time {
                let id = offer_id(numbers.below(rows));
                let start = Instant::now();
                let row = connection
                    .client
                    .query_one(&connection.statements[READ], &[&shard(&id), &&id[..]])
                    .await?;
                anyhow::ensure!(looked_at(row.get(1)), "an offer is missing");
                measure.note(start, 1);
            }
            measure.elapsed = begin.elapsed();
            anyhow::Ok(measure)
        });
        Ok(all_beside(futures::future::try_join_all(readers).await?))
    }
}

impl Connection {
    /// One transaction, statement by statement.
    async fn update(&mut self, offers: &Shared, own: u64, n: u64, seed: u64) -> anyhow::Result<()> {
        let (id, version, stage) = (offer_id(n), self.versions[own as usize], (seed % 4).cast_signed());
        let (id, body) = (&id[..], offers.bodies.pick(seed));
        let (shard, body) = (shard(id), &*body);
        let now = offers.clock.fetch_add(1, Ordering::Relaxed).cast_signed();
        let (seller, place) = ((mix(n) % 1000).cast_signed(), (mix(n ^ 5) % 10_000).cast_signed());
        let (seller_shard, place_shard) = (seller % SHARDS.cast_signed(), place % SHARDS.cast_signed());
        let at = |version: i64| mix(n ^ (version.cast_unsigned() << 40)).cast_signed();
        let (old_at, new_at, small) = (at(version), at(version + 1), &[2u8; 16][..]);
        self.client.batch_execute("begin").await?;
        let parameters: [&[&(dyn ToSql + Sync)]; READ] = [
            &[&shard, &id, &version, &body],
            &[&shard, &now, &id, &body],
            &[&shard, &stage, &now, &id, &small],
            &[&shard, &id, &stage, &small],
            &[&seller_shard, &seller, &old_at, &id],
            &[&seller_shard, &seller, &new_at, &id, &small],
            &[&seller_shard, &seller],
            &[&place_shard, &place],
        ];
        for (number, parameters) in parameters.into_iter().enumerate() {
            let changed = self.client.execute(&self.statements[number], parameters).await?;
            anyhow::ensure!(number != 0 || changed == 1, "an update was in conflict");
        }
        self.client.batch_execute("commit").await?;
        self.versions[own as usize] = version + 1;
        Ok(())
    }
}

async fn connect(url: &str) -> anyhow::Result<Client> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.context("the plain client cannot connect")?;
    tokio::spawn(connection);
    Ok(client)
}

async fn load_offers(client: &Client, shared: &Shared, rows: u64) -> anyhow::Result<()> {
    let offers = "insert into bench_plain.offers select s, i, 1, v from unnest($1::bigint[], $2::bytea[], $3::bytea[]) u(s, i, v)";
    let presets = "insert into bench_plain.presets select s, e, a, i, '12345678'::bytea
        from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[]) u(s, e, a, i)";
    for first in (0..rows).step_by(LOAD_STEP) {
        let numbers: Vec<u64> = (first..rows.min(first + LOAD_STEP as u64)).collect();
        let ids: Vec<_> = numbers.iter().map(|n| offer_id(*n).to_vec()).collect();
        let bodies: Vec<_> = numbers.iter().map(|n| shared.bodies.pick(*n)).collect();
        let values: Vec<&[u8]> = bodies.iter().map(|body| &**body).collect();
        let shards: Vec<i64> = ids.iter().map(|id| shard(id)).collect();
        client.execute(offers, &[&shards, &ids, &values]).await?;
        let sellers: Vec<i64> = numbers.iter().map(|n| (mix(*n) % 1000).cast_signed()).collect();
        let shards: Vec<i64> = sellers.iter().map(|seller| seller % SHARDS.cast_signed()).collect();
        let at: Vec<i64> = numbers.iter().map(|n| mix(*n ^ (1 << 40)).cast_signed()).collect();
        client.execute(presets, &[&shards, &sellers, &at, &ids]).await?;
    }
    Ok(())
}

fn shard(id: &[u8]) -> i64 {
    i64::from(id[0]) % SHARDS.cast_signed()
}
