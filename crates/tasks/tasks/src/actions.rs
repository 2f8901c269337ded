//! Manual actions. Each needs a reason and is recorded in the history with its author.

use ctl::messages;
use planner::actions;
use planner::backfill;
use planner::deploy::{self, Deployment as Planned};
use planner::{BackfillOrder, Plan, Signed, TaskState, chunks, scale_of};
use store::{Batch, Outcome};
use taskfile::Difference;
use triggers::{Parameter, Value};
use wire::torg::tasks::v1::{Deployment, TaskEvent};

use crate::definitions::{self, Definitions, File};
use crate::entity::{self, TaskEntity, found};
use crate::error::{Error, Result};
use crate::leader::add_event;
use crate::limits::ACTION_ATTEMPTS_MAX;
use crate::service::Tasks;
use crate::tables::{KILLS, MARKS, SHARD};

/// The result of applying task files, or its preview.
#[derive(Clone, Debug)]
pub struct Applied {
    /// `None`: a preview.
    pub deployment: Option<Deployment>,
    pub difference: Difference,
    /// What fires at once, and what is removed while it runs.
    pub planned: Planned,
    pub warnings: Vec<String>,
}

impl Tasks {
    /// The author and reason of an action; refuses an empty reason.
    pub fn signed(&self, by: &str, reason: &str) -> Result<Signed> {
        Ok(Signed::new(by, reason, self.core.now())?)
    }

    /// See [`actions::run_now`].
    pub async fn run_now(&self, task: &str, record: bool, signed: &Signed) -> Result<()> {
        let what = if record {
            "a run was requested, and its success is to be remembered"
        } else {
            "a run was requested"
        };
        self.act(task, signed, what, |state, _| actions::run_now(state, record, signed)).await
    }

    /// See [`actions::pause`].
    pub async fn pause(&self, task: &str, signed: &Signed) -> Result<()> {
        self.act(task, signed, "paused", |state, _| actions::pause(state, signed)).await
    }

    /// See [`actions::resume`].
    pub async fn resume(&self, task: &str, signed: &Signed) -> Result<()> {
        self.act(task, signed, "resumed", |state, plan| actions::resume(state, plan, signed)).await
    }

    /// See [`actions::cancel`].
    pub async fn cancel(&self, task: &str, signed: &Signed) -> Result<()> {
        let seen = self.with_planner(|planner| planner.seen(task)).await?.unwrap_or_default();
        self.act(task, signed, "removed from the queue", |state, _| {
            actions::cancel(state, seen.clone(), signed)
        })
        .await
    }

    /// See [`actions::set_remembered`].
    pub async fn set_remembered(
        &self,
        task: &str,
        parameter: &Parameter,
        value: Value,
        signed: &Signed,
    ) -> Result<()> {
        let parameter = ctl::canonical(parameter)?;
        let what = format!("{value} is remembered of {parameter}");
        self.act(task, signed, &what, |state, plan| {
            actions::set_remembered(state, plan, &parameter, value, signed)
        })
        .await
    }

    /// See [`actions::delete_remembered`].
    pub async fn delete_remembered(
        &self,
        task: &str,
        parameter: Option<&Parameter>,
        signed: &Signed,
    ) -> Result<()> {
        let parameter = parameter.map(ctl::canonical).transpose()?;
        let what = match &parameter {
            Some(parameter) => format!("what was remembered of {parameter} is forgotten"),
            None => "all that was remembered is forgotten".to_owned(),
        };
        self.act(task, signed, &what, |state, _| {
            actions::delete_remembered(state, parameter.as_ref(), signed)
        })
        .await
    }

    /// See [`backfill::start`]. Returns the number of chunks.
    pub async fn start_backfill(&self, task: &str, order: &BackfillOrder, signed: &Signed) -> Result<u32> {
        let what = format!("a backfill of {} to {} was requested", order.from, order.to);
        let definitions = self.definitions().await?;
        let plan = definitions.plan(task).ok_or_else(|| planner::Error::NoTask(task.to_owned()))?;
        let scale = order.scale.map_or_else(|| scale_of(&plan.trigger), Ok)?;
        let count = chunks(&plan.calendar, scale, order.from, order.to, order.limit).len();
        self.act(task, signed, &what, |state, plan| backfill::start(state, plan, order, signed)).await?;
        Ok(count as u32)
    }

