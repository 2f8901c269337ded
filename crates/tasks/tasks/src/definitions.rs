//! Deployed task files: in the store, so that all processes have the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use buffa::Message as _;
use ctl::messages;
use jiff::Timestamp;
use planner::plans::{plans_of, refused_parameters};
use planner::{Change, Limits, Plan, Signed};
use store::{Batch, Outcome, Read as _, Scan, Store};
use taskfile::{Task, TaskSet};
use wire::torg::tasks::v1::{Deployment, deployment::DeployedFile};

use crate::error::{Error, Result};
use crate::limits::{DEPLOYMENTS_KEPT, PIECE_BYTES, TASK_NAME_BYTES_MAX};
use crate::rows::decode;
use crate::tables::{DEPLOYMENTS, FILES, SHARD};

/// The key of the newest deployment.
const NEWEST: i64 = 0;
/// The version of a deployment whose files are being written.
const CLAIMED: u64 = 1;
/// The version of a complete deployment.
const DONE: u64 = 2;
const BATCH_BYTES: usize = 4 << 20;

/// A task file: its name for messages, and its text.
pub type File = (String, String);

#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// The number of the deployment; zero if there was none.
    pub number: u64,
    /// Why this program cannot read the files of this deployment; the tasks are then the previous
    /// ones, or none.
    pub problem: Option<String>,
    set: Arc<TaskSet>,
    plans: Arc<[Plan]>,
}

impl Definitions {
    /// Reads files: all of their tasks, or everything that is wrong with them.
    pub fn read(number: u64, files: Vec<File>) -> Result<Self> {
        let set = TaskSet::read(files).map_err(Error::Files)?;
        for task in set.tasks() {
            if task.name.as_str().len() > TASK_NAME_BYTES_MAX {
                return Err(Error::long_name(task.name.as_str()));
            }
            if let Some(error) = refused_parameters(task).next() {
                let what = format!("{} ({})", error, task.origin);
                return Err(Error::Definition { task: task.name.to_string(), what });
            }
        }
        let plans = plans_of(&set).into();
        Ok(Self { number, problem: None, set: Arc::new(set), plans })
    }

    #[must_use]
    pub fn set(&self) -> &TaskSet {
        &self.set
    }

    #[must_use]
    pub fn task(&self, name: &str) -> Option<&Arc<Task>> {
        self.set.get(name)
    }

    /// For the planner, by name.
    #[must_use]
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }

    #[must_use]
    pub fn plan(&self, name: &str) -> Option<&Plan> {
        let found = self.plans.binary_search_by(|plan| (*plan.name).cmp(name));
        found.ok().map(|at| &self.plans[at])
    }

    #[must_use]
    pub fn limits(&self) -> &Limits {
        self.set.limits()
    }

    /// What is allowed and perhaps not meant, as a compiler would print it.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.set.warnings().iter().map(ToString::to_string).collect()
    }

    /// These instead of others; the others stay if these cannot be read.
    #[must_use]
    pub(crate) fn in_place_of(self, old: &Self) -> Self {
        if self.problem.is_none() {
            self
        } else {
            Self { number: self.number, problem: self.problem, ..old.clone() }
        }
    }

    /// The changes for a planner when these replace others.
    #[must_use]
    pub fn changes_from(&self, old: &Self) -> Vec<Change> {
        let gone = old.plans.iter().filter(|plan| self.plan(&plan.name).is_none());
        let gone = gone.map(|plan| Change::Gone(plan.name.clone()));
        let put = self.plans.iter().filter(|plan| old.plan(&plan.name) != Some(plan));
        gone.chain(put.map(|plan| Change::Put(Box::new(plan.clone())))).collect()
    }
}

pub(crate) async fn newest(store: &Store) -> Result<Option<Deployment>> {
    let row = store.get_one(&DEPLOYMENTS.key((SHARD, NEWEST))).await?;
    row.map(|row| decode(&row)).transpose()
}

pub(crate) async fn files_of(store: &Store, deployment: &Deployment) -> Result<Vec<File>> {
    let mut pieces: BTreeMap<i64, Vec<u8>> = BTreeMap::new();
    let mut scan = FILES.prefix((SHARD, deployment.number as i64));
    loop {
        let page = store.scan(&scan).await?;
        for row in &page.rows {
            let (.., file, _) = FILES.parts(&row.key)?;
            pieces.entry(file).or_default().extend_from_slice(&row.value);
        }
        let Some(next) = page.next else { break };
        scan = scan.after(next);
    }
    let mut files = Vec::with_capacity(deployment.files.len());
    for (at, file) in (0..).zip(&deployment.files) {
        let bytes = pieces.remove(&at).unwrap_or_default();
        let text = String::from_utf8(bytes).ok().filter(|text| text.len() as u64 == file.bytes);
        let damaged = || Error::Damaged {
            place: format!("the file {:?} of deployment {}", file.name, deployment.number),
            detail: "it is not as long as it was, or no UTF-8".to_owned(),
        };
        files.push((file.name.clone(), text.ok_or_else(damaged)?));
    }
    Ok(files)
}

