//! The rows that a group checks, and how they are locked.
//!
//! - A row that must be absent is inserted, because there is nothing to lock. Others that want the
//!   same wait for the outcome.
//! - A row that the group checks and some batch of it writes is locked exclusively. All batches
//!   count, whether they win or not, so a lock is never upgraded: two groups that share a row and
//!   both want to write it would deadlock.
//! - A row that the group only checks is locked against writers, so groups that check the same row,
//!   such as a common guard, do not wait for each other. A writer waits for all holders, including
//!   later ones: rows that are checked all the time should be written seldom.
//!
//! Within a table rows are locked in the order of their keys. Neighbours with the same kind of lock
//! share a statement. Where that would take many statements, one statement locks all rows of the
//! table exclusively.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::Tables;
use super::address::LockStyle;
use super::sql::{Hold, TableSql};
use crate::Result;
use crate::batch::{Batch, Write};
use crate::group::Group;
use crate::key::Key;

/// Alternations of shared and exclusive locks in one table.
const TURNS_MAX: usize = 8;

pub(super) struct Checks<'a>(Vec<Checked<'a>>);

pub(super) struct Checked<'a> {
    pub(super) sql: &'a TableSql,
    /// Rows that must be absent, each with what the group would put there.
    pub(super) absent: Vec<(&'a Key, Option<(u64, &'a Bytes)>)>,
    /// Rows that must have a version, in the order of their keys.
    pub(super) locks: Vec<Lock<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lock<'a> {
    pub(super) hold: Hold,
    pub(super) keys: Vec<&'a Key>,
}

#[derive(Default)]
struct Wanted<'a> {
    absent: bool,
    present: bool,
    last: Option<&'a Write>,
}

impl<'a> Checks<'a> {
    pub(super) fn of(group: &'a Group, tables: &'a Tables, style: LockStyle) -> Result<Self> {
        let mut checked = Vec::new();
        let wanted: Vec<_> = wanted(group).into_iter().collect();
        for rows in wanted.chunk_by(|(a, _), (b, _)| a.table().name == b.table().name) {
            let sql = tables.of(rows[0].0.table())?;
            let absent = rows.iter().filter(|(_, wanted)| wanted.absent).map(|(key, w)| (*key, put(w.last)));
            let present = rows.iter().filter(|(_, wanted)| wanted.present).map(|(key, w)| (*key, hold(w)));
            checked.push(Checked { sql, absent: absent.collect(), locks: locks(present.collect(), style) });
        }
        Ok(Self(checked))
    }

    pub(super) fn tables(&self) -> &[Checked<'a>] {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the first round trip only locks. Only then may it be sent together with BEGIN: if
    /// BEGIN fails, the statements behind it run all the same, each in its own transaction.
    pub(super) fn only_lock(&self) -> bool {
        !self.is_empty() && self.0.iter().all(|checked| checked.absent.is_empty())
    }
}

/// The checked rows in key order, each with the last write to it.
fn wanted(group: &Group) -> BTreeMap<&Key, Wanted<'_>> {
    let mut wanted: BTreeMap<&Key, Wanted<'_>> = BTreeMap::new();
    for (key, version) in group.batches.iter().flat_map(Batch::checks) {
        let wanted = wanted.entry(key).or_default();
        wanted.absent |= *version == 0;
        wanted.present |= *version > 0;
    }
    if wanted.is_empty() {
        return wanted;
    }
    for (key, write) in group.batches.iter().flat_map(Batch::writes) {
        if let Some(wanted) = wanted.get_mut(key) {
            wanted.last = Some(write);
        }
    }
    wanted
}

fn put(write: Option<&Write>) -> Option<(u64, &Bytes)> {
    match write {
        Some(Write::Put { version, value }) => Some((*version, value)),
        _ => None,
    }
}

fn hold(wanted: &Wanted<'_>) -> Hold {
    if wanted.last.is_some() { Hold::Exclusive } else { Hold::Shared }
}

