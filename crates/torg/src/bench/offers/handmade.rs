//! What a team would write by hand on PostgreSQL: one prepared transaction for each write, statement by statement, on many connections.
//!
//! It writes the offer with a check of its version, two rows of its seller's lists, the seller's counts, and a row of the outbox. It is spared much that
//! Torg does: it validates nothing, knows every version without reading, keeps no history, no rows for filters and no timers, and nobody empties its outbox.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use buffa::Message as _;
use contract::torg::offers::v1::{Offer, Status};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};

use super::book::{Book, Write, Writer};
use super::options::OffersBench;
use crate::bench::measure::{Measure, all_beside};

const SCHEMA: &str = "
    drop schema if exists bench_handmade cascade;
    create schema bench_handmade;
    create table bench_handmade.offers(id bigint primary key, seller text not null, version bigint not null, data bytea not null);
    create table bench_handmade.presets(seller text, preset text, created bigint, id bigint, card bytea not null, primary key (seller, preset, created, id));
    create table bench_handmade.counts(seller text, preset text, amount bigint not null, primary key (seller, preset));
    create table bench_handmade.outbox(number bigserial primary key, id bigint not null, data bytea not null);
    alter table bench_handmade.offers alter data set storage external;
    alter table bench_handmade.outbox alter data set storage external;";
const DROP: &str = "drop schema if exists bench_handmade cascade";

const STATEMENTS: [&str; 5] = [
    "insert into bench_handmade.offers as o values ($1, $2, $3::bigint + 1, $4)
        on conflict (id) do update set version = excluded.version, data = excluded.data where o.version = $3",
    "insert into bench_handmade.presets values ($1, $2, $3, $4, $5) on conflict (seller, preset, created, id) do update set card = excluded.card",
    "delete from bench_handmade.presets where seller = $1 and preset = $2 and created = $3 and id = $4",
    "insert into bench_handmade.counts as c values ($1, $2, $3) on conflict (seller, preset) do update set amount = c.amount + excluded.amount",
    "insert into bench_handmade.outbox(id, data) values ($1, $2)",
];
const OFFER: usize = 0;
const LIST: usize = 1;
const UNLIST: usize = 2;
const COUNT: usize = 3;
const OUTBOX: usize = 4;
const LOAD_STEP: u64 = 500;
/// Ids of offers that are published during a run begin here.
const FRESH_IDS: i64 = 1 << 60;

/// The hand-made service.
pub(super) struct Handmade {
    url: String,
    connections: Vec<Connection>,
    book: Book,
    versions: Arc<[AtomicI64]>,
}

struct Connection {
    client: Client,
    statements: Vec<Statement>,
}

impl Handmade {
    /// Loads the offers of many sellers, if there is a server for that.
    pub(super) async fn load(args: &OffersBench, book: &Book) -> anyhow::Result<Option<Self>> {
        let Some(url) = args.handmade_server() else {
            args.say("  SKIPPED: the hand-made service, it needs --postgres postgres://...");
            return Ok(None);
        };
        let client = connect(url).await?;
        client.batch_execute(SCHEMA).await?;
        let start = Instant::now();
        load_offers(&client, book).await?;
        args.say(&format!("  hand-made        loaded in {:.0} s", start.elapsed().as_secs_f64()));
        let mut connections = Vec::new();
        for _ in 0..args.handmade_connections {
            let client = connect(url).await?;
            let mut statements = Vec::new();
            for sql in STATEMENTS {
                statements.push(client.prepare(sql).await?);
            }
            connections.push(Connection { client, statements });
        }
        let versions = book.ids().iter().map(|_| AtomicI64::new(1)).collect();
        Ok(Some(Self { url: url.to_owned(), connections, book: book.anew(), versions }))
    }

    /// The same mix of writes as Torg has.
    pub(super) async fn writes(&mut self, time: Duration) -> anyhow::Result<Measure> {
        let callers = self.connections.len() as u64;
        let (book, versions) = (&self.book, &self.versions);
        let writers = self.connections.iter().enumerate().map(|(caller, connection)| async move {
            let (begin, mut measure) = (Instant::now(), Measure::default());
            let mut writer = book.writer(caller as u64, callers);
            while begin.elapsed() < time {
                let start = Instant::now();
                connection.write(book, versions, &mut writer).await?;
                measure.note(start, 1);
            }
            measure.elapsed = begin.elapsed();
            anyhow::Ok(measure)
        });
        Ok(all_beside(futures::future::try_join_all(writers).await?))
    }

    /// Removes its tables.
    pub(super) async fn end(self) -> anyhow::Result<()> {
        drop(self.connections);
        Ok(connect(&self.url).await?.batch_execute(DROP).await?)
    }
}

