//! The statements of each table.
//!
//! Rows are sent as arrays, one for each column, which `unnest` turns into rows on the server: one
//! statement serves any number of rows. Key columns come first; `"N"` is the position of a row in
//! the arrays (declared names have no capitals). Arrays are sent in key order and statements keep
//! that order, so that all commits lock rows in the same order.

use std::fmt::Write as _;

use crate::table::{ColumnType, Kind, Placement, TableDef};

/// The catalogue, the settings and the commit log. Declared tables start with a letter, so these
/// names are free.
pub(super) const CATALOGUE: &str = "_tables";
pub(super) const META: &str = "_meta";
pub(super) const COMMITS: &str = "_commits";

/// Leaves room in each page for the next version of a row, which saves index entries.
const FILL_PERCENT: u32 = 80;
/// Rows of queues up to this size stay in their page: two of them fill one.
const QUEUE_ROW_BYTES: u32 = 4080;

/// The statements of one table.
#[derive(Debug)]
pub(super) struct TableSql {
    pub(super) table: &'static TableDef,
    pub(super) name: String,
    /// One row: value columns. Parameters: key columns.
    pub(super) get: String,
    /// Many rows: position, value columns. Parameters: an array for each key column.
    pub(super) get_many: String,
    /// Inserts absent rows and returns their keys. Parameters: arrays of keys, versions, values.
    pub(super) create: String,
    /// Locks existing rows: position, version. Parameters: arrays of keys.
    pub(super) lock: LockSql,
    /// The same within one shard. Parameters: the shard, arrays of the other key columns.
    pub(super) lock_in_shard: LockSql,
    /// Writes rows, or adds to counters. Parameters: arrays of keys and of each value column.
    pub(super) write: String,
    /// Deletes rows. Parameters: arrays of keys.
    pub(super) delete: String,
}

/// The lock of a row until the end of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// No other transaction can write the row; others may share the lock.
    Shared,
    /// No other transaction can write or lock the row.
    Exclusive,
}

/// A statement that locks rows, in both ways.
#[derive(Debug)]
pub(super) struct LockSql {
    shared: String,
    exclusive: String,
}

impl LockSql {
    fn new(select: &str) -> Self {
        // A weaker lock than FOR SHARE allows updates that keep the key.
        Self { shared: format!("{select} FOR SHARE OF t"), exclusive: format!("{select} FOR UPDATE OF t") }
    }

    pub(super) fn text(&self, hold: Hold) -> &str {
        match hold {
            Hold::Shared => &self.shared,
            Hold::Exclusive => &self.exclusive,
        }
    }
}

impl TableSql {
    pub(super) fn new(schema: &str, table: &'static TableDef) -> Self {
        let name = qualified(schema, table.name);
        let columns = &quoted(table.columns)[..];
        let keys = columns.join(", ");
        let values = value_columns(table.kind);
        let arrays = arrays(table.types, 1);
        let from_keys = format!("unnest({arrays}) WITH ORDINALITY AS u({keys}, \"N\")");
        let on_keys = equal(columns);
        let value_arrays = value_arrays(table.kind, columns.len() + 1);
        let all = format!("{keys}, {}", values.join(", "));
        let rows = format!(
            "INSERT INTO {name} AS t ({all}) SELECT {all} FROM unnest({arrays}, {value_arrays}) WITH ORDINALITY \
             AS u({all}, \"N\") ORDER BY u.\"N\" ON CONFLICT ({keys})"
        );
        Self {
            table,
            get: format!("SELECT {} FROM {name} AS t WHERE {}", values.join(", "), equal_to(columns, 1)),
            get_many: format!(
                "SELECT u.\"N\", {} FROM {from_keys} JOIN {name} AS t ON {on_keys}",
                of_t(values)
            ),
            create: format!("{rows} DO NOTHING RETURNING {keys}"),
            lock: LockSql::new(&format!(
                "SELECT u.\"N\", t.version FROM {from_keys} JOIN {name} AS t ON {on_keys} ORDER BY u.\"N\""
            )),
            lock_in_shard: lock_in_shard(&name, table, columns),
            write: match table.kind {
                Kind::Versioned => {
                    format!("{rows} DO UPDATE SET version = EXCLUDED.version, value = EXCLUDED.value")
                }
                Kind::Plain => format!("{rows} DO UPDATE SET value = EXCLUDED.value"),
                Kind::Counter => format!("{rows} DO UPDATE SET amount = t.amount + EXCLUDED.amount"),
            },
            delete: format!("DELETE FROM {name} AS t USING {from_keys} WHERE {on_keys}"),
            name,
        }
    }

