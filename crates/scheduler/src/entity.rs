//! A task as an entity of the watcher.

use std::collections::BTreeSet;

use buffa::Message as _;
use bytes::Bytes;
use contract::torg::tasks::v1::{Task, TaskAlert};
use reactive::board::{TaskName, TaskState};
use store::{KeyValue, Read as _, Store};
use watcher::{Entity, Fields, Found};

use crate::error::{Error, Result};
use crate::rows::{read_state, state_message};
use crate::tables::SHARD;

/// What is kept of a task. The version of its state is the version of its row.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskEntity {
    /// Its name.
    pub name: TaskName,
    /// Where it stands.
    pub state: TaskState,
    /// Where the run is that is under way; empty if there is none.
    pub place: String,
    /// The last alerts.
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

    /// The number of its last alert.
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

/// All tasks that ever were.
#[derive(Debug, Default)]
pub(crate) struct All {
    pub(crate) tasks: Vec<TaskEntity>,
    /// The names of those whose rows cannot be read. They hold up nobody else.
    pub(crate) damaged: BTreeSet<String>,
}

/// Reads all tasks that ever were.
pub(crate) async fn load_all(store: &Store) -> Result<All> {
    let (mut scan, mut all) = (TaskEntity::scan(SHARD), All::default());
    loop {
        let page = store.scan(&scan).await?;
        for row in &page.rows {
            match read(row) {
                Ok(task) => all.tasks.push(task),
                Err(error) => {
                    tracing::error!(%error, "a task does not run: mend its row, or remove it");
                    if let Some(KeyValue::Text(name)) = row.key.values()?.pop() {
                        all.damaged.insert(name);
                    }
                }
            }
        }
        let Some(next) = page.next else { return Ok(all) };
        scan = scan.after(next);
    }
}

pub(crate) fn read(row: &store::Row) -> Result<TaskEntity> {
    let decoded = TaskEntity::decode(&row.value);
    let mut task = decoded.map_err(|detail| Error::Damaged { place: row.key.to_string(), detail })?;
    task.state.version = row.version;
    Ok(task)
}

/// What was stored before a change, for the watcher.
pub(crate) fn found(entity: TaskEntity) -> Found<TaskEntity> {
    let version = entity.state.version;
    Found::known(entity, version)
}
