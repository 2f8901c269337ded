//! Tables of Google Merchant fields, separated by tabs, commas or semicolons.

use crate::draft::{Context, Draft};
use crate::formats::google::{Field, plain_name, read_fields};
use crate::header::cut;
use crate::input::Text;
use crate::limits::{COLUMNS_MAX, OFFER_BYTES_MAX};
use crate::position::Position;
use crate::reader::Item;
use crate::split::{Flaw, Sink, Stop};
use crate::{Code, Format};
use std::borrow::Cow;

const DELIMITERS: [u8; 4] = [b'\t', b',', b';', b'|'];

/// The format, if the first line is the header of a table of offers.
pub(crate) fn sniff(text: &str) -> Option<Format> {
    let line = text.lines().map(str::trim_start).find(|line| !is_remark(line))?;
    let delimiter = delimiter(line)?;
    let columns: Vec<Cow<'_, str>> = cells(line, delimiter).into_iter().map(|cell| cell.value).collect();
    let has = |wanted: &[&str]| columns.iter().any(|column| wanted.contains(&plain_name(column).as_ref()));
    if !has(&["id"]) || !has(&["title", "price", "link", "description"]) {
        return None;
    }
    Some(if delimiter == b'\t' { Format::GoogleTsv } else { Format::GoogleCsv })
}

/// Templates have lines such as `# Required | ...` before their header.
fn is_remark(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn delimiter(line: &str) -> Option<u8> {
    let count = |delimiter: u8| memchr::memchr_iter(delimiter, line.as_bytes()).count();
    let best = DELIMITERS.into_iter().max_by_key(|delimiter| count(*delimiter))?;
    (count(best) > 0).then_some(best)
}

/// Splits a table into rows; its first row becomes the columns of the header.
pub(crate) fn split(text: &mut Text<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let mut delimiter_found = b'\t';
    let mut is_head = true;
    while !pass_empty_lines(text)? {
        let Some(end) = row_end(text, delimiter_found)? else {
            too_large(text, sink)?;
            continue;
        };
        let row = text.window()[..end].trim_end_matches(['\n', '\r']);
        if is_head && is_remark(row) {
            text.advance(end);
            continue;
        }
        if is_head {
            delimiter_found = delimiter(row).unwrap_or(b'\t');
            let columns = cells(row, delimiter_found).into_iter().take(COLUMNS_MAX);
            sink.header.columns = columns.map(|cell| cut(&cell.value)).collect();
            sink.header.columns.insert(0, char::from(delimiter_found).to_string());
            is_head = false;
        } else if !row.trim().is_empty() {
            sink.offer(row, text.position(), Flaw::None)?;
        }
        text.advance(end);
    }
    Ok(())
}

/// True at the end of the file.
fn pass_empty_lines(text: &mut Text<'_>) -> Result<bool, Stop> {
    loop {
        let window = text.window();
        let empty = window.len() - window.trim_start_matches(['\n', '\r']).len();
        text.advance(empty);
        if !text.window().is_empty() {
            return Ok(false);
        }
        if text.ended() {
            return Ok(true);
        }
        text.fill()?;
    }
}

/// The end of the first row of the window with its line end; `None` if it is too large.
fn row_end(text: &mut Text<'_>, delimiter: u8) -> Result<Option<usize>, Stop> {
    loop {
        match find_row_end(text.window().as_bytes(), delimiter) {
            Some(end) => return Ok(Some(end)),
            None if text.ended() && text.window().len() <= OFFER_BYTES_MAX => {
                // An unclosed quote: the line is taken as it is.
                let line = memchr::memchr(b'\n', text.window().as_bytes());
                return Ok(Some(line.map_or(text.window().len(), |end| end + 1)));
            }
            None if text.window().len() > OFFER_BYTES_MAX => {
                let line = memchr::memchr(b'\n', text.window().as_bytes());
                return Ok(line.map(|end| end + 1));
            }
            None => text.fill()?,
        }
    }
}

/// The first line end outside of quotes; only a quote at the start of a cell counts.
fn find_row_end(row: &[u8], delimiter: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        if row.get(at) == Some(&b'"') {
            at += closing_quote(&row[at + 1..])? + 2;
        }
        at += memchr::memchr2(delimiter, b'\n', row.get(at..)?)?;
        if row[at] == b'\n' {
            return Some(at + 1);
        }
        at += 1;
    }
}

