//! The catalogue: the tables of the database and their numbers.

use std::collections::BTreeMap;

use super::errors::engine_error;
use super::layout::{Home, Keyspaces, checked, seal};
use super::own_row;
use crate::table::{ColumnType, Kind, Placement, Schema, TableDef};
use crate::{Error, Result};

struct Entry {
    number: u16,
    def: &'static TableDef,
}

/// A catalogue that matches the declared schema.
pub(super) struct Catalogue {
    /// The declared tables and those of the stored catalogue.
    pub(super) schema: Schema,
    /// In the order of the schema.
    pub(super) homes: Vec<Home>,
    /// Rows to write before the tables are used.
    pub(super) missing: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Compares the stored catalogue with the declared schema. Missing tables are added if `extend` is
/// set, and left out otherwise.
pub(super) fn agree(
    keyspaces: &Keyspaces,
    declared: &Schema,
    extend: bool,
    place: &str,
) -> Result<Catalogue> {
    let stored_version = read_version(keyspaces, place)?;
    if let Some(stored) = stored_version
        && stored > declared.version
    {
        return Err(Error::NewerSchema { store: stored, program: declared.version });
    }
    let mut entries = read_entries(keyspaces, place)?;
    let mut missing = Vec::new();
    let mut next = entries.values().map(|entry| entry.number).max().unwrap_or(0) + 1;
    for def in declared.tables() {
        if let Some(entry) = entries.get_mut(def.name) {
            require_same(entry.def, def)?;
            entry.def = def;
        } else if extend {
            missing.push(entry_row(next, def));
            entries.insert(def.name.to_owned(), Entry { number: next, def });
            next += 1;
        }
    }
    if extend && stored_version != Some(declared.version) {
        missing.push(version_row(declared.version));
    }
    let version = if extend { declared.version } else { stored_version.unwrap_or(declared.version) };
    let schema = Schema::new(version, entries.values().map(|entry| entry.def))?;
    let homes = schema.tables().iter().map(|table| Home {
        table,
        number: entries[table.name].number,
        keyspace: keyspaces.of(table.placement).clone(),
    });
    let homes = homes.collect();
    Ok(Catalogue { schema, homes, missing })
}

fn require_same(stored: &TableDef, declared: &TableDef) -> Result<()> {
    if stored == declared {
        return Ok(());
    }
    let show = |def: &TableDef| {
        let columns = def.columns.iter().zip(def.types).map(|(name, ty)| format!("{name} {}", ty.name()));
        format!("({}) {} {}", columns.collect::<Vec<_>>().join(", "), def.kind.name(), def.placement.name())
    };
    let reason = format!("the store has it as {}, this program as {}", show(stored), show(declared));
    Err(Error::BadTable { table: declared.name.to_owned(), reason })
}

fn version_row(version: u32) -> (Vec<u8>, Vec<u8>) {
    let key = own_row(b's', &[]);
    let sealed = seal(&key, &version.to_be_bytes(), &[]);
    (key, sealed)
}

fn read_version(keyspaces: &Keyspaces, place: &str) -> Result<Option<u32>> {
    let key = own_row(b's', &[]);
    let stored = keyspaces.small.get(&key).map_err(|e| engine_error(&e, place))?;
    let Some(stored) = stored else { return Ok(None) };
    let content = checked(&key, &stored).ok_or_else(|| damaged(place))?;
    let version = content.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
    version.map(Some).ok_or_else(|| damaged(place))
}

/// Number, kind, placement, then name and type of each column.
fn entry_row(number: u16, def: &TableDef) -> (Vec<u8>, Vec<u8>) {
    let columns: String =
        def.columns.iter().zip(def.types).map(|(name, ty)| [" ", name, " ", ty.name()].concat()).collect();
    let text = format!("{number} {} {}{columns}", def.kind.name(), def.placement.name());
    let key = own_row(b't', def.name.as_bytes());
    let sealed = seal(&key, text.as_bytes(), &[]);
    (key, sealed)
}

fn read_entries(keyspaces: &Keyspaces, place: &str) -> Result<BTreeMap<String, Entry>> {
    let prefix = own_row(b't', &[]);
    let mut entries = BTreeMap::new();
    for guard in keyspaces.small.prefix(&prefix) {
        let (key, stored) = guard.into_inner().map_err(|e| engine_error(&e, place))?;
        let content = checked(&key, &stored).ok_or_else(|| damaged(place))?;
        let name = std::str::from_utf8(&key[prefix.len()..]).map_err(|_| damaged(place))?;
        let entry = parse_entry(name, content).ok_or_else(|| damaged(place))??;
        entries.insert(name.to_owned(), entry);
    }
    Ok(entries)
}

fn parse_entry(name: &str, content: &[u8]) -> Option<Result<Entry>> {
    let mut words = std::str::from_utf8(content).ok()?.split(' ');
    let number = words.next()?.parse().ok()?;
    let kind = Kind::from_name(words.next()?)?;
    let placement = Placement::from_name(words.next()?)?;
    let mut columns = Vec::new();
    while let Some(column) = words.next() {
        columns.push((column.to_owned(), ColumnType::from_name(words.next()?)?));
    }
    Some(TableDef::from_catalogue(name, &columns, kind, placement).map(|def| Entry { number, def }))
}

fn damaged(place: &str) -> Error {
    Error::Corrupt { place: place.to_owned(), detail: "a row of the catalogue is damaged".to_owned() }
}