    /// Key columns and sizes of the values behind a key, in key order. Parameters: the key columns
    /// (none at the start), and the number of rows.
    pub(super) fn sizes(&self, from_start: bool) -> String {
        let columns = quoted(self.table.columns);
        let keys = columns.join(", ");
        let behind = if from_start { 0 } else { columns.len() };
        let condition = if from_start {
            String::new()
        } else {
            format!(" WHERE ({keys}) > ({})", placeholders(1, columns.len()))
        };
        let sizes = match self.table.kind {
            Kind::Versioned => "version, octet_length(value)::bigint",
            Kind::Plain => "1::bigint, octet_length(value)::bigint",
            Kind::Counter => "1::bigint, 8::bigint",
        };
        format!("SELECT {keys}, {sizes} FROM {}{condition} ORDER BY {keys} LIMIT ${}", self.name, behind + 1)
    }
}

/// Everything about the table can be read in psql.
pub(super) fn create_table(schema: &str, table: &TableDef) -> String {
    let mut columns = String::new();
    for (name, ty) in table.columns.iter().zip(table.types) {
        let collation = if *ty == ColumnType::Text { " COLLATE \"C\"" } else { "" };
        // Writing to a `String` does not fail.
        let _ = write!(columns, "\"{name}\" {}{collation} NOT NULL, ", sql_type(*ty));
    }
    let values = match table.kind {
        Kind::Versioned => "version bigint NOT NULL, value bytea NOT NULL",
        Kind::Plain => "value bytea NOT NULL",
        Kind::Counter => "amount bigint NOT NULL",
    };
    let fill = match table.kind {
        Kind::Versioned | Kind::Counter => format!(" WITH (fillfactor = {FILL_PERCENT})"),
        Kind::Plain => String::new(),
    };
    let (name, keys) = (qualified(schema, table.name), quoted(table.columns).join(", "));
    format!("CREATE TABLE IF NOT EXISTS {name} ({columns}{values}, PRIMARY KEY ({keys})){fill}")
}

/// Large values are stored outside of their rows, uncompressed, so that versions stay close
/// together. Those of queues stay in their rows, uncompressed, for the short time they live.
pub(super) fn set_storage(schema: &str, table: &TableDef) -> Option<String> {
    let name = qualified(schema, table.name);
    let external = format!("ALTER TABLE {name} ALTER COLUMN value SET STORAGE EXTERNAL");
    match table.placement {
        Placement::Small => None,
        Placement::Large => Some(external),
        Placement::Queue => {
            Some(format!("{external}; ALTER TABLE {name} SET (toast_tuple_target = {QUEUE_ROW_BYTES})"))
        }
    }
}

pub(super) fn create_own_tables(schema: &str) -> [String; 4] {
    let of = |name| qualified(schema, name);
    [
        format!("CREATE SCHEMA IF NOT EXISTS \"{schema}\""),
        format!("CREATE TABLE IF NOT EXISTS {} (name text PRIMARY KEY, value text NOT NULL)", of(META)),
        format!(
            "CREATE TABLE IF NOT EXISTS {} (name text PRIMARY KEY, kind text NOT NULL, placement text NOT NULL, \
             columns text NOT NULL)",
            of(CATALOGUE)
        ),
        format!(
            "CREATE TABLE IF NOT EXISTS {} (shard bigint NOT NULL, id uuid NOT NULL, state text NOT NULL, \
             batches uuid[] NOT NULL, at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (shard, id))",
            of(COMMITS)
        ),
    ]
}

/// Finds old rows of the commit log without a full scan.
pub(super) fn create_commits_index(schema: &str) -> String {
    format!("CREATE INDEX IF NOT EXISTS \"{COMMITS}_at\" ON {} (at)", qualified(schema, COMMITS))
}

/// A bound of a scan: an operator and the number of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) operator: &'static str,
    pub(super) columns: usize,
}

/// The shape that determines the statement of a scan.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanShape {
    /// The first columns that have one value.
    pub(super) equal: usize,
    /// Bounds on the columns behind them.
    pub(super) edges: [Option<Edge>; 2],
    pub(super) descending: bool,
    /// Whether the page may exceed the limit of bytes.
    pub(super) counts_bytes: bool,
}

