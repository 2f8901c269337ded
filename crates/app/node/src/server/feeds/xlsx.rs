//! Writes a report as an Excel workbook. It is built on disk row by row and then streamed, so
//! memory use does not depend on its size.

use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use api::{ProblemRow, Refusal, Report};
use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use rust_xlsxwriter::{Format, Workbook, XlsxError};
use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc;

use super::csv::COLUMNS;

pub(super) const CONTENT_TYPE: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
/// Maximum number of rows. A load keeps fewer problems.
const ROWS_MAX: u32 = 1_048_575;
/// Maximum length of a cell. The format allows more.
const CELL_CHARS_MAX: usize = 2_000;
/// Pages buffered for the thread that writes.
const PAGES_AHEAD: usize = 2;
const PIECE_BYTES: usize = 64 * 1024;
/// Column widths in characters.
const WIDTHS: [f64; COLUMNS.len()] = [16.0, 40.0, 10.0, 24.0, 20.0, 30.0, 8.0, 8.0, 60.0, 60.0, 40.0];

#[derive(Debug)]
pub(super) enum Error {
    Refused(Refusal),
    Failed(anyhow::Error),
}

/// Builds the whole report in this folder.
pub(super) async fn body(mut report: Report, folder: &Path) -> Result<Body, Error> {
    let (sender, pages) = mpsc::channel(PAGES_AHEAD);
    let folder: PathBuf = folder.to_owned();
    let writing = tokio::task::spawn_blocking(move || write(pages, &folder));
    while let Some(rows) = report.next().await.map_err(Error::Refused)? {
        if sender.send(rows).await.is_err() {
            // The thread has failed and returns the reason.
            break;
        }
    }
    drop(sender);
    let written = writing.await.map_err(anyhow::Error::from).and_then(|written| written);
    let file = tokio::fs::File::from_std(written.map_err(Error::Failed)?);
    Ok(Body::from_stream(stream::try_unfold(file, async |mut file| {
        let mut piece = vec![0; PIECE_BYTES];
        let read = file.read(&mut piece).await?;
        piece.truncate(read);
        Ok::<_, std::io::Error>((read > 0).then(|| (Bytes::from(piece), file)))
    })))
}

/// Writes the pages to an unnamed file, which is deleted when it is closed.
fn write(mut pages: mpsc::Receiver<Vec<ProblemRow>>, folder: &Path) -> anyhow::Result<File> {
    let mut workbook = Workbook::new();
    workbook.set_tempdir(folder)?;
    let sheet = workbook.add_worksheet_with_constant_memory()?;
    sheet.set_name("problems")?;
    let bold = Format::new().set_bold();
    for (column, (title, width)) in (0..).zip(COLUMNS.iter().zip(WIDTHS)) {
        sheet.set_column_width(column, width)?;
        sheet.write_string_with_format(0, column, *title, &bold)?;
    }
    sheet.set_freeze_panes(1, 0)?;
    let mut line = 0;
    while let Some(rows) = pages.blocking_recv() {
        for row in rows.iter().take((ROWS_MAX - line) as usize) {
            line += 1;
            write_row(sheet, line, row)?;
        }
    }
    let mut file = tempfile::tempfile_in(folder)?;
    workbook.save_to_writer(&mut file)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

fn write_row(sheet: &mut rust_xlsxwriter::Worksheet, line: u32, row: &ProblemRow) -> Result<(), XlsxError> {
    let texts = [&row.offer, &row.title, row.severity, &row.code, &row.field, &row.value];
    for (column, text) in (0..).zip(texts) {
        sheet.write_string(line, column, text::head(text, CELL_CHARS_MAX))?;
    }
    for (column, number) in (6..).zip([row.line, row.column]) {
        if number > 0 {
            sheet.write_number(line, column, number)?;
        }
    }
    for (column, text) in (8..).zip([&row.message, &row.remedy, &row.link]) {
        sheet.write_string(line, column, text::head(text, CELL_CHARS_MAX))?;
    }
    Ok(())
}
