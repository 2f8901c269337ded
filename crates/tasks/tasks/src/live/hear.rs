//! What others have written: values, people's changes of tasks, ends of runs at other places, task files.

use ctl::limits::{CHANGES_MAX, PAGE_MAX};
use ctl::tells_of_change;
use futures::FutureExt as _;
use planner::board::TaskState;
use store::{Batch, Hint, Key, Outcome, Read as _};

use super::foreign::read_end;
use super::owner::{Halt, Owner};
use crate::definitions;
use crate::entity;
use crate::tables::{DEPLOYMENTS, ENDS, MARKS, SHARD};

/// What has to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a set of four")]
pub(super) struct News {
    values: bool,
    tasks: bool,
    ends: bool,
    files: bool,
}

impl News {
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
        self.values |= tells_of_change(hint);
        self.tasks |= table == MARKS.def().name;
        self.ends |= table == ENDS.def().name;
        self.files |= table == DEPLOYMENTS.def().name;
    }
}

impl Owner {
    /// Takes in the hints that are there already.
    pub(super) fn drain_hints(&mut self) {
        while let Some(Some(hint)) = self.hints.next().now_or_never() {
            self.news.note(&hint);
        }
    }

    /// Reads what hints were about. A hint that comes meanwhile counts again.
    pub(super) async fn hear(&mut self) -> Result<(), Halt> {
        let news = std::mem::take(&mut self.news);
        let heard = self.read(news).await;
        if heard.is_err() {
            self.news = News::all();
        }
        heard
    }

    async fn read(&mut self, news: News) -> Result<(), Halt> {
        if news.files {
            self.hear_of_files().await?;
        }
        if news.tasks {
            self.hear_of_tasks().await?;
        }
        if news.ends {
            self.hear_of_ends().await?;
        }
        if news.values {
            self.hear_of_values().await?;
        }
        Ok(())
    }

    async fn hear_of_values(&mut self) -> Result<(), Halt> {
        let marks = self.core.ctl.changed(PAGE_MAX).await?;
        self.news.values |= marks.len() >= PAGE_MAX;
        self.with(|live, _| {
            live.board.values_changed(marks.iter().map(|mark| (&mark.parameter, mark.value)));
        });
        self.marks = marks;
        Ok(())
    }

    /// Marks are forgotten when all that follows from them is committed or queued on the board, which the next owner makes anew from the values.
    pub(super) async fn forget_marks(&mut self) -> Result<(), Halt> {
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

    async fn hear_of_tasks(&mut self) -> Result<(), Halt> {
        let page = self.core.store.scan(&MARKS.prefix((SHARD,))).await?;
        self.news.tasks |= page.next.is_some();
        for row in page.rows {
            let (_, name) = MARKS.parts(&row.key)?;
            if let Some(task) = entity::load(&self.core.store, &name).await? {
                self.with(|live, _| live.board.state_changed(&task.name, task.state.clone()));
            }
            let mut batch = Batch::new();
            self.fence.guard(&mut batch);
            batch.check(row.key.clone(), row.version).delete(row.key);
            // Changed again meanwhile: there is another hint, and another look in a second.
            let _ = self.commit(batch).await?;
        }
        Ok(())
    }

    async fn hear_of_ends(&mut self) -> Result<(), Halt> {
        let page = self.core.store.scan(&ENDS.prefix((SHARD,))).await?;
        self.news.ends |= page.next.is_some();
        for row in page.rows {
            let (key, ended) = read_end(&row)?;
            let under_way = self.with(|live, _| live.board.state(&key.0).and_then(TaskState::running));
            if under_way.flatten().is_some_and(|(run, _)| run == key.1) {
                self.foreign.remove(&key);
                self.tell_end(key, ended);
                continue;
            }
            if self.told.contains(&key) {
                continue;
            }
            let mut batch = Batch::new();
            self.fence.guard(&mut batch);
            batch.delete(row.key);
            let _ = self.commit(batch).await?;
        }
        Ok(())
    }

    async fn hear_of_files(&mut self) -> Result<(), Halt> {
        let newest = definitions::newest(&self.core.store).await?.map_or(0, |newest| newest.number);
        let known = self.with(|live, _| live.definitions.number).unwrap_or_default();
        if newest == known {
            return Ok(());
        }
        let new = definitions::current(&self.core.store).await?;
        tracing::info!(deployment = new.number, tasks = new.plans().len(), "other task files are at work");
        self.with(|live, core| {
            let new = new.in_place_of(&live.definitions);
            let changes = new.changes_from(&live.definitions);
            live.board.plans_changed(Some(&new.settings()), changes, core.now());
            live.definitions = new;
        });
        Ok(())
    }

    /// Commits a batch that the fence guards; the keys that were in conflict, if some were.
    pub(super) async fn commit(&self, batch: Batch) -> Result<Option<Vec<Key>>, Halt> {
        match self.core.store.commit(batch).await? {
            Outcome::Applied => Ok(None),
            Outcome::Conflict(keys) if self.fence.is_among(&keys) => Err(Halt::Lost),
            Outcome::Conflict(keys) => Ok(Some(keys)),
        }
    }
}
