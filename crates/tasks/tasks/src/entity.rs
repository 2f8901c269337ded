//! A task as an entity of the watcher.

use std::collections::BTreeSet;

use buffa::Message as _;
use bytes::Bytes;
use planner::{TaskName, TaskState};
use store::{Key, KeyValue, Read as _, Scan, Store};
use watcher::{Entity, Fields, Versioned};
use wire::torg::tasks::v1::{Task, TaskAlert};

use crate::error::{Error, Result};
use crate::rows::{read_state, state_message};
use crate::tables::SHARD;

/// A stored task. The version of its state is the version of its row.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskEntity {
    pub name: TaskName,
    /// Where it stands.
    pub state: TaskState,
    /// Where the current run is; empty if there is none.
    pub place: String,
    pub alerts: Vec<TaskAlert>,
}

impl TaskEntity {
    /// As the store and the topic have it.
    #[must_use]
    pub fn to_message(&self) -> Task {
        Task {
            name: self.name.to_string(),
            state: Some(state_message(&self.state)).into(),
            place: self.place.clone(),
            alerts: self.alerts.clone(),
            ..Default::default()
        }
    }

    pub(crate) fn last_alert(&self) -> u64 {
        self.alerts.last().map_or(0, |alert| alert.number)
    }
}

impl Entity for TaskEntity {
    type Id = String;

    const KIND: &'static str = "task";

    fn id(&self) -> String {
        self.name.to_string()
    }

    fn encode(&self) -> Bytes {
        self.to_message().encode_to_vec().into()
    }

    fn decode(bytes: &Bytes) -> Result<Self, String> {
        let task = Task::decode_from_slice(bytes).map_err(|error| error.to_string())?;
        let state = task.state.as_option().ok_or("it has no state")?;
        Ok(Self {
            name: task.name.as_str().into(),
            state: read_state(state, 0)?,
            place: task.place,
            alerts: task.alerts,
        })
    }

    fn changed_fields(before: &Self, after: &Self) -> Fields {
        let mut fields = Fields::none();
        if before.state != after.state {
            fields.extend(["state"]);
        }
        if before.place != after.place {
            fields.extend(["place"]);
        }
        if before.alerts != after.alerts {
            fields.extend(["alerts"]);
        }
        fields
    }

    fn take_fields(&mut self, fields: &Fields, from: &Self) {
        if fields.covers("state") {
            self.state = from.state.clone();
        }
        if fields.covers("place") {
            self.place.clone_from(&from.place);
        }
        if fields.covers("alerts") {
            self.alerts.clone_from(&from.alerts);
        }
    }
}

/// The task of this name, with the version of its row in its state.
pub(crate) async fn load(store: &Store, name: &str) -> Result<Option<TaskEntity>> {
    let row = store.get_one(&TaskEntity::key(SHARD, &name.to_owned())).await?;
    row.map(|row| read(&row)).transpose()
}

#[derive(Debug, Default)]
pub(crate) struct All {
    pub(crate) tasks: Vec<TaskEntity>,
    /// The names of tasks with unreadable rows. They block no other task.
    pub(crate) damaged: BTreeSet<String>,
}

/// Reads all tasks that ever existed.
pub(crate) async fn load_all(store: &Store) -> Result<All> {
    let (mut scan, mut all) = (TaskEntity::scan(SHARD), All::default());
    loop {
        let page = store.scan(&scan).await?;
        for row in &page.rows {
            match read_or_log(row) {
                Ok(task) => all.tasks.push(task),
                Err(_) => {
                    all.damaged.insert(name_in(&row.key)?);
                }
            }
        }
        let Some(next) = page.next else { return Ok(all) };
        scan = scan.after(next);
    }
}

/// A scan by name, from this name on.
pub(crate) fn from(name: &str) -> Result<Scan> {
    let first = TaskEntity::key(SHARD, &name.to_owned()).values()?;
    Ok(TaskEntity::scan(SHARD).from(first))
}

pub(crate) fn name_in(key: &Key) -> Result<String> {
    match key.values()?.pop() {
        Some(KeyValue::Text(name)) => Ok(name),
        _ => Err(Error::Damaged { place: key.to_string(), detail: "it names no task".to_owned() }),
    }
}

/// The task of a row; logs an unreadable one.
pub(crate) fn read_or_log(row: &store::Row) -> Result<TaskEntity> {
    read(row).inspect_err(|error| tracing::error!(%error, "a task cannot be read and does not run: repair its row, or remove it"))
}

pub(crate) fn read(row: &store::Row) -> Result<TaskEntity> {
    let decoded = TaskEntity::decode(&row.value);
    let mut task = decoded.map_err(|detail| Error::Damaged { place: row.key.to_string(), detail })?;
    task.state.version = row.version;
    Ok(task)
}

/// The task before a change, for the watcher.
pub(crate) fn found(entity: TaskEntity) -> Versioned<TaskEntity> {
    let version = entity.state.version;
    Versioned::known(entity, version)
}
