//! What a batch writes, as far as it matters.

use std::collections::{BTreeMap, BTreeSet};

use buffa::Message;
use store::{Batch, Key, KeyValue, Write};
use wire::torg::tasks::v1 as proto;

use crate::simulation::tasks::{Known, known};
use crate::simulation::world::RunKey;

#[derive(Default)]
pub(crate) struct Written {
    /// Rows of tasks by name, with their versions.
    pub(crate) tasks: BTreeMap<String, (u64, proto::Task)>,
    /// Tasks that a person has changed.
    pub(crate) by_people: BTreeSet<String>,
    pub(crate) runs: BTreeMap<RunKey, proto::TaskRun>,
    pub(crate) old_runs: Vec<RunKey>,
    /// Values by parameter, with their versions.
    pub(crate) values: BTreeMap<String, (u64, Option<Known>)>,
    /// Marks of values that are forgotten.
    pub(crate) forgotten: Vec<String>,
    /// Whether marks of tasks, or ends that were told, are forgotten.
    pub(crate) heard: bool,
    /// Ends that are told.
    pub(crate) reported: Vec<(RunKey, proto::TaskRunEnd)>,
    /// Wishes to kill a run that are forgotten.
    pub(crate) obeyed: Vec<RunKey>,
    pub(crate) leader: Option<String>,
    pub(crate) deployment: Option<proto::Deployment>,
    pub(crate) files: BTreeMap<u64, String>,
}

/// The columns of a key behind its shard.
fn columns(key: &Key) -> Vec<String> {
    let text = |value: KeyValue| match value {
        KeyValue::Text(text) => text,
        KeyValue::I64(number) => number.to_string(),
        other => panic!("{key}: {other:?}"),
    };
    key.values().unwrap().into_iter().skip(1).map(text).collect()
}

fn parameter(key: &Key) -> String {
    let columns = columns(key);
    assert_eq!(columns[0], "default", "{key}");
    format!("{}.{}", columns[1], columns[2])
}

fn run_of(key: &Key) -> RunKey {
    let columns = columns(key);
    (columns[0].clone(), columns[1].parse().unwrap())
}

fn read<M: Message + Default>(value: &[u8]) -> M {
    M::decode_from_slice(value).unwrap()
}

impl Written {
    pub(crate) fn of(batch: &Batch) -> Self {
        let mut written = Self::default();
        for (key, write) in batch.writes() {
            match write {
                Write::Put { version, value } => written.put(key, *version, value),
                Write::Delete => written.delete(key),
                Write::Add(_) => {}
            }
        }
        written
    }

    fn put(&mut self, key: &Key, version: u64, value: &[u8]) {
        match key.table().name {
            "watcher_entities" => {
                self.tasks.insert(columns(key)[1].clone(), (version, read(value)));
            }
            "task_events" if !read::<proto::TaskEvent>(value).author.is_empty() => {
                self.by_people.insert(columns(key)[0].clone());
            }
            "task_runs" => _ = self.runs.insert(run_of(key), read(value)),
            "task_run_ends" => self.reported.push((run_of(key), read(value))),
            "ctl_values" => {
                let value = read::<proto::CtlValue>(value).value.as_option().and_then(known);
                self.values.insert(parameter(key), (version, value));
            }
            "watcher_leases" => {
                self.leader = Some(read::<watcher::insight::Lease>(value).owner);
            }
            "task_deployments" if columns(key)[0] == "0" => self.deployment = Some(read(value)),
            "task_files" => {
                let number = columns(key)[0].parse().unwrap();
                self.files.insert(number, String::from_utf8(value.to_vec()).unwrap());
            }
            _ => {}
        }
    }

    fn delete(&mut self, key: &Key) {
        match key.table().name {
            "watcher_entities" => panic!("{key} is deleted"),
            "task_runs" => self.old_runs.push(run_of(key)),
            "ctl_changed" => self.forgotten.push(parameter(key)),
            "task_run_kills" => {
                let columns = columns(key);
                self.obeyed.push((columns[1].clone(), columns[2].parse().unwrap()));
            }
            "task_marks" | "task_run_ends" => self.heard = true,
            _ => {}
        }
    }
}
