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

/// An enum whose values have a name in catalogues.
macro_rules! named {
    ($(#[$doc:meta])* $enum:ident { $($(#[$value_doc:meta])* $value:ident = $name:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $enum {
            $($(#[$value_doc])* $value,)+
        }

        impl $enum {
            /// The name in catalogues.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }

            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$value),)+
                    _ => None,
                }
            }
        }
    };
}

named! {
    /// The type of one key column. Keys are ordered by these values, column by column.
    ColumnType {
        U32 = "u32",
        I64 = "i64",
        /// UTF-8 text without NUL, in byte order.
        Text = "text",
        Bytes = "bytes",
    }
}

named! {
    /// What the rows of a table are.
    Kind {
        /// A value with an explicit version, which batches can check.
        Versioned = "versioned",
        /// A value alone, written and deleted without checks (lists, queues, logs).
        Plain = "plain",
        /// A signed number that only `add` changes. An absent counter reads as zero.
        Counter = "counter",
    }
}

named! {
    /// Where the embedded engine stores the rows of a table. It affects speed and space, never a
    /// result.
    Placement {
        /// Rows of up to some hundred bytes that are read often.
        Small = "small",
        /// Values of a kilobyte and more, stored apart from their keys; versions are stored in
        /// small rows of their own.
        Large = "large",
        /// Rows that are written once, read in key order and deleted.
        Queue = "queue",
    }
}

/// A table as engines see it. Definitions live as long as the program: they are constants, or were
/// read once from a store's catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDef {
    /// Unique in a store; letters, digits and `_`.
    pub name: &'static str,
    /// The first is always `shard`.
    pub columns: &'static [&'static str],
    /// The first is always [`ColumnType::U32`].
    pub types: &'static [ColumnType],
    pub kind: Kind,
    pub placement: Placement,
}

impl TableDef {
    /// A definition from a store's catalogue. It stays in memory until the program ends: a
    /// catalogue is small and is read once.
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

    #[must_use]
    pub const fn scan(&'static self) -> Scan {
        Scan::all(self)
    }
}

pub(crate) fn is_identifier(name: &str) -> bool {
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
    #[must_use]
    pub const fn versioned(name: &'static str, columns: &'static [&'static str]) -> Self {
        Self::declare(name, columns, Kind::Versioned)
    }

    #[must_use]
    pub const fn plain(name: &'static str, columns: &'static [&'static str]) -> Self {
        Self::declare(name, columns, Kind::Plain)
    }

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

    /// Makes the placement [`Placement::Large`].
    ///
    /// # Panics
    /// If the table holds counters; in a constant, that does not compile.
    #[must_use]
    pub const fn large(mut self) -> Self {
        assert!(!matches!(self.def.kind, Kind::Counter), "a counter is a small row");
        self.def.placement = Placement::Large;
        self
    }

    /// Makes the placement [`Placement::Queue`].
    ///
    /// # Panics
    /// If the table holds counters; in a constant, that does not compile.
    #[must_use]
    pub const fn queue(mut self) -> Self {
        assert!(!matches!(self.def.kind, Kind::Counter), "a counter is a small row");
        self.def.placement = Placement::Queue;
        self
    }

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
/// The version is raised whenever stored data changes its meaning. A store remembers the highest
/// version that ever opened it and refuses lower ones.
#[derive(Clone, Debug)]
pub struct Schema {
    pub version: u32,
    tables: Vec<&'static TableDef>,
}

impl Schema {
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

    /// In the order of their names.
    #[must_use]
    pub fn tables(&self) -> &[&'static TableDef] {
        &self.tables
    }

    /// Whether a table of this name is in the schema.
    #[must_use]
    pub fn has(&self, table: &TableDef) -> bool {
        // Nearly always it is the same constant.
        self.tables.iter().any(|known| std::ptr::eq(*known, table)) || self.table(table.name).is_some()
    }

    #[must_use]
    pub fn table(&self, name: &str) -> Option<&'static TableDef> {
        self.position(name).map(|i| self.tables[i])
    }

    /// The index in [`tables`](Self::tables).
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.tables.binary_search_by_key(&name, |t| t.name).ok()
    }
}