pub(crate) async fn current(store: &Store) -> Result<Definitions> {
    loop {
        let Some(deployment) = newest(store).await? else { return Ok(Definitions::default()) };
        let files = files_of(store, &deployment).await;
        // Another deployment may have come, and removed the files of this one.
        if newest(store).await?.map(|newest| newest.number) == Some(deployment.number) {
            return match Definitions::read(deployment.number, files?) {
                Err(error @ (Error::Files(_) | Error::Definition { .. })) => {
                    tracing::error!(deployment = deployment.number, %error, "cannot read the deployed task files: another version of this program deployed them");
                    let problem = Some(error.to_string());
                    Ok(Definitions { number: deployment.number, problem, ..Definitions::default() })
                }
                read => read,
            };
        }
    }
}

/// Deploys files that were read without an error. The files are written before the deployment
/// becomes visible.
pub(crate) async fn deploy(
    store: &Store,
    files: &[File],
    tasks: usize,
    signed: &Signed,
) -> Result<Deployment> {
    let deployed = |(name, text): &File| DeployedFile {
        name: name.clone(),
        bytes: text.len() as u64,
        pieces: text.len().div_ceil(PIECE_BYTES) as u32,
        ..Default::default()
    };
    let mut deployment = Deployment {
        author: signed.by.clone(),
        reason: signed.reason.clone(),
        time: Some(messages::time(signed.at)).into(),
        files: files.iter().map(deployed).collect(),
        tasks: tasks as u32,
        ..Default::default()
    };
    claim(store, &mut deployment).await?;
    write_files(store, deployment.number, files).await?;
    let (key, value) = (DEPLOYMENTS.key((SHARD, NEWEST)), deployment.encode_to_vec());
    loop {
        let version = store.get_one(&key).await?.map_or(0, |row| row.version);
        let mut batch = Batch::new();
        batch.check(key.clone(), version).put(key.clone(), version + 1, value.clone());
        batch.put(DEPLOYMENTS.key((SHARD, deployment.number as i64)), DONE, value.clone());
        if let Outcome::Applied = store.commit(batch).await? {
            break;
        }
    }
    if let Some(old) = deployment.number.checked_sub(DEPLOYMENTS_KEPT).filter(|old| *old > 0) {
        clear(store, old).await?;
    }
    Ok(deployment)
}

/// Reserves the next number.
async fn claim(store: &Store, deployment: &mut Deployment) -> Result<()> {
    loop {
        let last = store.scan(&numbered().descending().limit(1)).await?;
        let last = last.rows.first().map(|row| DEPLOYMENTS.parts(&row.key)).transpose()?;
        deployment.number = last.map_or(0, |(_, number)| number as u64) + 1;
        let key = DEPLOYMENTS.key((SHARD, deployment.number as i64));
        let mut batch = Batch::new();
        batch.check_absent(key.clone()).put(key, CLAIMED, deployment.encode_to_vec());
        if let Outcome::Applied = store.commit(batch).await? {
            return Ok(());
        }
    }
}

fn numbered() -> Scan {
    DEPLOYMENTS.prefix((SHARD,)).above(DEPLOYMENTS.bound((SHARD, NEWEST)))
}

pub(crate) async fn history(store: &Store, limit: usize) -> Result<Vec<Deployment>> {
    let page = store.scan(&numbered().descending().limit(limit)).await?;
    page.rows.iter().filter(|row| row.version >= DONE).map(decode).collect()
}

async fn write_files(store: &Store, deployment: u64, files: &[File]) -> Result<()> {
    let mut batch = Batch::new();
    for (file, (_, text)) in (0..).zip(files) {
        for (piece, bytes) in (0..).zip(text.as_bytes().chunks(PIECE_BYTES)) {
            batch.set(FILES.key((SHARD, deployment as i64, file, piece)), bytes.to_vec());
            if batch.bytes() > BATCH_BYTES {
                let _: Outcome = store.commit(std::mem::take(&mut batch)).await?;
            }
        }
    }
    if !batch.is_empty() {
        let _: Outcome = store.commit(batch).await?;
    }
    Ok(())
}

async fn clear(store: &Store, deployment: u64) -> Result<()> {
    let scan = FILES.prefix((SHARD, deployment as i64)).limit(1000);
    loop {
        let page = store.scan(&scan).await?;
        let mut batch = Batch::new();
        for row in page.rows {
            batch.delete(row.key);
        }
        if batch.is_empty() {
            return Ok(());
        }
        let _: Outcome = store.commit(batch).await?;
    }
}

#[must_use]
pub fn deployed_at(deployment: &Deployment) -> Option<Timestamp> {
    deployment.time.as_option().and_then(|time| messages::read_time(time).ok())
}
