//! `torg store check | copy | dump`: offline work on a store.

use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Subcommand;
use serde_json::json;
use store::{CopyProgress, KeyValue, Kind, Read as _, Row, Store};

use super::owner::require_own;
use node::config::Config;
use node::parts::{open_store_to_fill, open_store_to_read, store_error};
use terminal::errors::advised;
use terminal::{AlwaysJson, redraws_on_stderr, remark, say, state, table};
use text::hex;

/// Interval of progress updates on a terminal.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
/// Width of the progress bar, in characters.
const PROGRESS_WIDTH: u64 = 20;
/// Damages that are listed one by one.
const DAMAGES_SHOWN_MAX: usize = 50;
const DUMP_PAGE_ROWS: usize = 1000;

/// What can be done with a whole store.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Reads everything and reports what is damaged.
    Check {
        /// Prints one object of JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Copies a whole store into an empty one, on any engine.
    Copy {
        /// The store to read: fjall:DIR or postgres://...
        #[arg(long, value_name = "URL")]
        from: String,
        /// The store to fill.
        #[arg(long, value_name = "URL")]
        to: String,
        /// Prints one object of JSON when it is done.
        #[arg(long)]
        json: bool,
    },
    /// Prints every row as a line of JSON, by table and key: equal stores have equal dumps.
    Dump(AlwaysJson),
}

pub(crate) async fn run(command: StoreCommand, config: &Config) -> anyhow::Result<()> {
    match command {
        StoreCommand::Check { json } => check(config, json).await,
        StoreCommand::Copy { from, to, json } => copy(config, &from, &to, json).await,
        StoreCommand::Dump(_) => dump(config).await,
    }
}

async fn check(config: &Config, as_json: bool) -> anyhow::Result<()> {
    require_own(config.store.url.expose(), false)?;
    let store = open_store_to_read(config, config.store.url.expose()).await?;
    let (mut damages, mut count) = (Vec::new(), 0u64);
    let mut found = |damage| {
        count += 1;
        if damages.len() < DAMAGES_SHOWN_MAX {
            damages.push(damage);
        }
    };
    let counts = store.verify(&mut found).await.map_err(store_error)?;
    store.close().await.map_err(store_error)?;
    let (rows, unlisted) = (counts.values().sum::<u64>(), count - damages.len() as u64);
    let told: Vec<String> = damages.iter().map(ToString::to_string).collect();
    let answer = json!({ "rows": rows, "tables": counts, "damages": told, "more_damages": unlisted });
    say(as_json, &answer, || {
        let head = ["TABLE", "ROWS"].map(str::to_owned);
        let each = counts.iter().map(|(table, rows)| [(*table).to_owned(), rows.to_string()]);
        let mut lines = table(&std::iter::once(head).chain(each).collect::<Vec<_>>());
        lines.extend(told.iter().cloned());
        lines.extend((unlisted > 0).then(|| format!("... and {unlisted} more")));
        let sound = format!("{}: {rows} rows in {} tables", state("sound"), counts.len());
        lines.extend((count == 0).then_some(sound));
        lines
    })?;
    if count == 0 {
        return Ok(());
    }
    let count = if count == 1 { "1 row is".to_owned() } else { format!("{count} rows are") };
    Err(advised(format!("{count} damaged"), "restore this store from a copy"))
}

async fn copy(config: &Config, from: &str, to: &str, as_json: bool) -> anyhow::Result<()> {
    require_own(from, false)?;
    let source = open_store_to_read(config, from).await?;
    // The target takes its schema from the source, so that tables unknown to this program are
    // copied, too.
    let target = open_store_to_fill(config, to, source.schema().clone()).await.context("the target");
    let target = target?;
    let mut shown = Progress::new();
    let done = store::copy(&source, &target, &mut |at| shown.show(at)).await.map_err(store_error);
    shown.end();
    let closed = (source.close().await, target.close().await);
    let done = done?;
    closed.0.and(closed.1).map_err(store_error)?;
    let CopyProgress { rows, bytes, table_number: (_, tables), .. } = done;
    let answer = json!({ "rows": rows, "bytes": bytes, "tables": tables });
    say(as_json, &answer, || {
        vec![format!("copied {rows} rows, {} of values, {tables} tables", megabytes(bytes))]
    })
}

/// A line on the terminal that is redrawn.
struct Progress {
    started: Instant,
    last: Option<Instant>,
    on_terminal: bool,
}

