//! Commands that do one thing and end: one file each.

use std::io::Write as _;

pub(crate) mod catalog;
pub(crate) mod ctl;
pub(crate) mod explain;
pub(crate) mod feed;
pub(crate) mod keys;
mod remote;
pub(crate) mod stages;
mod stages_new;
pub(crate) mod store;
pub(crate) mod tasks;
pub(crate) mod topic;
mod topic_server;

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// Writes lines to stdout; a reader that went away (`| head`) is no error.
fn print(lines: &[impl std::fmt::Display]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in lines {
        match writeln!(out, "{line}") {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
            other => other?,
        }
    }
    Ok(())
}

/// Lines of a table whose columns are as wide as they need be; the first row is its head.
fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let line = |row: &[String; COLUMNS]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
