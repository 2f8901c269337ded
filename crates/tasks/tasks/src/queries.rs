//! Queries.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use planner::{Explanation, Planner, TaskName, TaskState, Unhealthy};
use runs::LogChunk;
use store::{Read as _, Row, Scan};
use taskfile::Task;
use wire::torg::tasks::v1::{Deployment, TaskEvent, TaskRun};

use crate::definitions::{self, Definitions, File};
use crate::entity::{self, TaskEntity};
use crate::error::{Error, Result};
use crate::executor::ExecuteError;
use crate::limits::PAGE_MAX;
use crate::rows::decode;
use crate::service::Tasks;
use crate::tables::{EVENTS, RUNS, SHARD};

#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only names with this prefix.
    pub prefix: String,
    /// Only names after this one.
    pub after: Option<String>,
    pub limit: usize,
}

#[derive(Clone, Debug)]
pub struct Listed {
    /// Of a task that no leader has loaded yet: as if it were new.
    pub entity: TaskEntity,
    pub definition: Option<Arc<Task>>,
    /// By an operator or by its definition.
    pub paused: bool,
    /// Whether enough attempts have failed for it to count as failing.
    pub failing: bool,
}

impl Tasks {
    /// Tasks by name for which `wanted` is true. Reads no more rows than needed.
    pub async fn list(&self, filter: &Filter, wanted: impl Fn(&Listed) -> bool) -> Result<Vec<Listed>> {
        let definitions = self.definitions().await?;
        let now = self.core.now();
        let limit = filter.limit.clamp(1, PAGE_MAX);
        let after = filter.after.as_deref().unwrap_or_default();
        let is_before = |name: &str| name < &*filter.prefix || !after.is_empty() && name <= after;
        let first = after.max(&filter.prefix);
        let mut scan = entity::from(first)?.limit(limit);
        let plans = definitions.plans();
        let mut plans = &plans[plans.partition_point(|plan| is_before(&plan.name))..];
        let mut listed = Vec::new();
        loop {
            let page = self.core.store.scan(&scan).await?;
            let rows = page.rows.iter().filter_map(|row| entity::read_or_log(row).ok());
            let mut known: BTreeMap<TaskName, TaskEntity> =
                rows.map(|task| (task.name.clone(), task)).collect();
            // Tasks that no leader has loaded yet are between the rows.
            let last = page.next.as_ref().map(entity::name_in).transpose()?;
            let count =
                last.as_ref().map_or(plans.len(), |last| plans.partition_point(|plan| *plan.name <= **last));
            let (new, rest) = plans.split_at(count);
            plans = rest;
            for plan in new {
                known.entry(plan.name.clone()).or_insert_with(|| TaskEntity {
                    name: plan.name.clone(),
                    state: TaskState::new(now),
                    place: String::new(),
                    alerts: Vec::new(),
                });
            }
            let named = known.into_values().filter(|task| !is_before(&task.name));
            for task in named.take_while(|task| task.name.starts_with(&filter.prefix)) {
                let task = listed_of(task, &definitions);
                if wanted(&task) {
                    listed.push(task);
                }
                if listed.len() == limit {
                    return Ok(listed);
                }
            }
            let is_over = last.is_none_or(|last| *last > *filter.prefix && !last.starts_with(&filter.prefix));
            match page.next {
                Some(next) if !is_over => scan = scan.after(next),
                _ => return Ok(listed),
            }
        }
    }

    /// Tasks with problems, at most `limit` of a kind. The leader knows them; another process reads
    /// all tasks.
    pub async fn unhealthy(&self, limit: usize) -> Result<Unhealthy> {
        if let Some(leader) = &*self.core.leader() {
            return Ok(leader.planner.unhealthy(limit));
        }
        let is_unhealthy = |task: &Listed| {
            let state = &task.entity.state;
            let has_problem = task.failing || state.silent_since.is_some() || !state.regressed.is_empty();
            task.definition.is_some() && has_problem
        };
        let filter = Filter { limit: PAGE_MAX, ..Filter::default() };
        let mut unhealthy = Unhealthy::default();
        for task in self.list(&filter, is_unhealthy).await? {
            unhealthy.note(&task.entity.name, &task.entity.state, task.failing, limit);
        }
        Ok(unhealthy)
    }

    /// Whether a process is the leader, or there are no tasks.
    pub async fn has_leader(&self) -> Result<bool> {
        if self.is_leader() || self.definitions().await?.plans().is_empty() {
            return Ok(true);
        }
        let cluster = self.watcher().cluster().await?;
        let holder = cluster.holders.get(&SHARD).map(|holder| &holder.owner);
        Ok(holder.is_some_and(|owner| cluster.processes.contains_key(owner)))
    }

