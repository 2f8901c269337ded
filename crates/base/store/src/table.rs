//! Tables: declared once, as constants, with typed key columns.
//!
//! ```
//! use store::Table;
//! /// One row for each offer.
//! const OFFERS: Table<(u32, String)> = Table::versioned("offers", &["shard", "id"]).large();
//! let key = OFFERS.key((7, "a1b2"));
//! assert_eq!(OFFERS.parts(&key).unwrap(), (7, "a1b2".to_owned()));
//! ```

use std::fmt;
use std::marker::PhantomData;

use crate::key::{Key, KeyTuple, KeyValue, PrefixOf};
use crate::limits::{KEY_COLUMNS_MAX, NAME_BYTES_MAX};
use crate::scan::Scan;
use crate::{Error, Result};

/// The type of one key column. The order of keys is the order of these values, column by column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColumnType {
    /// Unsigned 32 bits.
    U32,
    /// Signed 64 bits.
    I64,
    /// UTF-8 text without NUL, in byte order.
    Text,
    /// Any bytes.
    Bytes,
}

impl ColumnType {
    /// The name under which catalogues keep this type.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::Text => "text",
            Self::Bytes => "bytes",
        }
    }

    /// The type of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::U32, Self::I64, Self::Text, Self::Bytes].into_iter().find(|t| t.name() == name)
    }
}

/// What a table's rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value with an explicit version, which batches can check.
    Versioned,
    /// A value alone: written and deleted without checks (lists, queues, logs).
    Plain,
    /// A signed number that only `add` changes. A counter that was never added to reads as zero.
    Counter,
}

impl Kind {
    /// The name under which catalogues keep this kind.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Versioned => "versioned",
            Self::Plain => "plain",
            Self::Counter => "counter",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Versioned, Self::Plain, Self::Counter].into_iter().find(|k| k.name() == name)
    }
}

/// Where the embedded engine keeps a table's rows. It changes speed and space, never an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Rows of up to some hundred bytes, read often.
    Small,
    /// Values of a kilobyte and more, kept apart from their keys; versions stand beside them in small rows.
    Large,
    /// Rows that are written once, taken in key order and deleted.
    Queue,
}

impl Placement {
    /// The name under which catalogues keep this placement.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Large => "large",
            Self::Queue => "queue",
        }
    }

    /// The placement of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Small, Self::Large, Self::Queue].into_iter().find(|p| p.name() == name)
    }
}

/// A table as engines see it. Definitions live as long as the program: they are constants, or were read
/// from a store's catalogue once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDef {
    /// Unique in a store; letters, digits and `_`.
    pub name: &'static str,
    /// The names of the key columns; the first is always `shard`.
    pub columns: &'static [&'static str],
    /// The types of the key columns; the first is always [`ColumnType::U32`].
    pub types: &'static [ColumnType],
    /// What the rows are.
    pub kind: Kind,
    /// Where the embedded engine keeps them.
    pub placement: Placement,
}

impl TableDef {
    /// A definition that was read from a store's catalogue. It stays in memory until the program ends;
    /// a catalogue is small and is read once.
    pub fn from_catalogue(
        name: &str,
        columns: &[(String, ColumnType)],
        kind: Kind,
        placement: Placement,
    ) -> Result<&'static Self> {
        let names: Vec<&'static str> = columns.iter().map(|(n, _)| &*n.clone().leak()).collect();
        let types: Vec<ColumnType> = columns.iter().map(|(_, t)| *t).collect();
        let def = Self {
            name: name.to_owned().leak(),
            columns: names.leak(),
            types: types.leak(),
            kind,
            placement,
        };
        def.validate()?;
        Ok(Box::leak(Box::new(def)))
    }

    /// Whether names and columns keep the rules.
    pub fn validate(&self) -> Result<()> {
        let wrong =
            |reason: &str| Err(Error::BadTable { table: self.name.to_owned(), reason: reason.to_owned() });
        if !is_identifier(self.name) || !self.columns.iter().all(|c| is_identifier(c)) {
            return wrong(
                "names must be lower-case letters, digits and '_', start with a letter, and be short",
            );
        }
        if self.columns.len() != self.types.len() || self.columns.len() > KEY_COLUMNS_MAX {
            return wrong("every key column needs a name and a type, and there may be at most eight");
        }
        if self.columns.first() != Some(&"shard") || self.types.first() != Some(&ColumnType::U32) {
            return wrong("the first key column must be `shard` of type u32");
        }
        let reserved = ["version", "value", "amount"];
        if self.columns.iter().any(|c| reserved.contains(c)) {
            return wrong("`version`, `value` and `amount` are names of value columns");
        }
        if (1..self.columns.len()).any(|i| self.columns[..i].contains(&self.columns[i])) {
            return wrong("two key columns have the same name");
        }
        Ok(())
    }

    /// All rows, in key order.
    #[must_use]
    pub const fn scan(&'static self) -> Scan {
        Scan::all(self)
    }
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_lowercase())
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && name.len() <= NAME_BYTES_MAX
}