/// The quote that ends a cell: not a doubled one.
fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr(b'"', &text[at..])?;
        match text.get(at + 1) {
            Some(b'"') => at += 2,
            _ => return Some(at),
        }
    }
}

fn too_large(text: &mut Text<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
    sink.too_large(text, "the row is larger than 1 MB")?;
    loop {
        if let Some(end) = memchr::memchr(b'\n', text.window().as_bytes()) {
            text.advance(end + 1);
            return Ok(());
        }
        text.advance(text.window().len());
        if text.ended() {
            return Ok(());
        }
        text.fill()?;
    }
}

/// A cell and its offset in the row.
#[derive(Debug, PartialEq)]
struct Cell<'r> {
    value: Cow<'r, str>,
    offset: usize,
}

fn cells(row: &str, delimiter: u8) -> Vec<Cell<'_>> {
    let bytes = row.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    loop {
        let quoted = (bytes.get(at) == Some(&b'"')).then(|| closing_quote(&bytes[at + 1..])).flatten();
        let from = quoted.map_or(at, |length| at + length + 2);
        let end = memchr::memchr(delimiter, &bytes[from..]).map_or(row.len(), |length| from + length);
        let value = match quoted {
            None => Cow::Borrowed(&row[at..end]),
            Some(length) => {
                let inside = &row[at + 1..at + 1 + length];
                let whole = if inside.contains("\"\"") {
                    Cow::Owned(inside.replace("\"\"", "\""))
                } else {
                    inside.into()
                };
                if from < end { Cow::Owned(format!("{whole}{}", &row[from..end])) } else { whole }
            }
        };
        found.push(Cell { value, offset: at + usize::from(quoted.is_some()) });
        if end >= row.len() || found.len() > COLUMNS_MAX {
            return found;
        }
        at = end + 1;
    }
}

pub(crate) fn parse(row: &str, at: Position, context: Context<'_>) -> Item {
    let mut draft = Draft::new(row, at, None, context);
    let Some((delimiter, columns)) = context.header.columns.split_first() else { return draft.end() };
    let found = cells(row, delimiter.as_bytes().first().copied().unwrap_or(b'\t'));
    if found.len() != columns.len() {
        let message = format!("{} cells, and {} columns", found.len(), columns.len());
        draft.problem(Code::WrongColumns, "", "", 0, message);
    }
    let fields: Vec<Field<'_>> = columns
        .iter()
        .zip(found)
        .map(|(name, cell)| Field { name, plain: plain_name(name), value: cell.value, offset: cell.offset })
        .collect();
    read_fields(&fields, draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(row: &str, delimiter: u8) -> Vec<String> {
        cells(row, delimiter).into_iter().map(|cell| cell.value.into_owned()).collect()
    }

    #[test]
    fn quotes_hold_delimiters_line_ends_and_doubled_quotes() {
        assert_eq!(values("a,\"b, \"\"c\"\"\nd\",e", b','), ["a", "b, \"c\"\nd", "e"]);
        assert_eq!(find_row_end(b"a,\"b\nc\"\nnext", b','), Some(8));
    }

    #[test]
    fn a_quote_inside_a_cell_is_itself() {
        assert_eq!(values("TV 24\" black\tx", b'\t'), ["TV 24\" black", "x"]);
        assert_eq!(find_row_end(b"TV 24\" black\tx\n", b'\t'), Some(15));
    }

    #[test]
    fn the_head_tells_the_format() {
        assert_eq!(sniff("id\ttitle\tprice\n"), Some(Format::GoogleTsv));
        assert_eq!(sniff("\"ID\",\"Title\",\"Image Link\"\n"), Some(Format::GoogleCsv));
        assert_eq!(sniff("name;phone\n"), None);
        assert_eq!(sniff("hello"), None);
    }
}