impl Progress {
    fn new() -> Progress {
        Progress { started: Instant::now(), last: None, on_terminal: redraws_on_stderr() }
    }

    fn show(&mut self, at: CopyProgress) {
        if !self.on_terminal || self.last.is_some_and(|last| last.elapsed() < PROGRESS_INTERVAL) {
            return;
        }
        self.last = Some(Instant::now());
        let line = progress_line(&at, self.started.elapsed());
        remark(format!("\r\x1b[K{line}"));
    }

    fn end(&self) {
        if self.on_terminal {
            remark("\r\x1b[K");
        }
    }
}

/// The progress of a copy: by rows, or by tables if the number of rows is unknown.
fn progress_line(at: &CopyProgress, elapsed: Duration) -> String {
    let (number, tables) = at.table_number;
    let (done, all) = match at.rows_total {
        0 => (number.saturating_sub(1) as u64, tables as u64),
        // The total is an estimate: the copy may find more rows.
        total => (at.rows.min(total), total),
    };
    let filled = "#".repeat((done * PROGRESS_WIDTH / all.max(1)) as usize);
    let percent = match at.rows_total {
        0 => String::new(),
        total => format!(" {}%", done * 100 / total),
    };
    let speed = at.rows as f64 / elapsed.as_secs_f64().max(0.001);
    format!(
        "[{filled:<width$}]{percent} table {number}/{tables} {}: {} rows, {}, {speed:.0} rows/s",
        at.table,
        at.rows,
        megabytes(at.bytes),
        width = PROGRESS_WIDTH as usize,
    )
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

async fn dump(config: &Config) -> anyhow::Result<()> {
    require_own(config.store.url.expose(), false)?;
    let store = open_store_to_read(config, config.store.url.expose()).await?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written = dump_rows(&store, &mut out).await;
    store.close().await.map_err(store_error)?;
    match written {
        // A closed pipe (`| head`) is not an error.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        other => other,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let of_stream = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    let of_json = error.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
    of_stream.or(of_json) == Some(std::io::ErrorKind::BrokenPipe)
}

async fn dump_rows(store: &Store, out: &mut impl Write) -> anyhow::Result<()> {
    let snapshot = store.snapshot().await.map_err(store_error)?;
    for table in store.schema().tables() {
        let mut next = Some(table.scan().limit(DUMP_PAGE_ROWS));
        while let Some(scan) = next.take() {
            let page = snapshot.scan(&scan).await.map_err(store_error)?;
            next = page.next.map(|key| scan.after(key));
            for row in &page.rows {
                serde_json::to_writer(&mut *out, &shown(row)?)?;
                out.write_all(b"\n")?;
            }
        }
    }
    out.flush()?;
    Ok(())
}

/// A row as JSON, with its key columns by name and bytes in hexadecimal.
fn shown(row: &Row) -> anyhow::Result<serde_json::Value> {
    let table = row.key.table();
    let mut key = serde_json::Map::new();
    for (name, value) in table.columns.iter().zip(row.key.values().map_err(store_error)?) {
        let value = match value {
            KeyValue::U32(number) => number.into(),
            KeyValue::I64(number) => number.into(),
            KeyValue::Text(text) => text.into(),
            KeyValue::Bytes(bytes) => hex(&bytes).into(),
        };
        key.insert((*name).to_owned(), value);
    }
    Ok(match table.kind {
        Kind::Versioned => {
            json!({"table": table.name, "key": key, "version": row.version, "value": hex(&row.value)})
        }
        Kind::Plain => json!({"table": table.name, "key": key, "value": hex(&row.value)}),
        Kind::Counter => json!({"table": table.name, "key": key, "amount": row.amount()}),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_shown_by_rows_where_their_number_is_known() {
        let second = Duration::from_secs(1);
        let mut at =
            CopyProgress { table: "t", table_number: (1, 4), rows: 50, bytes: 1_500_000, rows_total: 200 };
        assert_eq!(
            progress_line(&at, second),
            "[#####               ] 25% table 1/4 t: 50 rows, 1.5 MB, 50 rows/s"
        );
        at.rows = 300;
        assert!(progress_line(&at, second).starts_with("[####################] 100% table 1/4"));
        (at.rows_total, at.table_number.0) = (0, 3);
        assert_eq!(
            progress_line(&at, second),
            "[##########          ] table 3/4 t: 300 rows, 1.5 MB, 300 rows/s"
        );
    }
}