impl Connection {
    /// One transaction.
    async fn write(&self, book: &Book, versions: &[AtomicI64], writer: &mut Writer) -> anyhow::Result<()> {
        let write = writer.next();
        let number = match &write {
            Write::Update { number, .. } | Write::Create { number, .. } | Write::Move { number, .. } => {
                *number
            }
        };
        let known = versions.get(number as usize);
        let version = known.map_or(0, |version| version.load(Ordering::Relaxed));
        let row = match write {
            Write::Update { offer: wanted, fields, .. } => {
                let mut offer = book.ads().of_many(number);
                offer.price = wanted.price;
                if fields.contains(&"title") {
                    offer.title = wanted.title;
                }
                Row::new(book, number, version, &offer)
            }
            Write::Create { offer, .. } => Row::new(book, number, 0, &offer),
            Write::Move { to, .. } => {
                let offer = Offer { status: to.into(), ..book.ads().of_many(number) };
                Row { moved_to: Some(to), ..Row::new(book, number, version, &offer) }
            }
        };
        self.client.batch_execute("begin").await?;
        self.save(&row).await?;
        self.client.batch_execute("commit").await?;
        if let Some(known) = known {
            known.store(version + 1, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn save(&self, row: &Row) -> anyhow::Result<()> {
        let Row { id, seller, version, created, data, card, .. } = row;
        let changed = self.execute(OFFER, &[id, seller, version, data]).await?;
        anyhow::ensure!(changed == 1, "a hand-made write was in conflict");
        // Counts always in the same order, so that two writers of a seller do not wait for each other.
        let (lists, left, counts): ([&str; 2], Option<&str>, &[(&str, i64)]) = match row.moved_to {
            None if *version == 0 => (["all", "active"], None, &[("active", 1), ("all", 1)]),
            None => (["all", "active"], None, &[("active", 0)]),
            Some(Status::STATUS_SOLD) => (["all", "sold"], Some("active"), &[("active", -1), ("sold", 1)]),
            Some(_) => (["all", "active"], Some("sold"), &[("active", 1), ("sold", -1)]),
        };
        if let Some(left) = left {
            self.execute(UNLIST, &[seller, &left, created, id]).await?;
        }
        for list in lists {
            self.execute(LIST, &[seller, &list, created, id, card]).await?;
        }
        for (count, amount) in counts {
            self.execute(COUNT, &[seller, count, amount]).await?;
        }
        self.execute(OUTBOX, &[id, data]).await?;
        Ok(())
    }

    async fn execute(&self, statement: usize, values: &[&(dyn ToSql + Sync)]) -> anyhow::Result<u64> {
        Ok(self.client.execute(&self.statements[statement], values).await?)
    }
}

/// An offer as it is written.
struct Row {
    id: i64,
    seller: String,
    version: i64,
    created: i64,
    data: Vec<u8>,
    card: Vec<u8>,
    moved_to: Option<Status>,
}

impl Row {
    fn new(book: &Book, number: u64, version: i64, offer: &Offer) -> Self {
        let id = book.ids().get(number as usize).and_then(|id| id.to_string().parse().ok());
        Self {
            id: id.unwrap_or(FRESH_IDS + number.cast_signed()),
            seller: offer.seller.clone(),
            version,
            created: number.cast_signed(),
            data: offer.encode_to_vec(),
            card: format!("{} {}", offer.category, offer.title).into_bytes(),
            moved_to: None,
        }
    }
}

async fn connect(url: &str) -> anyhow::Result<Client> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.context("the hand-made service cannot connect")?;
    tokio::spawn(connection);
    Ok(client)
}

async fn load_offers(client: &Client, book: &Book) -> anyhow::Result<()> {
    let offers = "insert into bench_handmade.offers select i, s, 1, d from unnest($1::bigint[], $2::text[], $3::bytea[]) u(i, s, d)";
    let presets = "insert into bench_handmade.presets select s, p, c, i, k
        from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bytea[]) u(s, c, i, k), unnest(array['all', 'active']) p";
    let counts = "insert into bench_handmade.counts select seller, preset, count(*) from bench_handmade.presets group by seller, preset";
    let all = book.ids().len() as u64;
    for first in (0..all).step_by(LOAD_STEP as usize) {
        let rows: Vec<Row> = (first..all.min(first + LOAD_STEP))
            .map(|n| Row::new(book, n, 1, &book.ads().of_many(n)))
            .collect();
        let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
        let created: Vec<i64> = rows.iter().map(|row| row.created).collect();
        let sellers: Vec<&str> = rows.iter().map(|row| &*row.seller).collect();
        let data: Vec<&[u8]> = rows.iter().map(|row| &*row.data).collect();
        let cards: Vec<&[u8]> = rows.iter().map(|row| &*row.card).collect();
        client.execute(offers, &[&ids, &sellers, &data]).await?;
        client.execute(presets, &[&sellers, &created, &ids, &cards]).await?;
    }
    client.execute(counts, &[]).await?;
    Ok(())
}
