//! Making changes.

use std::collections::BTreeSet;

use jiff::Timestamp;
use store::{Batch, Key, Outcome, Read as _};
use xxhash_rust::xxh3::xxh3_64;

use super::Ctl;
use super::change::{Change, Changed};
use super::error::{Error, Result};
use super::name::{Keys, Name};
use super::read::HistoryEntry;
use super::rows::{StoredValue, encode_mark};
use crate::limits::{ATTEMPTS_MAX, AUTHOR_CHARS_MAX, CHANGES_MAX, HISTORY_PORTION, REASON_CHARS_MAX};

/// A lagging history is trimmed by this many portions at once.
const PORTIONS_MAX: u64 = 4;

struct Author<'a> {
    name: &'a str,
    reason: &'a str,
    now: Timestamp,
}

impl Ctl {
    /// Makes changes of different parameters in one commit, all or none, and returns the results in
    /// order.
    ///
    /// After a conflict with concurrent changes it decides again by the new values. `reason` may be
    /// empty.
    pub async fn set(&self, changes: Vec<Change>, author: &str, reason: &str) -> Result<Vec<Changed>> {
        let names = checked(&changes, author, reason)?;
        let mut turn = None;
        for _ in 0..ATTEMPTS_MAX {
            let mut batch = Batch::new();
            let done = self.prepare(&mut batch, &names, &changes, author, reason).await?;
            if done.iter().all(|done| !done.changed) {
                return Ok(done);
            }
            match self.store.commit(batch).await? {
                Outcome::Applied => return Ok(done),
                // From now on one at a time, at least among writers of the same value.
                Outcome::Conflict(keys) if turn.is_none() => {
                    turn = Some(self.queues[queue(&keys)].lock().await);
                }
                Outcome::Conflict(_) => {}
            }
        }
        Err(Error::Contended)
    }

    /// Adds changes to the caller's batch. If its commit conflicts, the caller builds another batch
    /// the same way. The batch must not contain other changes of the same parameters.
    ///
    /// Unchanged values are checked too: the batch applies only if every value is still as
    /// returned.
    pub async fn add_to(
        &self,
        batch: &mut Batch,
        changes: &[Change],
        author: &str,
        reason: &str,
    ) -> Result<Vec<Changed>> {
        let names = checked(changes, author, reason)?;
        self.prepare(batch, &names, changes, author, reason).await
    }

    async fn prepare(
        &self,
        batch: &mut Batch,
        names: &[Name],
        changes: &[Change],
        author: &str,
        reason: &str,
    ) -> Result<Vec<Changed>> {
        let keys: Vec<Keys> = names.iter().map(|name| name.keys(self.settings.shards)).collect();
        let rows: Vec<Key> = keys.iter().map(Keys::value).collect();
        let found = self.store.get(&rows).await?;
        let author_of = Author { name: author, reason, now: self.now() };
        // Validate everything before adding anything.
        let mut decided = Vec::with_capacity(changes.len());
        for (change, row) in changes.iter().zip(&found) {
            let stored = row.as_ref().map(StoredValue::read).transpose()?.unwrap_or_default();
            let version = row.as_ref().map_or(0, |row| row.version);
            decided.push((change.decide(stored.value, version)?, stored, version));
        }
        // In the long run as many changes are deleted as are made, and never more in one batch than
        // it can hold.
        let mut budget = 2 * changes.len() as u64 + PORTIONS_MAX * HISTORY_PORTION;
        let mut done = Vec::with_capacity(changes.len());
        for (((change, keys), row), (decided, stored, version)) in
            changes.iter().zip(&keys).zip(rows).zip(decided)
        {
            batch.check(row.clone(), version);
            let before = stored.value;
            let mut answer = Changed {
                parameter: keys.name.to_parameter(),
                before,
                after: change.to,
                version,
                changed: decided.changed,
                moved_back: decided.moved_back,
            };
            if decided.changed {
                answer.version = version + 1;
                let history_from = self.cut_history(batch, keys, &stored, answer.version, &mut budget);
                write(batch, keys, row, &answer, &author_of, history_from);
            }
            done.push(answer);
        }
        Ok(done)
    }

    /// Deletes the oldest changes of a parameter once a portion has gathered. Returns the earliest
    /// remaining version.
    fn cut_history(
        &self,
        batch: &mut Batch,
        keys: &Keys,
        stored: &StoredValue,
        version: u64,
        budget: &mut u64,
    ) -> u64 {
        let from = stored.history_from.max(1);
        // The first version to keep.
        let keep_from = (version + 1).saturating_sub(self.settings.history_kept);
        let surplus = keep_from.saturating_sub(from);
        if surplus < HISTORY_PORTION {
            return from;
        }
        let cut = surplus.min(PORTIONS_MAX * HISTORY_PORTION).min(*budget);
        *budget -= cut;
        for old in from..from + cut {
            batch.delete(keys.change(old));
        }
        from + cut
    }
}

fn write(batch: &mut Batch, keys: &Keys, row: Key, done: &Changed, author_of: &Author, history_from: u64) {
    let (author, at) = (author_of.name.to_owned(), author_of.now);
    let change = HistoryEntry {
        version: done.version,
        author: author.clone(),
        at,
        before: done.before,
        after: done.after,
        moved_back: done.moved_back,
        reason: author_of.reason.to_owned(),
    };
    let value = StoredValue { value: done.after, author, at, history_from };
    batch.put(row, done.version, value.encode());
    batch.set(keys.change(done.version), change.encode());
    batch.put(keys.changed(), done.version, encode_mark(done.after, at));
}

fn checked(changes: &[Change], author: &str, reason: &str) -> Result<Vec<Name>> {
    if author.trim().is_empty() || author.chars().count() > AUTHOR_CHARS_MAX {
        return Err(Error::Author);
    }
    if reason.chars().count() > REASON_CHARS_MAX {
        return Err(Error::Reason);
    }
    if changes.len() > CHANGES_MAX {
        return Err(Error::TooManyChanges(changes.len()));
    }
    let names = changes.iter().map(|change| Name::of(&change.parameter)).collect::<Result<Vec<_>>>()?;
    let mut known = BTreeSet::new();
    match names.iter().find(|name| !known.insert(*name)) {
        Some(twice) => Err(Error::Twice(twice.to_parameter())),
        None => Ok(names),
    }
}

/// The queue for writers that conflicted at these values.
fn queue(keys: &[Key]) -> usize {
    keys.first().map_or(0, |key| (xxh3_64(key.bytes()) % super::QUEUES as u64) as usize)
}