    pub async fn get(&self, task: &str) -> Result<Listed> {
        let definitions = self.definitions().await?;
        let known = entity::load(&self.core.store, task).await?;
        match known {
            Some(known) => Ok(listed_of(known, &definitions)),
            None if definitions.task(task).is_some() => Err(Error::NotLoaded(task.to_owned())),
            None => Err(planner::Error::NoTask(task.to_owned()).into()),
        }
    }

    /// The deployed tasks: those of the leader's planner, or of the store.
    pub async fn definitions(&self) -> Result<Definitions> {
        if let Some(leader) = &*self.core.leader() {
            return Ok(leader.definitions.clone());
        }
        self.core.definitions().await
    }

    pub async fn explain(&self, task: &str) -> Result<Explanation> {
        let now = self.core.now();
        Ok(self.with_planner(|planner| planner.explain(task, now)).await??)
    }

    /// Queries the leader's planner, or one that is built from the store.
    pub async fn with_planner<R>(&self, f: impl FnOnce(&Planner) -> R) -> Result<R> {
        if let Some(leader) = &*self.core.leader() {
            return Ok(f(&leader.planner));
        }
        let (leader, _) = self.core.load().await?;
        Ok(f(&leader.planner))
    }

    /// The history of a task, newest first, before a version if given.
    pub async fn events(&self, task: &str, before: Option<u64>, limit: usize) -> Result<Vec<TaskEvent>> {
        let mut scan = EVENTS.prefix((SHARD, task)).descending().limit(limit.clamp(1, PAGE_MAX));
        if let Some(before) = before {
            scan = scan.below(EVENTS.bound((SHARD, task, before as i64)));
        }
        self.rows(task, &scan).await?.iter().map(decode).collect()
    }

    /// The runs of a task, newest first, before a number if given.
    pub async fn runs(&self, task: &str, before: Option<u64>, limit: usize) -> Result<Vec<TaskRun>> {
        let mut scan = RUNS.prefix((SHARD, task)).descending().limit(limit.clamp(1, PAGE_MAX));
        if let Some(before) = before {
            scan = scan.below(RUNS.bound((SHARD, task, before as i64)));
        }
        self.rows(task, &scan).await?.iter().map(decode).collect()
    }

    async fn rows(&self, task: &str, scan: &Scan) -> Result<Vec<Row>> {
        let page = self.core.store.scan(scan).await?;
        if page.rows.is_empty() {
            // An empty result differs from a wrong name.
            self.get(task).await?;
        }
        Ok(page.rows)
    }

    /// A part of the log of a run, by default of the last one; with the run.
    pub async fn log(
        &self,
        task: &str,
        run: Option<u64>,
        offset: u64,
        bytes_max: usize,
    ) -> Result<(TaskRun, LogChunk)> {
        let found = match run {
            Some(run) => {
                let row = self.core.store.get_one(&RUNS.key((SHARD, task, run as i64))).await?;
                row.map(|row| decode(&row)).transpose()?
            }
            None => self.runs(task, None, 1).await?.pop(),
        };
        let no_run = || Error::NoRun { task: task.to_owned(), run: run.unwrap_or_default() };
        let found: TaskRun = found.ok_or_else(no_run)?;
        if found.place != self.core.place {
            let (place, here) = (found.place.clone(), self.core.place.clone());
            return Err(Error::Elsewhere { task: task.to_owned(), run: found.number, place, here });
        }
        let id = found.id.parse().map_err(|error: runs::Error| Error::Runs(error.to_string()))?;
        match self.core.executor.log(&id, offset, bytes_max).await {
            Ok(piece) => Ok((found, piece)),
            Err(ExecuteError::NotStarted(_)) => {
                Ok((found, LogChunk { left_out: 0, offset: 0, bytes: Vec::new(), total: 0 }))
            }
            Err(error) => Err(Error::Runs(error.to_string())),
        }
    }

    /// The newest deployment and its files; `None` if there was none.
    pub async fn files(&self) -> Result<Option<(Deployment, Vec<File>)>> {
        let Some(deployment) = definitions::newest(&self.core.store).await? else { return Ok(None) };
        let files = definitions::files_of(&self.core.store, &deployment).await?;
        Ok(Some((deployment, files)))
    }

    pub async fn deployments(&self, limit: usize) -> Result<Vec<Deployment>> {
        definitions::history(&self.core.store, limit.clamp(1, PAGE_MAX)).await
    }

    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.core.now()
    }
}

fn listed_of(entity: TaskEntity, definitions: &Definitions) -> Listed {
    let plan = definitions.plan(&entity.name);
    let state = &entity.state;
    Listed {
        definition: definitions.task(&entity.name).cloned(),
        paused: state.paused.is_some() || plan.is_some_and(|plan| plan.paused && !state.resumed),
        failing: plan.is_some_and(|plan| state.attempts >= plan.retry.failing_after.max(1)),
        entity,
    }
}
