//! Events from the store: values, manual actions, ends of remote runs, task files.

use ctl::is_value_change;
use ctl::limits::{CHANGES_MAX, PAGE_MAX};
use futures::FutureExt as _;
use planner::TaskState;
use store::{Batch, Hint, Key, Outcome, Read as _};

use super::remote_runs::read_end;
use super::rounds::{Leader, Stop};
use crate::definitions;
use crate::entity;
use crate::tables::{DEPLOYMENTS, ENDS, MARKS, SHARD};

/// The tables to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a set of four")]
pub(super) struct Unread {
    values: bool,
    tasks: bool,
    ends: bool,
    files: bool,
}

impl Unread {
    pub(super) const fn all() -> Self {
        Self { values: true, tasks: true, ends: true, files: true }
    }

    pub(super) fn is_nothing(self) -> bool {
        self == Self::default()
    }

    pub(super) fn note(&mut self, hint: &Hint) {
        let table = match hint {
            Hint::Put(key) => key.table().name,
            Hint::Changed { table, .. } => table,
            Hint::Anything => return *self = Self::all(),
        };
        self.values |= is_value_change(hint);
        self.tasks |= table == MARKS.def().name;
        self.ends |= table == ENDS.def().name;
        self.files |= table == DEPLOYMENTS.def().name;
    }
}

impl Leader {
    /// Takes in the pending hints.
    pub(super) fn drain_hints(&mut self) {
        while let Some(Some(hint)) = self.hints.next().now_or_never() {
            self.unread.note(&hint);
        }
    }

    /// Reads the tables that hints named. A concurrent hint counts again.
    pub(super) async fn read_events(&mut self) -> Result<(), Stop> {
        let unread = std::mem::take(&mut self.unread);
        let heard = self.read(unread).await;
        if heard.is_err() {
            self.unread = Unread::all();
        }
        heard
    }

    async fn read(&mut self, unread: Unread) -> Result<(), Stop> {
        if unread.files {
            self.read_files().await?;
        }
        if unread.tasks {
            self.read_changed_tasks().await?;
        }
        if unread.ends {
            self.read_remote_ends().await?;
        }
        if unread.values {
            self.read_values().await?;
        }
        Ok(())
    }

    async fn read_values(&mut self) -> Result<(), Stop> {
        let marks = self.core.ctl.changed(PAGE_MAX).await?;
        self.unread.values |= marks.len() >= PAGE_MAX;
        self.with(|leader, _| {
            leader.planner.values_changed(marks.iter().map(|mark| (&mark.parameter, mark.value)));
        });
        self.marks = marks;
        Ok(())
    }

    /// Forgets marks once everything that follows from them is committed or in the planner, which
    /// the next leader rebuilds from the values.
    pub(super) async fn forget_marks(&mut self) -> Result<(), Stop> {
        let marks = std::mem::take(&mut self.marks);
        for portion in marks.chunks(CHANGES_MAX) {
            let mut portion = portion.to_vec();
            while !portion.is_empty() {
                let mut batch = Batch::new();
                self.fence.guard(&mut batch);
                self.core.ctl.forget(&mut batch, &portion);
                let Some(conflict) = self.commit(batch).await? else { break };
                self.core.ctl.keep_unchanged(&mut portion, &conflict);
            }
        }
        Ok(())
    }

    async fn read_changed_tasks(&mut self) -> Result<(), Stop> {
        let page = self.core.store.scan(&MARKS.prefix((SHARD,))).await?;
        self.unread.tasks |= page.next.is_some();
        for row in page.rows {
            let (_, name) = MARKS.parts(&row.key)?;
            if let Some(task) = entity::load(&self.core.store, &name).await? {
                self.with(|leader, _| leader.planner.state_changed(&task.name, task.state.clone()));
            }
            let mut batch = Batch::new();
            self.fence.guard(&mut batch);
            batch.check(row.key.clone(), row.version).delete(row.key);
            // After a concurrent change there is another hint, and another poll in a second.
            let _ = self.commit(batch).await?;
        }
        Ok(())
    }

    async fn read_remote_ends(&mut self) -> Result<(), Stop> {
        let page = self.core.store.scan(&ENDS.prefix((SHARD,))).await?;
        self.unread.ends |= page.next.is_some();
        for row in page.rows {
            let (key, ended) = read_end(&row)?;
            let under_way = self.with(|leader, _| leader.planner.state(&key.0).and_then(TaskState::running));
            if under_way.flatten().is_some_and(|(run, _)| run == key.1) {
                self.remote_runs.remove(&key);
                self.report_end(key, ended);
                continue;
            }
            if self.reported.contains(&key) {
                continue;
            }
            let mut batch = Batch::new();
            self.fence.guard(&mut batch);
            batch.delete(row.key);
            let _ = self.commit(batch).await?;
        }
        Ok(())
    }

    async fn read_files(&mut self) -> Result<(), Stop> {
        let newest = definitions::newest(&self.core.store).await?.map_or(0, |newest| newest.number);
        let known = self.with(|leader, _| leader.definitions.number).unwrap_or_default();
        if newest == known {
            return Ok(());
        }
        let new = definitions::current(&self.core.store).await?;
        tracing::info!(deployment = new.number, tasks = new.plans().len(), "task files changed");
        self.with(|leader, core| {
            let new = new.in_place_of(&leader.definitions);
            let changes = new.changes_from(&leader.definitions);
            leader.planner.plans_changed(Some(new.limits()), changes, core.now());
            leader.definitions = new;
        });
        Ok(())
    }

    /// Commits a batch under the fence; returns conflicting keys.
    pub(super) async fn commit(&self, batch: Batch) -> Result<Option<Vec<Key>>, Stop> {
        match self.core.store.commit(batch).await? {
            Outcome::Applied => Ok(None),
            Outcome::Conflict(keys) if self.fence.is_among(&keys) => Err(Stop::Lost),
            Outcome::Conflict(keys) => Ok(Some(keys)),
        }
    }
}
