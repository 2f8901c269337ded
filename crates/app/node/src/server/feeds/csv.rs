//! Writes a report as CSV (RFC 4180) for spreadsheets: with a byte order mark, and protected
//! against formula injection.

use std::fmt::Write as _;

use api::{ProblemRow, Report};
use axum::body::Body;
use bytes::Bytes;
use futures::stream;

pub(super) const CONTENT_TYPE: &str = "text/csv; charset=utf-8; header=present";
pub(super) const COLUMNS: [&str; 11] = [
    "offer id", "title", "severity", "code", "field", "value", "line", "column", "message", "remedy", "link",
];
/// Without a byte order mark spreadsheets assume another encoding than UTF-8.
const MARK: char = '\u{feff}';

/// Streams the report page by page. An error aborts the response.
pub(super) fn body(report: Report) -> Body {
    let head = format!("{MARK}{}\r\n", COLUMNS.join(","));
    Body::from_stream(stream::try_unfold((report, Some(head)), async |(mut report, head)| {
        let page = match head {
            Some(head) => Some(head),
            None => report.next().await.map_err(connectrpc::ConnectError::from)?.map(|rows| lines(&rows)),
        };
        Ok::<_, connectrpc::ConnectError>(page.map(|text| (Bytes::from(text), (report, None))))
    }))
}

fn lines(rows: &[ProblemRow]) -> String {
    let mut text = String::new();
    for row in rows {
        let place = |number: u32| if number == 0 { String::new() } else { number.to_string() };
        let (line, column) = (place(row.line), place(row.column));
        let cells: [&str; COLUMNS.len()] = [
            &row.offer,
            &row.title,
            row.severity,
            &row.code,
            &row.field,
            &row.value,
            &line,
            &column,
            &row.message,
            &row.remedy,
            &row.link,
        ];
        for (number, cell) in cells.into_iter().enumerate() {
            if number > 0 {
                text.push(',');
            }
            write_cell(&mut text, cell);
        }
        text.push_str("\r\n");
    }
    text
}

/// Quotes a cell. A text that looks like a formula gets a leading apostrophe, which spreadsheets
/// read as "this is text".
fn write_cell(text: &mut String, cell: &str) {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let guard = if is_formula { "'" } else { "" };
    if is_formula || cell.contains(['"', ',', ';', '\r', '\n']) || cell.trim() != cell {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "\"{guard}{}\"", cell.replace('"', "\"\""));
    } else {
        text.push_str(cell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula_and_none_breaks_its_line() {
        let written = |cell: &str| {
            let mut text = String::new();
            write_cell(&mut text, cell);
            text
        };
        for (cell, expected) in [
            ("диван", "диван"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=1+1", "\"'=1+1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("+7 900", "\"'+7 900\""),
            ("-5", "\"'-5\""),
            ("\t=1", "\"'\t=1\""),
            ("", ""),
        ] {
            assert_eq!(written(cell), expected);
        }
    }
}
