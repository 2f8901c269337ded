//! Commits: a group of batches in two round trips on one connection.
//!
//! 1. BEGIN; for each table: insert the rows that must be absent (an insert is the only lock on a
//!    missing row), and lock the rows that must have a version: exclusively if the group may write
//!    them, otherwise against writers (`checks.rs`). The answers return the versions.
//! 2. The batches are decided here. The commit log, the rows, the counters; COMMIT. If every batch
//!    lost: ROLLBACK.
//!
//! BEGIN is awaited before anything is written: a statement behind a failed BEGIN would be a
//! transaction of its own. So only locks are sent together with it. A group without checks needs
//! only BEGIN in the first round trip.
//!
//! A row that must be absent is inserted as the group would leave it, so that the usual creation
//! costs one insert; the second round trip corrects it if the decision is different.
//!
//! All groups lock in one order: tables by kind and name, rows by key; counters, which every group
//! touches, come last and are held shortest.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use tokio_postgres::types::ToSql;

use super::address::LockStyle;
use super::checks::{Checked, Checks, Lock};
use super::codec::{Params, columns_of, key_from, undecodable};
use super::connection::{Connection, Pipelined, Request, all_rows, pipelined};
use super::errors::{PgError, Trouble, is_certain, one_line};
use super::log::LogEntry;
use super::sql::TableSql;
use super::{Tables, read};
use crate::Result;
use crate::batch::Write;
use crate::group::{Decision, Group, Verdict, add, decide};
use crate::key::Key;
use crate::table::Kind;

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
/// The version of a row that exists and was not read: no batch can expect it, versions have 63
/// bits.
const SOME_VERSION: u64 = u64::MAX;

struct Call<'a> {
    text: &'a str,
    values: Vec<Box<dyn ToSql + Sync + Send + 'a>>,
}

impl<'a> Call<'a> {
    fn over(sql: &'a TableSql, text: &'a str, keys: &[&Key]) -> Result<Self> {
        let columns = columns_of(sql.table, keys.iter().copied())?;
        let values = columns.into_iter().map(|c| Box::new(c) as Box<dyn ToSql + Sync + Send>).collect();
        Ok(Self { text, values })
    }

    fn with(mut self, value: impl ToSql + Sync + Send + 'a) -> Self {
        self.values.push(Box::new(value));
        self
    }

    fn params(&self) -> Params<'_> {
        self.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect()
    }
}

/// The result of the first round trip.
#[derive(Default)]
struct Learnt {
    /// Zero: absent.
    versions: BTreeMap<Key, u64>,
    /// Inserted rows and their values.
    created: BTreeMap<Key, Option<(u64, Bytes)>>,
}

pub(super) enum Failed {
    NotApplied(Trouble),
    /// COMMIT was sent and not answered.
    Unknown {
        verdicts: Vec<Verdict>,
        detail: String,
    },
}

impl<T: Into<Trouble>> From<T> for Failed {
    fn from(trouble: T) -> Self {
        Self::NotApplied(trouble.into())
    }
}

/// One attempt at a group. The transaction is over afterwards only if some batch was applied;
/// otherwise a ROLLBACK is due.
pub(super) struct Attempt<'a> {
    pub(super) connection: &'a Connection,
    pub(super) tables: &'a Tables,
    pub(super) lock: LockStyle,
    pub(super) group: &'a Group,
    pub(super) log: &'a LogEntry<'a>,
}

