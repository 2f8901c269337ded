//! Reads of values and their history.

use std::collections::BTreeMap;

use jiff::Timestamp;
use store::limits::GET_KEYS_MAX;
use store::{Key, Read as _, Row};
use triggers::{Parameter, Value};

use super::Ctl;
use super::error::Result;
use super::name::{Name, Prefix};
use super::rows::StoredValue;
use super::tables::{HISTORY, VALUES};
use crate::limits::PAGE_MAX;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Current {
    pub value: Value,
    /// Grows by one with every change.
    pub version: u64,
    pub author: String,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    pub version: u64,
    pub author: String,
    pub at: Timestamp,
    pub before: Option<Value>,
    /// `None`: it was deleted.
    pub after: Option<Value>,
    pub moved_back: bool,
    /// May be empty.
    pub reason: String,
}

fn current(row: &Row) -> Result<Option<Current>> {
    let StoredValue { value, author, at, .. } = StoredValue::read(row)?;
    Ok(value.map(|value| Current { value, version: row.version, author, at }))
}

impl Ctl {
    /// `None` if it was never set, or was deleted.
    pub async fn get(&self, parameter: &Parameter) -> Result<Option<Current>> {
        let name = Name::of(parameter)?;
        let row = self.store.get_one(&name.keys(self.settings.shards).value()).await?;
        row.map_or(Ok(None), |row| current(&row))
    }

    pub async fn get_many(&self, parameters: &[Parameter]) -> Result<Vec<Option<Current>>> {
        let names = parameters.iter().map(Name::of).collect::<Result<Vec<_>>>()?;
        let keys: Vec<Key> = names.iter().map(|name| name.keys(self.settings.shards).value()).collect();
        let mut values = Vec::with_capacity(keys.len());
        for portion in keys.chunks(GET_KEYS_MAX) {
            for row in self.store.get(portion).await? {
                values.push(row.map_or(Ok(None), |row| current(&row))?);
            }
        }
        Ok(values)
    }

    /// All values, for a cache. A concurrent change is in it or not: [`Ctl::changed`] lists it
    /// later.
    pub async fn all(&self) -> Result<BTreeMap<Parameter, Current>> {
        let mut values = BTreeMap::new();
        let mut scan = VALUES.scan();
        loop {
            let page = self.store.scan(&scan).await?;
            for row in &page.rows {
                if let Some(current) = current(row)? {
                    values.insert(name_of(row)?.to_parameter(), current);
                }
            }
            let Some(next) = page.next else { return Ok(values) };
            scan = VALUES.scan().after(next);
        }
    }

    /// Values after `after`, sorted by namespace, entity and name. A response shorter than `limit`
    /// (and than [`PAGE_MAX`]) is the last one.
    pub async fn list(
        &self,
        prefix: &Prefix,
        after: Option<&Parameter>,
        limit: usize,
    ) -> Result<Vec<(Parameter, Current)>> {
        let after = after.map(Name::of).transpose()?;
        let limit = limit.min(PAGE_MAX);
        let mut found = BTreeMap::new();
        for shard in 0..self.settings.shards {
            self.list_shard(shard, prefix, after.as_ref(), limit, &mut found).await?;
        }
        Ok(found.into_iter().map(|(name, current)| (name.to_parameter(), current)).collect())
    }

    /// Adds the values of a shard that are among the first `limit` of all.
    async fn list_shard(
        &self,
        shard: u32,
        prefix: &Prefix,
        after: Option<&Name>,
        limit: usize,
        found: &mut BTreeMap<Name, Current>,
    ) -> Result<()> {
        let mut scan = VALUES.prefix((shard,));
        if let Some(namespace) = &prefix.namespace {
            scan = VALUES.prefix((shard, namespace.as_str())).from(VALUES.bound((
                shard,
                namespace.as_str(),
                prefix.entity.as_str(),
            )));
        }
        if let Some(Name { namespace, entity, parameter }) = after {
            scan = scan.after(VALUES.key((shard, namespace.as_str(), entity.as_str(), parameter.as_str())));
        }
        scan = scan.limit(limit);
        loop {
            let page = self.store.scan(&scan).await?;
            for row in &page.rows {
                let name = name_of(row)?;
                let too_late =
                    found.len() >= limit && found.last_key_value().is_none_or(|(last, _)| *last < name);
                if !prefix.holds(&name) || too_late {
                    return Ok(());
                }
                if let Some(current) = current(row)? {
                    found.insert(name, current);
                    if found.len() > limit {
                        found.pop_last();
                    }
                }
            }
            let Some(next) = page.next else { return Ok(()) };
            scan = scan.after(next);
        }
    }

    /// The changes of a parameter before the version `before`, newest first, also of a deleted
    /// value.
    pub async fn history(
        &self,
        parameter: &Parameter,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<HistoryEntry>> {
        let name = Name::of(parameter)?;
        let keys = name.keys(self.settings.shards);
        let Name { namespace, entity, parameter } = &name;
        let limit = limit.min(PAGE_MAX);
        let of_it = (keys.shard, namespace.as_str(), entity.as_str(), parameter.as_str());
        let mut scan = HISTORY.prefix(of_it).descending().limit(limit);
        if let Some(before) = before.filter(|before| i64::try_from(*before).is_ok()) {
            scan = scan.after(keys.change(before));
        }
        let mut changes = Vec::new();
        while changes.len() < limit {
            let page = self.store.scan(&scan).await?;
            for row in page.rows.iter().take(limit - changes.len()) {
                changes.push(HistoryEntry::read(row)?);
            }
            let Some(next) = page.next else { break };
            scan = scan.after(next);
        }
        Ok(changes)
    }
}

fn name_of(row: &Row) -> Result<Name> {
    Ok(Name::from_columns(VALUES.parts(&row.key)?))
}
