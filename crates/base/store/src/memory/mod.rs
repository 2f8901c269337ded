//! The memory engine: ordered, deterministic, gone when its last handle is dropped.
//!
//! It is the reference for the contract, the engine of quick tests and, wrapped in [`Faulty`], the
//! disk of simulations: stores that are opened on one [`Memory`] in turn see one set of data, as
//! after a restart.

mod faults;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;

use crate::batch::{BatchId, Write};
use crate::engine::{ApplyError, Engine, Read};
use crate::group::{Group, Verdict, add, decide};
use crate::key::Key;
use crate::limits::GROUPS_REMEMBERED;
use crate::row::Row;
use crate::scan::{Page, Scan};
use crate::table::{Kind, Schema};
use crate::{Error, Result};

pub use faults::{FaultCounts, Faults, Faulty};

/// Tables in memory. Cheap to clone; all clones share the data.
#[derive(Clone)]
pub struct Memory {
    schema: Arc<Schema>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Shared with snapshots; copied by the first write after a snapshot.
    rows: Arc<Rows>,
    remembered: VecDeque<Vec<BatchId>>,
}

type Rows = BTreeMap<Key, (u64, Bytes)>;

impl Memory {
    #[must_use]
    pub fn new(schema: Schema) -> Self {
        Self { schema: Arc::new(schema), state: Arc::default() }
    }
}

fn row_of(rows: &Rows, key: &Key) -> Option<Row> {
    let (version, value) = rows.get(key)?;
    Some(Row { key: key.clone(), version: *version, value: value.clone() })
}

fn page_of(rows: &Rows, scan: &Scan) -> Result<Page> {
    let (from, to) = scan.encoded_range();
    if to.as_ref().is_some_and(|to| *to <= from) || scan.limit == 0 {
        return Ok(Page::default());
    }
    let bound = |bytes: &[u8]| Key::from_encoded(scan.table, bytes);
    let in_table = rows.range(bound(&from)..).take_while(|(key, _)| key.table().name == scan.table.name);
    let within = in_table.take_while(|(key, _)| to.as_ref().is_none_or(|to| key.bytes() < &**to));
    let found = within.map(|(key, (version, value))| Row {
        key: key.clone(),
        version: *version,
        value: value.clone(),
    });
    if scan.descending {
        let found: Vec<Row> = found.collect();
        Page::gather(found.into_iter().rev().map(Ok), scan.limit)
    } else {
        Page::gather(found.map(Ok), scan.limit)
    }
}

#[async_trait]
impl Read for Memory {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>> {
        let state = self.state.lock();
        Ok(keys.iter().map(|key| row_of(&state.rows, key)).collect())
    }

    async fn scan(&self, scan: &Scan) -> Result<Page> {
        page_of(&self.state.lock().rows, scan)
    }
}

struct View(Arc<Rows>);

#[async_trait]
impl Read for View {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>> {
        Ok(keys.iter().map(|key| row_of(&self.0, key)).collect())
    }

    async fn scan(&self, scan: &Scan) -> Result<Page> {
        page_of(&self.0, scan)
    }
}

#[async_trait]
impl Engine for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    async fn snapshot(&self) -> Result<Box<dyn Read>> {
        Ok(Box::new(View(Arc::clone(&self.state.lock().rows))))
    }

    async fn apply(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError> {
        let mut state = self.state.lock();
        let decision = decide(group, |key| Ok(state.rows.get(key).map_or(0, |(version, _)| *version)))?;
        let mut sums = Vec::new();
        for (key, write) in &decision.writes {
            if let Write::Add(delta) = write {
                let amount = row_of(&state.rows, key).map_or(0, |row| row.amount());
                sums.push((key.clone(), add(key, amount, *delta)?));
            }
        }
        let rows = Arc::make_mut(&mut state.rows);
        for (key, write) in decision.writes {
            match write {
                Write::Put { version, value } => _ = rows.insert(key, (version, value)),
                Write::Delete => _ = rows.remove(&key),
                Write::Add(_) => {}
            }
        }
        for (key, sum) in sums {
            let row = Row::counter(key, sum);
            rows.insert(row.key, (0, row.value));
        }
        let applied =
            group.ids().zip(&decision.verdicts).filter(|(_, verdict)| **verdict == Verdict::Applied);
        state.remembered.push_back(applied.map(|(id, _)| id).collect());
        if state.remembered.len() as u64 > GROUPS_REMEMBERED {
            state.remembered.pop_front();
        }
        Ok(decision.verdicts)
    }

    async fn resolve(&self, group: &Group) -> Result<bool> {
        let state = self.state.lock();
        Ok(group.ids().any(|id| state.remembered.iter().rev().any(|ids| ids.contains(&id))))
    }

    async fn applied(&self, batch: BatchId) -> Result<bool> {
        Ok(self.state.lock().remembered.iter().rev().any(|ids| ids.contains(&batch)))
    }

    async fn approximate_rows(&self) -> Result<u64> {
        Ok(self.state.lock().rows.len() as u64)
    }

    async fn verify(&self, found: &mut (dyn FnMut(Error) + Send)) -> Result<BTreeMap<&'static str, u64>> {
        let mut counts: BTreeMap<_, _> = self.schema.tables().iter().map(|t| (t.name, 0)).collect();
        let rows = Arc::clone(&self.state.lock().rows);
        for (key, (_, value)) in &*rows {
            if key.table().kind == Kind::Counter && value.len() != 8 {
                found(Error::Corrupt {
                    place: key.to_string(),
                    detail: "a counter must have eight bytes".to_owned(),
                });
            }
            *counts.entry(key.table().name).or_default() += 1;
        }
        Ok(counts)
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}
