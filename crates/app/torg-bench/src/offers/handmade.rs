//! The reference: a service written by hand on PostgreSQL, with one prepared transaction for each
//! write, statement by statement, on many connections.
//!
//! It writes the offer with a check of its version, two rows of its seller's lists, the seller's
//! counts, and a row of the outbox. It does less than Torg: it validates nothing, reads nothing (it
//! knows every version and has the new bytes at hand), keeps no history, no rows for filters and no
//! timers, and nothing empties its outbox.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use buffa::Message as _;
use bytes::Bytes;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};
use wire::torg::offers::v1::Status;

use super::ads::LARGE_EVERY;
use super::book::{Book, Write, Writer};
use super::options::OffersBench;
use crate::measure::{Measure, all_beside};

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
/// Offers that are prepared beforehand; one in `LARGE_EVERY` is large.
const BODIES: u64 = 10 * LARGE_EVERY;
/// Ids of offers that are published during a run begin here.
const FRESH_IDS: i64 = 1 << 60;

pub(super) struct Handmade {
    url: String,
    connections: Vec<Connection>,
    book: Book,
    bodies: Bodies,
    versions: Vec<AtomicI64>,
}

/// Offer bodies, prepared beforehand so that only the database is measured.
struct Bodies(Vec<Body>);

struct Body {
    data: Bytes,
    card: Bytes,
}

impl Bodies {
    fn new(book: &Book) -> Self {
        let body = |number| {
            let offer = book.ads().of_many(number);
            let card = format!("{} {}", offer.category, offer.title);
            Body { data: offer.encode_to_vec().into(), card: card.into() }
        };
        Self((0..BODIES).map(body).collect())
    }

    /// A body as large as the offer of this number.
    fn of(&self, number: u64) -> &Body {
        &self.0[(number % BODIES) as usize]
    }
}

struct Connection {
    client: Client,
    statements: Vec<Statement>,
}

impl Handmade {
    /// Loads the offers of many sellers, if a server is configured.
    pub(super) async fn load(args: &OffersBench, book: &Book) -> anyhow::Result<Option<Self>> {
        let Some(url) = args.handmade_server() else {
            args.run.say("  SKIPPED: the hand-made service, it needs --postgres postgres://...");
            return Ok(None);
        };
        let client = connect(url).await?;
        client.batch_execute(SCHEMA).await?;
        let (start, bodies) = (Instant::now(), Bodies::new(book));
        load_offers(&client, book, &bodies).await?;
        args.run.say(&format!("  hand-made        loaded in {:.0} s", start.elapsed().as_secs_f64()));
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
        Ok(Some(Self { url: url.to_owned(), connections, book: book.anew(), bodies, versions }))
    }

    /// The same mix of writes as Torg has.
    pub(super) async fn writes(&mut self, time: Duration) -> anyhow::Result<Measure> {
        let callers = self.connections.len() as u64;
        let (book, bodies, versions) = (&self.book, &self.bodies, &self.versions);
        let writers = self.connections.iter().enumerate().map(|(caller, connection)| async move {
            let (begin, mut measure) = (Instant::now(), Measure::default());
            let mut writer = book.writer(caller as u64, callers);
            while begin.elapsed() < time {
                let start = Instant::now();
                connection.write(book, bodies, versions, &mut writer).await?;
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
    async fn write(
        &self,
        book: &Book,
        bodies: &Bodies,
        versions: &[AtomicI64],
        writer: &mut Writer,
    ) -> anyhow::Result<()> {
        let write = writer.next();
        let number = match &write {
            Write::Update { number, .. } | Write::Create { number, .. } | Write::Move { number, .. } => {
                *number
            }
        };
        let known = versions.get(number as usize);
        let version = known.map_or(0, |version| version.load(Ordering::Relaxed));
        let moved_to = if let Write::Move { to, .. } = write { Some(to) } else { None };
        let row = Row { moved_to, ..Row::new(book, bodies, number, version) };
        self.client.batch_execute("begin").await?;
        self.save(&row).await?;
        self.client.batch_execute("commit").await?;
        if let Some(known) = known {
            known.store(version + 1, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn save(&self, row: &Row<'_>) -> anyhow::Result<()> {
        let Row { id, seller, version, created, data, card, .. } = row;
        let changed = self.execute(OFFER, &[id, seller, version, data]).await?;
        anyhow::ensure!(changed == 1, "a hand-made write was in conflict");
        // Counts are updated in a fixed order, so that two writers of a seller do not deadlock.
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

/// An offer as a row of the table.
struct Row<'a> {
    id: i64,
    seller: String,
    version: i64,
    created: i64,
    data: &'a [u8],
    card: &'a [u8],
    moved_to: Option<Status>,
}

impl<'a> Row<'a> {
    fn new(book: &Book, bodies: &'a Bodies, number: u64, version: i64) -> Self {
        let id = book.ids().get(number as usize).and_then(|id| id.to_string().parse().ok());
        let Body { data, card } = bodies.of(number);
        Self {
            id: id.unwrap_or(FRESH_IDS + number.cast_signed()),
            seller: book.ads().seller(number),
            version,
            created: number.cast_signed(),
            data,
            card,
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

async fn load_offers(client: &Client, book: &Book, bodies: &Bodies) -> anyhow::Result<()> {
    let offers = "insert into bench_handmade.offers select i, s, 1, d from unnest($1::bigint[], $2::text[], $3::bytea[]) u(i, s, d)";
    let presets = "insert into bench_handmade.presets select s, p, c, i, k
        from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bytea[]) u(s, c, i, k), unnest(array['all', 'active']) p";
    let counts = "insert into bench_handmade.counts select seller, preset, count(*) from bench_handmade.presets group by seller, preset";
    let all = book.ids().len() as u64;
    for first in (0..all).step_by(LOAD_STEP as usize) {
        let rows: Vec<Row<'_>> =
            (first..all.min(first + LOAD_STEP)).map(|n| Row::new(book, bodies, n, 1)).collect();
        let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
        let created: Vec<i64> = rows.iter().map(|row| row.created).collect();
        let sellers: Vec<&str> = rows.iter().map(|row| &*row.seller).collect();
        let data: Vec<&[u8]> = rows.iter().map(|row| row.data).collect();
        let cards: Vec<&[u8]> = rows.iter().map(|row| row.card).collect();
        client.execute(offers, &[&ids, &sellers, &data]).await?;
        client.execute(presets, &[&sellers, &created, &ids, &cards]).await?;
    }
    client.execute(counts, &[]).await?;
    Ok(())
}
