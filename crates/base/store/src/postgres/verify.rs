//! Verification of every row: its key decodes and it keeps the limits. The bytes of values are
//! protected by PostgreSQL's own page checksums.

use tokio_postgres::types::ToSql;

use super::codec::{Params, Scalar, key_of, params, scalars_from, undecodable};
use super::connection::Connection;
use super::errors::{PgError, Trouble, is_unsupported};
use super::sql::TableSql;
use crate::limits::{SCAN_ROWS_MAX, VALUE_BYTES_MAX};
use crate::{Error, Result};

/// Larger tables are estimated, not counted.
const COUNTED_ROWS_MAX: i64 = 100_000;

/// The result for a page of rows.
pub(super) struct Checked {
    pub(super) rows: u64,
    pub(super) damages: Vec<Error>,
    /// Where to continue; `None` at the end of the table.
    pub(super) last: Option<Vec<Scalar>>,
}

/// Checks the next rows of a table.
pub(super) async fn check(
    connection: &Connection,
    sql: &TableSql,
    after: Option<&[Scalar]>,
) -> Result<Checked, Trouble> {
    let limit = SCAN_ROWS_MAX as i64;
    let mut values: Params<'_> = after.map(params).unwrap_or_default();
    values.push(&limit as &(dyn ToSql + Sync));
    let found = connection.query(&sql.sizes(after.is_none()), &values).await?;
    let mut checked = Checked { rows: found.len() as u64, damages: Vec::new(), last: None };
    for row in &found {
        let first = sql.table.columns.len();
        let columns = scalars_from(sql.table, row, 0)?;
        let read = || Ok((row.try_get::<_, i64>(first)?, row.try_get::<_, i64>(first + 1)?));
        let (version, bytes): (i64, i64) = read().map_err(|error: PgError| undecodable(&error))?;
        if let Err(damage) = check_row(sql, columns.clone(), version, bytes) {
            checked.damages.push(damage);
        }
        checked.last = Some(columns);
    }
    if found.len() < SCAN_ROWS_MAX {
        checked.last = None;
    }
    Ok(checked)
}

/// Whether a transaction that begins now can only read. A database that does not have the setting
/// is assumed to write.
pub(super) async fn is_read_only(connection: &Connection) -> Result<bool, Trouble> {
    let asked = "SELECT pg_catalog.current_setting('transaction_read_only', true)";
    match connection.query(asked, &Vec::new()).await {
        Ok(rows) => {
            let setting: Option<String> = rows.first().map_or(Ok(None), |row| row.try_get(0))?;
            Ok(setting.as_deref() == Some("on"))
        }
        Err(error) if is_unsupported(&error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The number of rows: counted in a small table, PostgreSQL's estimate for a large one.
pub(super) async fn approximate_rows(connection: &Connection, sql: &TableSql) -> Result<u64, Trouble> {
    let estimate = "SELECT reltuples::bigint FROM pg_catalog.pg_class WHERE oid = $1::text::regclass";
    let first = async |text: &str, params: &Params<'_>| -> Result<i64, Trouble> {
        let rows = connection.query(text, params).await?;
        Ok(rows.first().map_or(Ok(0), |row| row.try_get(0))?)
    };
    let estimate = first(estimate, &vec![&sql.name]).await?;
    let rows = if estimate > COUNTED_ROWS_MAX {
        estimate
    } else {
        first(&format!("SELECT count(*) FROM {}", sql.name), &Vec::new()).await?
    };
    Ok(rows.max(0).cast_unsigned())
}

fn check_row(sql: &TableSql, columns: Vec<Scalar>, version: i64, bytes: i64) -> Result<()> {
    let key = key_of(sql.table, columns)?;
    let wrong = |detail: String| Err(Error::Corrupt { place: key.to_string(), detail });
    if let Err(error) = key.validate() {
        return wrong(error.to_string());
    }
    if version < 1 {
        return wrong(format!("its version is {version}"));
    }
    if bytes > VALUE_BYTES_MAX as i64 {
        return wrong(format!("its value has {bytes} bytes; at most {VALUE_BYTES_MAX} are allowed"));
    }
    Ok(())
}