impl TableSql {
    /// One page of rows: key columns, value columns. Parameters: the equal columns, those of the
    /// edges, the number of rows, and the number of bytes if they are counted.
    pub(super) fn scan(&self, shape: &ScanShape) -> String {
        let columns = quoted(self.table.columns);
        let mut conditions: Vec<String> =
            (0..shape.equal).map(|i| format!("{} = ${}", columns[i], i + 1)).collect();
        let mut parameter = shape.equal + 1;
        for edge in shape.edges.iter().flatten() {
            let bounded = columns[shape.equal..shape.equal + edge.columns].join(", ");
            let values = placeholders(parameter, edge.columns);
            conditions.push(format!("({bounded}) {} ({values})", edge.operator));
            parameter += edge.columns;
        }
        let condition = match conditions.len() {
            0 => String::new(),
            _ => format!(" WHERE {}", conditions.join(" AND ")),
        };
        let direction = if shape.descending { " DESC" } else { "" };
        // Columns with one value need no order; ordering by them would cost a sort.
        let ordered = columns.iter().skip(shape.equal.min(columns.len() - 1));
        let order = ordered.map(|c| format!("{c}{direction}")).collect::<Vec<_>>().join(", ");
        let all = format!("{}, {}", columns.join(", "), value_columns(self.table.kind).join(", "));
        let rows = format!("SELECT {all} FROM {}{condition} ORDER BY {order} LIMIT ${parameter}", self.name);
        if !shape.counts_bytes {
            return rows;
        }
        format!(
            "SELECT {all} FROM (SELECT {all}, sum(octet_length(value)) OVER (ORDER BY {order} ROWS UNBOUNDED PRECEDING) \
             - octet_length(value) AS \"Before\" FROM ({rows}) AS r) AS s WHERE \"Before\" < ${} ORDER BY {order}",
            parameter + 1
        )
    }
}

pub(super) fn qualified(schema: &str, name: &str) -> String {
    format!("\"{schema}\".\"{name}\"")
}

fn quoted(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("\"{name}\"")).collect()
}

fn sql_type(ty: ColumnType) -> &'static str {
    match ty {
        ColumnType::U32 | ColumnType::I64 => "bigint",
        ColumnType::Text => "text",
        ColumnType::Bytes => "bytea",
    }
}

fn value_columns(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Versioned => &["version", "value"],
        Kind::Plain => &["value"],
        Kind::Counter => &["amount"],
    }
}

fn value_arrays(kind: Kind, first: usize) -> String {
    match kind {
        Kind::Versioned => format!("${first}::bigint[], ${}::bytea[]", first + 1),
        Kind::Plain => format!("${first}::bytea[]"),
        Kind::Counter => format!("${first}::bigint[]"),
    }
}

/// `$first::bigint[], $second::text[]`
fn arrays(types: &[ColumnType], first: usize) -> String {
    let arrays = types.iter().enumerate().map(|(i, ty)| format!("${}::{}[]", first + i, sql_type(*ty)));
    arrays.collect::<Vec<_>>().join(", ")
}

fn placeholders(first: usize, count: usize) -> String {
    (first..first + count).map(|n| format!("${n}")).collect::<Vec<_>>().join(", ")
}

fn equal(columns: &[String]) -> String {
    columns.iter().map(|c| format!("t.{c} = u.{c}")).collect::<Vec<_>>().join(" AND ")
}

fn equal_to(columns: &[String], first: usize) -> String {
    let parts = columns.iter().enumerate().map(|(i, c)| format!("t.{c} = ${}", first + i));
    parts.collect::<Vec<_>>().join(" AND ")
}

fn of_t(columns: &[&str]) -> String {
    columns.iter().map(|c| format!("t.{c}")).collect::<Vec<_>>().join(", ")
}

fn lock_in_shard(name: &str, table: &TableDef, columns: &[String]) -> LockSql {
    if columns.len() == 1 {
        return LockSql::new(&format!("SELECT 1::bigint, t.version FROM {name} AS t WHERE t.shard = $1"));
    }
    let (others, arrays) = (&columns[1..], arrays(&table.types[1..], 2));
    LockSql::new(&format!(
        "SELECT u.\"N\", t.version FROM unnest({arrays}) WITH ORDINALITY AS u({}, \"N\") JOIN {name} AS t ON {} \
         WHERE t.shard = $1 ORDER BY u.\"N\"",
        others.join(", "),
        equal(others)
    ))
}
