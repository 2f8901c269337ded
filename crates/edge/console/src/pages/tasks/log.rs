//! The log of a run.

use wire::torg::tasks::v1::ReadLogRequest;

use crate::limits::{LOG_PIECES_MAX, LOG_TAIL_BYTES};
use crate::services::Failure;
use crate::visit::Visit;

/// Beyond the end of any log: reading here returns the length of the log.
const BEHIND_ALL: u64 = i64::MAX.unsigned_abs();

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Log {
    pub(super) text: String,
    /// Offset of the text in the log.
    pub(super) begins: u64,
    /// Offset of the next piece.
    pub(super) next: u64,
    /// Bytes omitted because the output is too large.
    pub(super) left_out: u64,
    /// The run has ended and nothing follows.
    pub(super) complete: bool,
}

pub(super) async fn from(visit: &Visit, task: &str, run: u64, offset: u64) -> Result<Log, Failure> {
    let request = ReadLogRequest { task: task.to_owned(), run, offset, ..Default::default() };
    let piece = visit.call(&request).await?;
    Ok(Log {
        text: plain(&piece.text),
        begins: piece.offset,
        next: piece.next_offset,
        left_out: piece.left_out,
        complete: piece.complete,
    })
}

pub(super) async fn tail(visit: &Visit, task: &str, run: u64) -> Result<Log, Failure> {
    let total = from(visit, task, run, BEHIND_ALL).await?.next;
    let begins = total.saturating_sub(LOG_TAIL_BYTES);
    let mut tail = from(visit, task, run, begins).await?;
    if tail.begins > 0 {
        // Start with a whole line.
        let cut = tail.text.find('\n').map_or(0, |end| end + 1);
        tail.text.drain(..cut);
    }
    for _ in 1..LOG_PIECES_MAX {
        if tail.complete || tail.next >= total {
            break;
        }
        let piece = from(visit, task, run, tail.next).await?;
        if piece.next <= tail.next {
            break;
        }
        tail.text.push_str(&piece.text);
        tail.left_out += piece.left_out;
        (tail.next, tail.complete) = (piece.next, piece.complete);
    }
    Ok(tail)
}

/// The text without terminal escape sequences.
fn plain(bytes: &[u8]) -> String {
    let said = String::from_utf8_lossy(bytes);
    let mut text = String::with_capacity(said.len());
    let mut letters = said.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            if letters.next_if_eq(&'[').is_some() {
                // Parameters, then the final byte.
                while letters.next_if(|letter| !('@'..='~').contains(letter) && *letter != '\n').is_some() {}
                letters.next_if(|letter| ('@'..='~').contains(letter));
            }
        } else if !letter.is_control() || matches!(letter, '\n' | '\t') {
            text.push(letter);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_colours_a_text_on_a_terminal_is_left_out_and_lines_stay() {
        assert_eq!(plain(b"\x1b[1;31mred\x1b[0m\r\nplain\x07\tend"), "red\nplain\tend");
        assert_eq!(plain("вид\u{1b}".as_bytes()), "вид");
        assert_eq!(plain(b"\x1b[31"), "");
        assert_eq!(plain(b"\x1b[3\nnext"), "\nnext");
    }
}
