//! A plain PostgreSQL client as a reference: one table, one connection that inserts a group of rows
//! in one statement (one transaction), and connections that read page by page.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio_postgres::{Client, NoTls, Statement};

use super::{Load, PAGE_MESSAGES, READERS};
use crate::data::{Numbers, looked_at_all, mix, offer_id};
use crate::measure::{Measure, all_beside};

const SCHEMA: &str = "
    drop schema if exists bench_plain cascade;
    create schema bench_plain;
    create table bench_plain.messages(part bigint, at_offset bigint, value bytea not null, primary key (part, at_offset));
    alter table bench_plain.messages alter value set storage external;";
const APPEND: &str = "insert into bench_plain.messages
    select p, o, v from unnest($1::bigint[], $2::bigint[], $3::bytea[]) u(p, o, v)";
const READ: &str = "select at_offset, value from bench_plain.messages
    where part = $1 and at_offset >= $2 order by at_offset limit $3";

/// The overhead of a Torg message beside key and payload: format, times and lengths, and a
/// checksum.
const WRAPPING: [u8; 14] = [1; 14];
/// The bytes before the payload: the wrapping and the message's key.
const HEAD_BYTES: usize = WRAPPING.len() + 16;

pub(super) struct PlainPostgres {
    client: Client,
    append: Statement,
    readers: Vec<(Client, Statement)>,
    /// The next offset of each partition.
    ends: Vec<i64>,
    numbers: Numbers,
}

impl PlainPostgres {
    pub(super) async fn open(url: &str, load: &Load) -> anyhow::Result<Self> {
        let client = connect(url).await?;
        client.batch_execute(SCHEMA).await?;
        let append = client.prepare(APPEND).await?;
        let mut readers = Vec::new();
        for _ in 0..READERS {
            let client = connect(url).await?;
            let read = client.prepare(READ).await?;
            readers.push((client, read));
        }
        let ends = vec![0; load.partitions as usize];
        Ok(Self { client, append, readers, ends, numbers: Numbers::new(7) })
    }

    pub(super) async fn appends(&mut self, load: &Load, time: Duration) -> anyhow::Result<Measure> {
        let begin = Instant::now();
        let mut measure = Measure::default();
        while begin.elapsed() < time {
            let start = Instant::now();
            let (mut partitions, mut offsets, mut values) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..load.group() {
                let number = self.numbers.next();
                let partition = mix(number) % u64::from(load.partitions);
                let end = &mut self.ends[partition as usize];
                partitions.push(partition.cast_signed());
                offsets.push(*end);
                *end += 1;
                values.push([&WRAPPING[..], &offer_id(number), &load.payloads.pick(number)].concat());
            }
            self.client.execute(&self.append, &[&partitions, &offsets, &values]).await?;
            measure.note(start, load.group());
        }
        measure.elapsed = begin.elapsed();
        Ok(measure)
    }

    pub(super) async fn reads(&self, load: &Load, time: Duration) -> anyhow::Result<Measure> {
        let readers = (0..).zip(&self.readers).map(|(number, (client, read))| async move {
            let begin = Instant::now();
            let mut measure = Measure::default();
            let own = (number..load.partitions).step_by(READERS as usize).cycle();
            'all: for partition in own {
                let mut next = 0i64;
                loop {
                    if begin.elapsed() >= time {
                        break 'all;
                    }
                    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
                        [&i64::from(partition), &next, &(PAGE_MESSAGES as i64)];
                    let rows = client.query(read, &parameters).await?;
                    for row in &rows {
                        let payload = row.get::<_, &[u8]>(1).get(HEAD_BYTES..).unwrap_or_default();
                        anyhow::ensure!(
                            looked_at_all(payload, load.payload_bytes),
                            "a row is not as it was written"
                        );
                        next = row.get::<_, i64>(0) + 1;
                    }
                    measure.count += rows.len() as u64;
                    if rows.is_empty() {
                        break;
                    }
                }
            }
            measure.elapsed = begin.elapsed();
            anyhow::Ok(measure)
        });
        Ok(all_beside(futures::future::try_join_all(readers).await?))
    }
}

async fn connect(url: &str) -> anyhow::Result<Client> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.context("the plain client cannot connect")?;
    tokio::spawn(connection);
    Ok(client)
}
