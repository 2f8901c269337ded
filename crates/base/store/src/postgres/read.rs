//! Reads: rows by key, and pages of scans. They run on any connection, inside a snapshot or
//! outside.

use std::ops::Bound;

use tokio_postgres::types::ToSql;

use super::Tables;
use super::codec::{Column, Params, Scalar, columns_of, key_from, params, row_from, scalars_of, undecodable};
use super::connection::{Connection, all_rows, pipelined};
use super::errors::Trouble;
use super::sql::{Edge, ScanShape, TableSql};
use crate::Result;
use crate::key::{Key, KeyValue, encode_prefix};
use crate::limits::{PAGE_BYTES_MAX, VALUE_BYTES_MAX};
use crate::row::Row;
use crate::scan::{Page, Scan};
use crate::table::Kind;

/// The rows of these keys, in the same order.
pub(super) async fn get(
    connection: &Connection,
    tables: &Tables,
    keys: &[Key],
) -> Result<Vec<Option<Row>>, Trouble> {
    let mut requested: Vec<TableKeys<'_>> = Vec::new();
    for (position, key) in keys.iter().enumerate() {
        let table = tables.of(key.table())?;
        match requested.iter_mut().find(|requested| std::ptr::eq(requested.sql, table)) {
            Some(requested) => requested.positions.push(position),
            None => requested.push(TableKeys { sql: table, positions: vec![position] }),
        }
    }
    let texts: Vec<&str> = requested.iter().map(TableKeys::text).collect();
    let statements = connection.prepare(&texts).await?;
    let values = requested.iter().map(|requested| requested.values(keys)).collect::<Result<Vec<_>>>()?;
    let params: Vec<Params<'_>> = values.iter().map(Values::params).collect();
    let requests = statements.iter().zip(&params).map(|(s, p)| connection.request(s, p)).collect();
    let answers = all_rows(pipelined(requests).await, requested.len())?;
    let mut rows: Vec<Option<Row>> = vec![None; keys.len()];
    for (requested, answer) in requested.iter().zip(answers) {
        for row in answer {
            let (n, first) = if requested.is_single() {
                (1, 0)
            } else {
                (row.try_get::<_, i64>(0).map_err(|error| undecodable(&error))?, 1)
            };
            if let Some(&position) = requested.positions.get(n as usize - 1) {
                rows[position] = Some(row_from(keys[position].clone(), &row, first)?);
            }
        }
    }
    Ok(rows)
}

/// The keys of one table in a `get`.
struct TableKeys<'a> {
    sql: &'a TableSql,
    positions: Vec<usize>,
}

enum Values {
    One(Vec<Scalar>),
    Many(Vec<Column>),
}

impl TableKeys<'_> {
    fn is_single(&self) -> bool {
        self.positions.len() == 1
    }

    fn text(&self) -> &str {
        if self.is_single() { &self.sql.get } else { &self.sql.get_many }
    }

    fn values(&self, keys: &[Key]) -> Result<Values> {
        if self.is_single() {
            return Ok(Values::One(scalars_of(&keys[self.positions[0]])?));
        }
        Ok(Values::Many(columns_of(self.sql.table, self.positions.iter().map(|position| &keys[*position]))?))
    }
}

impl Values {
    fn params(&self) -> Params<'_> {
        match self {
            Self::One(scalars) => params(scalars),
            Self::Many(columns) => params(columns),
        }
    }
}

/// One page of a scan.
pub(super) async fn scan(connection: &Connection, tables: &Tables, scan: &Scan) -> Result<Page, Trouble> {
    let Some(range) = Range::of(scan)? else { return Ok(Page::default()) };
    let table = tables.of(scan.table)?;
    let shape = range.shape(scan);
    let text = table.scan(&shape);
    let (limit, bytes) = (scan.limit as i64, PAGE_BYTES_MAX as i64);
    let mut params: Params<'_> = params(&range.values);
    params.push(&limit);
    if shape.counts_bytes {
        params.push(&bytes as &(dyn ToSql + Sync));
    }
    let found = connection.query(&text, &params).await?;
    let mut page = Page { rows: Vec::with_capacity(found.len()), next: None };
    let mut total = 0;
    for row in &found {
        let key = key_from(scan.table, row, 0)?;
        let row = row_from(key, row, scan.table.columns.len())?;
        total += if scan.table.kind == Kind::Counter { 0 } else { row.value.len() };
        page.rows.push(row);
    }
    if page.rows.len() == scan.limit || total >= PAGE_BYTES_MAX {
        page.next = page.rows.last().map(|row| row.key.clone());
    }
    Ok(page)
}

/// A bound on the first key columns.
type Columns = Bound<Vec<KeyValue>>;

/// Columns that are equal to a value, then at most one bound at each end.
struct Range {
    equal: usize,
    edges: [Option<Edge>; 2],
    /// The equal columns, then those of the lower and of the upper edge.
    values: Vec<Scalar>,
}

impl Range {
    /// `None` if the range is empty.
    fn of(scan: &Scan) -> Result<Option<Self>> {
        let (lower, upper) = bounds(scan)?;
        let excludes_all = |bound: &Columns| matches!(bound, Bound::Excluded(v) if v.is_empty());
        if scan.limit == 0 || excludes_all(&lower) || excludes_all(&upper) {
            return Ok(None);
        }
        let equal = values(&lower).iter().zip(values(&upper)).take_while(|(a, b)| a == b).count();
        // An excluded bound of the equal columns leaves nothing.
        let contradicts = |bound: &Columns| matches!(bound, Bound::Excluded(v) if v.len() == equal);
        if contradicts(&lower) || contradicts(&upper) {
            return Ok(None);
        }
        let edge = |bound: &Columns, included, excluded| {
            let columns = values(bound).len() - equal;
            let operator = if matches!(bound, Bound::Excluded(_)) { excluded } else { included };
            (columns > 0).then_some(Edge { operator, columns })
        };
        let edges = [edge(&lower, ">=", ">"), edge(&upper, "<=", "<")];
        let shared = values(&lower)[..equal].iter();
        let all = shared.chain(&values(&lower)[equal..]).chain(&values(&upper)[equal..]);
        Ok(Some(Self { equal, edges, values: all.cloned().map(Scalar::from).collect() }))
    }

    fn shape(&self, scan: &Scan) -> ScanShape {
        let fits = scan.limit.saturating_mul(VALUE_BYTES_MAX) <= PAGE_BYTES_MAX;
        ScanShape {
            equal: self.equal,
            edges: self.edges,
            descending: scan.descending,
            counts_bytes: !fits && scan.table.kind != Kind::Counter,
        }
    }
}

fn values(bound: &Columns) -> &[KeyValue] {
    match bound {
        Bound::Included(values) | Bound::Excluded(values) => values,
        Bound::Unbounded => &[],
    }
}

/// The bounds of a scan; the key after which it continues replaces the bound that it has passed.
fn bounds(scan: &Scan) -> Result<(Columns, Columns)> {
    let (mut lower, mut upper) = (scan.lower.clone(), scan.upper.clone());
    let Some(after) = &scan.after else { return Ok((lower, upper)) };
    let passed = if scan.descending { &mut upper } else { &mut lower };
    let mark = encode_prefix(values(passed));
    let is_at_mark = after.bytes().starts_with(&mark);
    let included = !matches!(passed, Bound::Excluded(_));
    let is_inside = if scan.descending { after.bytes() < &*mark } else { after.bytes() > &*mark };
    if (is_at_mark && included) || (!is_at_mark && is_inside) {
        *passed = Bound::Excluded(after.values()?);
    }
    Ok((lower, upper))
}