impl Attempt<'_> {
    /// Returns the decision, for hints.
    pub(super) async fn run(&self, checks: &Checks<'_>) -> Result<Decision, Failed> {
        if !checks.only_lock() {
            self.connection.run(BEGIN).await?;
        }
        let learnt = self.learn(checks).await?;
        let decision = decide(self.group, |key| Ok(learnt.versions.get(key).copied().unwrap_or(0)))?;
        if !decision.verdicts.contains(&Verdict::Applied) {
            return Ok(decision);
        }
        match self.write(&learnt, &decision).await {
            Ok(()) => Ok(decision),
            Err(Failed::Unknown { detail, .. }) => {
                Err(Failed::Unknown { verdicts: decision.verdicts, detail })
            }
            Err(failed) => Err(failed),
        }
    }

    /// The first round trip.
    async fn learn(&self, checks: &Checks<'_>) -> Result<Learnt, Trouble> {
        if checks.is_empty() {
            return Ok(Learnt::default());
        }
        let mut calls = Vec::new();
        for checked in checks.tables() {
            if !checked.absent.is_empty() {
                calls.push((checked, None, create(checked)?));
            }
            for lock in &checked.locks {
                calls.push((checked, Some(lock), self.lock(checked.sql, lock)?));
            }
        }
        let begin = checks.only_lock().then(|| self.connection.command(BEGIN));
        let answers = self.ask(begin, calls.iter().map(|(_, _, call)| call).collect()).await?;
        let mut learnt = Learnt::default();
        for ((checked, lock, _), rows) in calls.iter().zip(answers) {
            match lock {
                None => learn_created(&mut learnt, checked, &rows)?,
                Some(lock) => learn_versions(&mut learnt, &lock.keys, &rows)?,
            }
        }
        Ok(learnt)
    }

    fn lock<'s>(&self, sql: &'s TableSql, lock: &Lock<'_>) -> Result<Call<'s>> {
        match self.lock {
            LockStyle::ByTable => Call::over(sql, sql.lock.text(lock.hold), &lock.keys),
            LockStyle::ByShard => {
                let mut call = Call::over(sql, sql.lock_in_shard.text(lock.hold), &lock.keys)?;
                call.values[0] = Box::new(i64::from(lock.keys[0].shard()));
                Ok(call)
            }
        }
    }

    /// Sends everything, behind `begin` if given, before it awaits the first answer.
    async fn ask(
        &self,
        begin: Option<Request<'_>>,
        calls: Vec<&Call<'_>>,
    ) -> Result<Vec<Vec<tokio_postgres::Row>>, Trouble> {
        let texts: Vec<&str> = calls.iter().map(|call| call.text).collect();
        let statements = self.connection.prepare(&texts).await?;
        let params: Vec<Params<'_>> = calls.iter().map(|call| call.params()).collect();
        let mut requests: Vec<Request<'_>> = begin.into_iter().collect();
        let begins = requests.len();
        requests.extend(statements.iter().zip(&params).map(|(s, p)| self.connection.request(s, p)));
        let asked = requests.len();
        let mut answers = all_rows(pipelined(requests).await, asked)?;
        Ok(answers.split_off(begins))
    }

    /// The second round trip.
    async fn write(&self, learnt: &Learnt, decision: &Decision) -> Result<(), Failed> {
        let calls = self.calls(learnt, decision)?;
        let texts: Vec<&str> = calls.iter().map(|call| call.text).collect();
        let statements = self.connection.prepare(&texts).await?;
        let params: Vec<Params<'_>> = calls.iter().map(Call::params).collect();
        let mut requests: Vec<Request<'_>> = Vec::with_capacity(calls.len() + 1);
        requests.extend(statements.iter().zip(&params).map(|(s, p)| self.connection.request(s, p)));
        requests.push(self.connection.command("COMMIT"));
        match end_of(pipelined(requests).await) {
            Err(Failed::NotApplied(Trouble::OutOfRange)) => Err(self.name_overflow(decision).await.into()),
            end => end,
        }
    }

    /// In the order of locks.
    fn calls<'d>(&'d self, learnt: &'d Learnt, decision: &'d Decision) -> Result<Vec<Call<'d>>> {
        let winners = self.group.ids().zip(&decision.verdicts).filter(|(_, v)| **v == Verdict::Applied);
        let winners: Vec<uuid::Uuid> = winners.map(|(id, _)| uuid::Uuid::from_u128(id.0)).collect();
        let log = Call { text: self.log.insert, values: Vec::new() };
        let mut calls = vec![log.with(self.log.shard).with(self.log.id).with(winners)];
        let mut by_table: BTreeMap<(u8, &str), Written<'_>> = BTreeMap::new();
        for (key, write) in &decision.writes {
            let inserted = learnt.created.get(key);
            if let (Some(Some((version, value))), Write::Put { version: v, value: w }) = (inserted, write)
                && (version, value) == (v, w)
            {
                continue;
            }
            written(&mut by_table, self.tables, key)?.take(key, write);
        }
        for key in learnt.created.keys() {
            if !matches!(decision.writes.get(key), Some(Write::Put { .. } | Write::Delete)) {
                written(&mut by_table, self.tables, key)?.deletes.push(key);
            }
        }
        for written in by_table.into_values() {
            written.calls(&mut calls)?;
        }
        Ok(calls)
    }

    /// Names the counter that the database reports as out of range.
    async fn name_overflow(&self, decision: &Decision) -> Trouble {
        let adds: Vec<(&Key, i64)> = decision
            .writes
            .iter()
            .filter_map(|(key, write)| if let Write::Add(delta) = write { Some((key, *delta)) } else { None })
            .collect();
        let keys: Vec<Key> = adds.iter().map(|(key, _)| (*key).clone()).collect();
        if let Err(error) = self.connection.run("ROLLBACK").await {
            return error.into();
        }
        let rows = match read::get(self.connection, self.tables, &keys).await {
            Ok(rows) => rows,
            Err(trouble) => return trouble,
        };
        for ((key, delta), row) in adds.into_iter().zip(rows) {
            if let Err(error) = add(key, row.map_or(0, |row| row.amount()), delta) {
                return Trouble::Final(error);
            }
        }
        Trouble::Again("a counter was out of range and is not any more".to_owned())
    }
}

