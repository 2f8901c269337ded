//! Verification of every row in every keyspace.

use std::collections::BTreeMap;

use fjall::Readable;

use super::Database;
use super::errors::{engine_error, guarded};
use super::layout::{checked, leading_u64, split_stored_key};
use crate::{Error, Result};

/// A keyspace with more damages is not read to its end.
const DAMAGES_MAX: usize = 1000;

impl Database {
    /// The number of rows by table, and every damage.
    pub(super) fn verify(&self) -> (BTreeMap<&'static str, u64>, Vec<Error>) {
        let mut counts: BTreeMap<_, _> = self.homes.iter().map(|home| (home.table.name, 0)).collect();
        let mut damages = Vec::new();
        let snapshot = self.engine.snapshot();
        for (name, keyspace) in [
            ("small", &self.keyspaces.small),
            ("large", &self.keyspaces.large),
            ("queue", &self.keyspaces.queue),
        ] {
            let place = || format!("{}, keyspace {name}", self.place());
            let before = damages.len();
            let walk = guarded(place, || {
                for guard in snapshot.iter(keyspace) {
                    let row = guard.into_inner().map_err(|e| engine_error(&e, &place()));
                    match row.and_then(|(key, stored)| self.verify_row(&snapshot, &key, &stored.into())) {
                        Ok(Some(table)) => *counts.entry(table).or_default() += 1,
                        Ok(None) => {}
                        Err(damage) => damages.push(damage),
                    }
                    if damages.len() - before > DAMAGES_MAX {
                        break;
                    }
                }
                Ok(())
            });
            damages.extend(walk.err());
        }
        (counts, damages)
    }

    /// `None` for rows that belong to no table.
    fn verify_row(
        &self,
        snapshot: &fjall::Snapshot,
        stored_key: &[u8],
        stored: &bytes::Bytes,
    ) -> Result<Option<&'static str>> {
        let damaged = |detail: &str| Error::Corrupt { place: self.place(), detail: detail.to_owned() };
        let Some((number, is_version, key)) = split_stored_key(stored_key) else {
            return Err(damaged("a row has no table"));
        };
        if number == 0 {
            let sound = checked(stored_key, stored).is_some();
            return if sound {
                Ok(None)
            } else {
                Err(damaged("an internal row of the store does not match its checksum"))
            };
        }
        let home = self.homes.iter().find(|home| home.number == number);
        let home = home.ok_or_else(|| damaged("a row belongs to no table of the catalogue"))?;
        let shown = || format!("{}, table {}", self.place(), home.table);
        if is_version {
            let version = checked(stored_key, stored).map(leading_u64);
            let row =
                snapshot.get(&home.keyspace, home.stored_key(key)).map_err(|e| engine_error(&e, &shown()))?;
            let row = row.map(|row| home.row(&home.stored_key(key), &row.into())).transpose()?;
            return match (version, row) {
                (Some(version), Some(row)) if row.version == version => Ok(None),
                _ => Err(Error::Corrupt {
                    place: shown(),
                    detail: "a version does not match its row".to_owned(),
                }),
            };
        }
        let row = home.row(stored_key, stored)?;
        row.key.validate()?;
        if let Some(version_key) = home.version_key(key) {
            let apart =
                snapshot.get(&self.keyspaces.small, version_key).map_err(|e| engine_error(&e, &shown()))?;
            if apart.is_none() {
                let detail = "the row's version is missing".to_owned();
                return Err(Error::Corrupt { place: row.key.to_string(), detail });
            }
        }
        Ok(Some(home.table.name))
    }
}