impl fmt::Display for TableDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A table whose key columns have the types `K`, for example `Table<(u32, i64, String)>`.
///
/// A wrong number of column names, or a first column that is not `shard`, does not compile.
pub struct Table<K> {
    def: TableDef,
    key: PhantomData<fn() -> K>,
}

impl<K: KeyTuple> Table<K> {
    /// A table of versioned rows.
    #[must_use]
    pub const fn versioned(name: &'static str, columns: &'static [&'static str]) -> Self {
        Self::declare(name, columns, Kind::Versioned)
    }

    /// A table of plain rows.
    #[must_use]
    pub const fn plain(name: &'static str, columns: &'static [&'static str]) -> Self {
        Self::declare(name, columns, Kind::Plain)
    }

    /// A table of counters.
    #[must_use]
    pub const fn counters(name: &'static str, columns: &'static [&'static str]) -> Self {
        Self::declare(name, columns, Kind::Counter)
    }

    const fn declare(name: &'static str, columns: &'static [&'static str], kind: Kind) -> Self {
        assert!(columns.len() == K::TYPES.len(), "one name for each key column");
        assert!(matches!(K::TYPES[0], ColumnType::U32), "the first key column is a u32");
        assert!(is_shard(columns[0]), "the first key column is called `shard`");
        let def = TableDef { name, columns, types: K::TYPES, kind, placement: Placement::Small };
        Self { def, key: PhantomData }
    }

    /// The same table for values of a kilobyte and more.
    ///
    /// # Panics
    /// If the table holds counters; in a constant, that does not compile.
    #[must_use]
    pub const fn large(mut self) -> Self {
        assert!(!matches!(self.def.kind, Kind::Counter), "a counter is a small row");
        self.def.placement = Placement::Large;
        self
    }

    /// The same table for rows that are written once, taken in order and deleted.
    ///
    /// # Panics
    /// If the table holds counters; in a constant, that does not compile.
    #[must_use]
    pub const fn queue(mut self) -> Self {
        assert!(!matches!(self.def.kind, Kind::Counter), "a counter is a small row");
        self.def.placement = Placement::Queue;
        self
    }

    /// The definition that engines work with.
    #[must_use]
    pub const fn def(&'static self) -> &'static TableDef {
        &self.def
    }

    /// The key of these column values.
    #[must_use]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "`key((shard, id))` reads better than `key(&(shard, id))`"
    )]
    pub fn key(&'static self, parts: impl PrefixOf<K, Whole = K>) -> Key {
        Key::from_parts(&self.def, &parts)
    }

    /// The column values of a key of this table.
    pub fn parts(&self, key: &Key) -> Result<K> {
        K::from_values(key.values()?).ok_or_else(|| key.malformed())
    }

    /// All rows, in key order.
    #[must_use]
    pub const fn scan(&'static self) -> Scan {
        Scan::all(&self.def)
    }

    /// The rows whose first key columns have these values.
    #[must_use]
    pub fn prefix(&'static self, parts: impl PrefixOf<K>) -> Scan {
        Scan::all(&self.def).within(parts.values())
    }

    /// The first key columns, as a bound for [`Scan::from`] and its kin.
    #[must_use]
    pub fn bound(&'static self, parts: impl PrefixOf<K>) -> Vec<KeyValue> {
        parts.values()
    }
}

const fn is_shard(name: &str) -> bool {
    matches!(name.as_bytes(), b"shard")
}

/// The tables of a store, with the version of the whole.
///
/// The version is raised whenever stored data changes its meaning. A store remembers the highest version that
/// ever opened it and refuses lower ones.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The version of this program's data.
    pub version: u32,
    tables: Vec<&'static TableDef>,
}

impl Schema {
    /// A schema of these tables.
    pub fn new(version: u32, tables: impl IntoIterator<Item = &'static TableDef>) -> Result<Self> {
        let mut tables: Vec<_> = tables.into_iter().collect();
        tables.sort_by_key(|t| t.name);
        for table in &tables {
            table.validate()?;
        }
        if let Some(twice) = tables.windows(2).find(|w| w[0].name == w[1].name) {
            let reason = "declared twice".to_owned();
            return Err(Error::BadTable { table: twice[0].name.to_owned(), reason });
        }
        Ok(Self { version, tables })
    }

    /// The tables, by name.
    #[must_use]
    pub fn tables(&self) -> &[&'static TableDef] {
        &self.tables
    }

    /// Whether this table, or one of its name, is in the schema.
    #[must_use]
    pub fn has(&self, table: &TableDef) -> bool {
        // Nearly always it is the very same constant.
        self.tables.iter().any(|known| std::ptr::eq(*known, table)) || self.table(table.name).is_some()
    }

    /// The table of that name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&'static TableDef> {
        self.position(name).map(|i| self.tables[i])
    }

    /// Where the table of that name stands in [`tables`](Self::tables).
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.tables.binary_search_by_key(&name, |t| t.name).ok()
    }
}