    /// See [`backfill::resume`].
    pub async fn resume_backfill(&self, task: &str, signed: &Signed) -> Result<()> {
        self.act(task, signed, "the backfill was resumed", |state, _| backfill::resume(state, signed)).await
    }

    /// See [`backfill::cancel`].
    pub async fn cancel_backfill(&self, task: &str, signed: &Signed) -> Result<()> {
        self.act(task, signed, "the backfill was cancelled", |state, _| backfill::cancel(state, signed)).await
    }

    /// Requests a kill of the current run and returns its number. It counts as failed and is tried
    /// again, unless the task is paused.
    pub async fn kill(&self, task: &str, signed: &Signed) -> Result<u64> {
        let known = self.get(task).await?.entity;
        let (run, _) = known.state.running().ok_or_else(|| Error::NotRunning(task.to_owned()))?;
        let place = known.place;
        self.change(task, signed, &format!("a kill of run {run} was requested"), |state, _, batch| {
            if state.running().is_none_or(|(number, _)| number != run) {
                return Err(Error::NotRunning(task.to_owned()));
            }
            batch.set(KILLS.key((SHARD, &*place, task, run as i64)), Vec::new());
            let mut killed = state.clone();
            killed.version += 1;
            Ok(killed)
        })
        .await?;
        Ok(run)
    }

    /// Reads task files and returns what would change; deploys them if `signed` is given.
    pub async fn apply(&self, files: Vec<File>, signed: Option<&Signed>) -> Result<Applied> {
        let new = Definitions::read(0, files.clone())?;
        let old = self.definitions().await?;
        let tasks = entity::load_all(&self.core.store).await?.tasks;
        let states = tasks.into_iter().map(|task| (task.name, task.state)).collect();
        let values = self.core.ctl.all().await?;
        let values = values.into_iter().map(|(parameter, current)| (parameter, current.value)).collect();
        let planned = deploy::plan(old.plans(), &states, new.plans(), &values, self.core.now());
        let difference = taskfile::difference(old.set(), new.set());
        let warnings = new.warnings();
        let deployment = match signed {
            Some(signed) => {
                Some(definitions::deploy(&self.core.store, &files, new.plans().len(), signed).await?)
            }
            None => None,
        };
        Ok(Applied { deployment, difference, planned, warnings })
    }

    async fn act(
        &self,
        task: &str,
        signed: &Signed,
        what: &str,
        action: impl Fn(&TaskState, &Plan) -> planner::Result<TaskState>,
    ) -> Result<()> {
        self.change(task, signed, what, |state, plan, _| Ok(action(state, plan)?)).await
    }

    async fn change(
        &self,
        task: &str,
        signed: &Signed,
        what: &str,
        change: impl Fn(&TaskState, &Plan, &mut Batch) -> Result<TaskState>,
    ) -> Result<()> {
        for _ in 0..ACTION_ATTEMPTS_MAX {
            let definitions = self.definitions().await?;
            let plan = definitions.plan(task).ok_or_else(|| planner::Error::NoTask(task.to_owned()))?;
            let before = self.get(task).await?.entity;
            let mut batch = Batch::new();
            let state = change(&before.state, plan, &mut batch)?;
            let after = TaskEntity { state, ..before.clone() };
            let version = self.core.watcher.save(&mut batch, Some(&found(before)), &after).await?;
            let event = TaskEvent {
                version,
                time: Some(messages::time(signed.at)).into(),
                author: signed.by.clone(),
                reason: signed.reason.clone(),
                what: vec![what.to_owned()],
                ..Default::default()
            };
            add_event(&mut batch, task, &event);
            batch.put(MARKS.key((SHARD, task)), version, Vec::new());
            if let Outcome::Applied = self.core.store.commit(batch).await? {
                return Ok(());
            }
        }
        Err(Error::Contended)
    }
}
