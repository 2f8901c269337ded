//! Copies of a whole store into another engine.

use futures::TryStreamExt;
use futures::stream::FuturesUnordered;

use crate::batch::Batch;
use crate::engine::Read;
use crate::row::Row;
use crate::store::Store;
use crate::table::{Kind, TableDef};
use crate::{Error, Outcome, Result};

/// Limits of one batch of copied rows.
const BATCH_ROWS: usize = 500;
const BATCH_BYTES: usize = 2 << 20;
/// Batches in flight.
const BATCHES_IN_FLIGHT: usize = 8;

/// The progress of a copy.
#[derive(Clone, Copy, Debug)]
pub struct CopyProgress {
    /// The current table.
    pub table: &'static str,
    /// The index of the table, from one, and the number of tables.
    pub table_number: (usize, usize),
    /// Copied rows of all tables.
    pub rows: u64,
    /// Copied bytes of values.
    pub bytes: u64,
    /// An estimate; zero if unknown.
    pub rows_total: u64,
}

/// Copies every row of `from`, as of one moment, into the empty store `to`, which must have the
/// same tables (open it with the schema of `from`). Calls `progress` after each page.
///
/// A failed copy leaves part of the rows in `to`: empty it before a retry.
pub async fn copy(
    from: &Store,
    to: &Store,
    progress: &mut (dyn FnMut(CopyProgress) + Send),
) -> Result<CopyProgress> {
    let tables = from.schema().tables();
    require_empty(to, tables).await?;
    let snapshot = from.snapshot().await?;
    // Only for display: a copy does not fail without it.
    let rows_total = from.approximate_rows().await.unwrap_or(0);
    let mut at = CopyProgress { table: "", table_number: (0, tables.len()), rows: 0, bytes: 0, rows_total };
    for (number, table) in tables.iter().enumerate() {
        at.table = table.name;
        at.table_number.0 = number + 1;
        progress(at);
        copy_table(&snapshot, to, table, &mut at, progress).await?;
    }
    Ok(at)
}

async fn require_empty(to: &Store, tables: &[&'static TableDef]) -> Result<()> {
    for table in tables {
        if !to.scan(&table.scan().limit(1)).await?.rows.is_empty() {
            let reason = "the target already holds rows; copy into an empty store".to_owned();
            return Err(Error::BadTable { table: table.name.to_owned(), reason });
        }
    }
    Ok(())
}

async fn copy_table(
    from: &dyn Read,
    to: &Store,
    table: &'static TableDef,
    at: &mut CopyProgress,
    progress: &mut (dyn FnMut(CopyProgress) + Send),
) -> Result<()> {
    let mut commits = FuturesUnordered::new();
    let mut next = Some(table.scan().limit(BATCH_ROWS));
    while let Some(scan) = next.take() {
        let page = from.scan(&scan).await?;
        next = page.next.map(|key| scan.after(key));
        at.rows += page.rows.len() as u64;
        at.bytes += page.rows.iter().map(|row| row.value.len() as u64).sum::<u64>();
        for batch in batches(page.rows) {
            while commits.len() >= BATCHES_IN_FLIGHT {
                commits.try_next().await?;
            }
            commits.push(write(to.clone(), batch));
        }
        progress(*at);
    }
    while commits.try_next().await?.is_some() {}
    Ok(())
}

async fn write(to: Store, batch: Batch) -> Result<()> {
    match to.commit(batch).await? {
        Outcome::Applied => Ok(()),
        Outcome::Conflict(keys) => {
            Err(Error::Engine { engine: "copy", detail: format!("unexpected conflict on {keys:?}") })
        }
    }
}

/// The rows in batches of limited size.
fn batches(rows: Vec<Row>) -> Vec<Batch> {
    let mut batches = vec![Batch::new()];
    for row in rows {
        if batches.last().is_some_and(|batch| batch.bytes() >= BATCH_BYTES) {
            batches.push(Batch::new());
        }
        let Some(batch) = batches.last_mut() else { break };
        match row.key.table().kind {
            Kind::Versioned => batch.put(row.key, row.version, row.value),
            Kind::Plain => batch.set(row.key, row.value),
            Kind::Counter => add_in_steps(batch, &row),
        };
    }
    batches
}

/// The amount of a counter may exceed the limit of one add.
fn add_in_steps<'a>(batch: &'a mut Batch, row: &Row) -> &'a mut Batch {
    let mut left = row.amount();
    loop {
        let step = left.clamp(-crate::limits::ADD_MAX, crate::limits::ADD_MAX);
        batch.add(row.key.clone(), step);
        left -= step;
        if left == 0 {
            return batch;
        }
    }
}