/// The statements that lock the rows of a table.
fn locks<'a>(mut rows: Vec<(&'a Key, Hold)>, style: LockStyle) -> Vec<Lock<'a>> {
    let turns = rows.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
    if turns > TURNS_MAX {
        for (_, hold) in &mut rows {
            *hold = Hold::Exclusive;
        }
    }
    let together = |a: &(&Key, Hold), b: &(&Key, Hold)| {
        a.1 == b.1 && (style == LockStyle::ByTable || a.0.shard() == b.0.shard())
    };
    let lock =
        |rows: &[(&'a Key, Hold)]| Lock { hold: rows[0].1, keys: rows.iter().map(|(key, _)| *key).collect() };
    rows.chunk_by(together).map(lock).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BatchId;
    use crate::table::Table;

    static ROWS: Table<(u32, u32)> = Table::versioned("rows", &["shard", "n"]);

    /// What is locked how: `S0 S1 | X2` are two shared rows in one statement and an exclusive one
    /// in another.
    fn locked(group: Vec<Batch>, style: LockStyle) -> String {
        let sql = TableSql::new("torg", ROWS.def());
        let (group, tables) = (Group::new(group), Tables(vec![sql]));
        let checks = Checks::of(&group, &tables, style).unwrap();
        let name = |hold, key: &&Key| {
            let letter = if hold == Hold::Shared { 'S' } else { 'X' };
            format!("{letter}{}", ROWS.parts(key).unwrap().1)
        };
        let statement =
            |lock: &Lock<'_>| lock.keys.iter().map(|key| name(lock.hold, key)).collect::<Vec<_>>().join(" ");
        checks.tables()[0].locks.iter().map(statement).collect::<Vec<_>>().join(" | ")
    }

    /// A batch that checks rows and writes some rows; row `n` stands in shard `n / 10`.
    fn batch(checks: &[u32], writes: &[u32]) -> Batch {
        let key = |n: &u32| ROWS.key((n / 10, *n));
        let mut batch = Batch::with_id(BatchId(1));
        for n in checks {
            batch.check(key(n), 1);
        }
        for n in writes {
            batch.put(key(n), 2, "");
        }
        batch
    }

    #[test]
    fn what_no_batch_of_the_group_writes_is_shared_and_all_is_locked_in_the_order_of_keys() {
        let group = || vec![batch(&[5, 1, 3], &[3]), batch(&[2, 5], &[5]), batch(&[1, 11], &[99])];
        assert_eq!(locked(group(), LockStyle::ByTable), "S1 S2 | X3 X5 | S11");
        assert_eq!(locked(vec![batch(&[1, 2, 11], &[])], LockStyle::ByTable), "S1 S2 S11");
        assert_eq!(locked(vec![batch(&[1, 2, 11], &[])], LockStyle::ByShard), "S1 S2 | S11");
    }

    #[test]
    fn a_row_that_one_batch_checks_and_another_deletes_is_exclusive() {
        let mut deleting = Batch::with_id(BatchId(2));
        deleting.delete(ROWS.key((0, 1)));
        assert_eq!(locked(vec![batch(&[1, 2], &[]), deleting], LockStyle::ByTable), "X1 | S2");
    }

    #[test]
    fn where_the_locks_would_take_turns_too_often_all_are_exclusive() {
        let odd = |count: u32| (0..count).filter(|n| n % 2 == 1).collect::<Vec<_>>();
        let alternating = |count: u32| vec![batch(&(0..count).collect::<Vec<_>>(), &odd(count))];
        let turns = TURNS_MAX as u32;
        assert_eq!(locked(alternating(turns + 1), LockStyle::ByTable).matches('|').count(), TURNS_MAX);
        let locked = locked(alternating(turns + 2), LockStyle::ByTable);
        assert!(!locked.contains(['|', 'S']), "{locked}");
    }
}