/// The outcome of statements that end with a COMMIT. An unknown one has no verdicts yet.
fn end_of(sent: Pipelined<Vec<tokio_postgres::Row>>) -> Result<(), Failed> {
    let last_was_sent = sent.last_was_sent;
    let mut failures: Vec<PgError> = sent.answers.into_iter().filter_map(Result::err).collect();
    if failures.is_empty() {
        return Ok(());
    }
    // A failed statement turned the COMMIT behind it into a ROLLBACK.
    let certain = failures.iter().position(is_certain);
    let error = failures.swap_remove(certain.unwrap_or(0));
    if certain.is_some() || !last_was_sent {
        return Err(error.into());
    }
    Err(Failed::Unknown { verdicts: Vec::new(), detail: one_line(&error) })
}

fn create<'a>(checked: &Checked<'a>) -> Result<Call<'a>> {
    let keys: Vec<&Key> = checked.absent.iter().map(|(key, _)| *key).collect();
    let puts = checked.absent.iter().map(|(_, put)| put);
    let versions: Vec<i64> =
        puts.clone().map(|put| put.map_or(0, |(version, _)| version.cast_signed())).collect();
    let values: Vec<&'a [u8]> = puts.map(|put| put.map_or(&[][..], |(_, value)| &value[..])).collect();
    Ok(Call::over(checked.sql, &checked.sql.create, &keys)?.with(versions).with(values))
}

fn learn_created(
    learnt: &mut Learnt,
    checked: &Checked<'_>,
    rows: &[tokio_postgres::Row],
) -> Result<(), Trouble> {
    let inserted = rows.iter().map(|row| key_from(checked.sql.table, row, 0));
    let inserted: BTreeSet<Key> = inserted.collect::<Result<_>>()?;
    for (key, put) in &checked.absent {
        let is_ours = inserted.contains(*key);
        learnt.versions.insert((*key).clone(), if is_ours { 0 } else { SOME_VERSION });
        if is_ours {
            learnt.created.insert((*key).clone(), put.map(|(version, value)| (version, value.clone())));
        }
    }
    Ok(())
}

fn learn_versions(learnt: &mut Learnt, keys: &[&Key], rows: &[tokio_postgres::Row]) -> Result<(), Trouble> {
    let mut found = vec![None; keys.len()];
    for row in rows {
        let read = || Ok((row.try_get::<_, i64>(0)?, row.try_get::<_, i64>(1)?));
        let (place, version): (i64, i64) = read().map_err(|error: PgError| undecodable(&error))?;
        if let Some(slot) = found.get_mut(place as usize - 1) {
            *slot = Some(version.cast_unsigned());
        }
    }
    for (key, version) in keys.iter().zip(found) {
        if learnt.created.contains_key(*key) {
            continue;
        }
        match version {
            Some(version) => _ = learnt.versions.insert((*key).clone(), version),
            // It must be absent as well, existed a moment ago and is gone now: no check on it
            // holds.
            None => _ = learnt.versions.entry((*key).clone()).or_insert(0),
        }
    }
    Ok(())
}

/// The writes to one table.
struct Written<'a> {
    sql: &'a TableSql,
    puts: Vec<&'a Key>,
    versions: Vec<i64>,
    values: Vec<&'a [u8]>,
    deletes: Vec<&'a Key>,
    adds: Vec<&'a Key>,
    deltas: Vec<i64>,
}

fn written<'m, 'a>(
    by_table: &'m mut BTreeMap<(u8, &'a str), Written<'a>>,
    tables: &'a Tables,
    key: &'a Key,
) -> Result<&'m mut Written<'a>> {
    let sql = tables.of(key.table())?;
    let rank = match sql.table.kind {
        Kind::Versioned => 0,
        Kind::Plain => 1,
        Kind::Counter => 2,
    };
    Ok(by_table.entry((rank, sql.table.name)).or_insert_with(|| Written {
        sql,
        puts: Vec::new(),
        versions: Vec::new(),
        values: Vec::new(),
        deletes: Vec::new(),
        adds: Vec::new(),
        deltas: Vec::new(),
    }))
}

impl<'a> Written<'a> {
    fn take(&mut self, key: &'a Key, write: &'a Write) {
        match write {
            Write::Put { version, value } => {
                self.puts.push(key);
                self.versions.push(version.cast_signed());
                self.values.push(value);
            }
            Write::Delete => self.deletes.push(key),
            Write::Add(delta) => {
                self.adds.push(key);
                self.deltas.push(*delta);
            }
        }
    }

    fn calls(self, calls: &mut Vec<Call<'a>>) -> Result<()> {
        if !self.puts.is_empty() {
            let mut call = Call::over(self.sql, &self.sql.write, &self.puts)?;
            if self.sql.table.kind == Kind::Versioned {
                call = call.with(self.versions);
            }
            calls.push(call.with(self.values));
        }
        if !self.adds.is_empty() {
            calls.push(Call::over(self.sql, &self.sql.write, &self.adds)?.with(self.deltas));
        }
        if !self.deletes.is_empty() {
            calls.push(Call::over(self.sql, &self.sql.delete, &self.deletes)?);
        }
        Ok(())
    }
}
