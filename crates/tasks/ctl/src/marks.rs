//! Marks: which parameters changed since a consumer has read them.

use jiff::Timestamp;
use store::{Batch, Key, Outcome, Read as _};
use triggers::{Parameter, Value};

use super::Ctl;
use super::error::{Error, Result};
use super::name::Name;
use super::rows::read_mark;
use super::tables::CHANGED;
use crate::limits::{ATTEMPTS_MAX, CHANGES_MAX, PAGE_MAX};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// In its [canonical](super::canonical) form.
    pub parameter: Parameter,
    pub version: u64,
    /// The value after that change; `None`: it was deleted.
    pub value: Option<Value>,
    pub at: Timestamp,
    key: Key,
}

impl Ctl {
    /// Parameters that changed since their marks were forgotten, at most [`PAGE_MAX`].
    pub async fn changed(&self, limit: usize) -> Result<Vec<Mark>> {
        self.changed_after(None, limit).await
    }

    /// The same, after a mark: with more changes than a page, every parameter has its turn.
    pub async fn changed_after(&self, after: Option<&Mark>, limit: usize) -> Result<Vec<Mark>> {
        let limit = limit.min(PAGE_MAX);
        let mut scan = CHANGED.scan().limit(limit);
        if let Some(after) = after {
            scan = scan.after(after.key.clone());
        }
        let mut marks = Vec::new();
        while marks.len() < limit {
            let page = self.store.scan(&scan).await?;
            for row in page.rows.into_iter().take(limit - marks.len()) {
                let (value, at) = read_mark(&row)?;
                let parameter = Name::from_columns(CHANGED.parts(&row.key)?).to_parameter();
                marks.push(Mark { parameter, version: row.version, value, at, key: row.key });
            }
            let Some(next) = page.next else { break };
            scan = scan.after(next);
        }
        Ok(marks)
    }

    /// Adds the removal of marks to the caller's batch. The batch conflicts if one of the
    /// parameters changed again; [`Ctl::keep_unchanged`] then removes that mark from the list.
    pub fn forget(&self, batch: &mut Batch, marks: &[Mark]) {
        for mark in marks {
            batch.check(mark.key.clone(), mark.version).delete(mark.key.clone());
        }
    }

    /// Removes the marks that a conflict names: they changed again, or another consumer forgot
    /// them.
    pub fn keep_unchanged(&self, marks: &mut Vec<Mark>, conflict: &[Key]) {
        marks.retain(|mark| !conflict.contains(&mark.key));
    }

    /// Forgets marks in commits of their own, except those whose parameters changed again. Returns
    /// how many were forgotten.
    pub async fn forget_now(&self, marks: &[Mark]) -> Result<usize> {
        let mut forgotten = 0;
        for portion in marks.chunks(CHANGES_MAX) {
            forgotten += self.forget_portion(portion.to_vec()).await?;
        }
        Ok(forgotten)
    }

    async fn forget_portion(&self, mut marks: Vec<Mark>) -> Result<usize> {
        for _ in 0..ATTEMPTS_MAX {
            let mut batch = Batch::with_capacity(marks.len(), marks.len());
            self.forget(&mut batch, &marks);
            match self.store.commit(batch).await? {
                Outcome::Applied => return Ok(marks.len()),
                Outcome::Conflict(keys) => self.keep_unchanged(&mut marks, &keys),
            }
        }
        Err(Error::Contended)
    }
}
