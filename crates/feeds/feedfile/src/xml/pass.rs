//! Skips XML text of any size.

use super::scan::{Kind, Token, token};
use crate::Code;
use crate::input::Text;
use crate::limits::{HEADER_BYTES_MAX, OFFER_BYTES_MAX};
use crate::position::floor_boundary;
use crate::split::{Sink, Stop};

pub(super) enum Next {
    Token(Token),
    /// A token whose end is not in the window.
    TooLong,
    End,
}

pub(super) fn next_token(text: &mut Text<'_>) -> Result<Next, Stop> {
    loop {
        if !text.window().is_empty()
            && let Some(found) = token(text.window().as_bytes(), 0)
        {
            return Ok(Next::Token(found));
        }
        if text.ended() {
            return Ok(Next::End);
        }
        if text.window().len() > OFFER_BYTES_MAX {
            return Ok(Next::TooLong);
        }
        text.fill()?;
    }
}

/// Skips a token whose end is not in the window.
pub(super) fn pass_token(text: &mut Text<'_>) -> Result<(), Stop> {
    let window = text.window();
    let mark = if window.starts_with("<![CDATA[") {
        "]]>"
    } else if window.starts_with("<!--") {
        "-->"
    } else {
        ">"
    };
    loop {
        if let Some(found) = text.window().find(mark) {
            text.advance(found + mark.len());
            return Ok(());
        }
        let passed = floor_boundary(text.window(), text.window().len().saturating_sub(mark.len()));
        text.advance(passed);
        if text.ended() {
            text.advance(text.window().len());
            return Ok(());
        }
        text.fill()?;
    }
}

/// The end of a start tag with its quotes ignored, for when one is missing; `None` if it is not a
/// start tag.
pub(super) fn tag_without_quotes(window: &str, at: usize) -> Option<usize> {
    let tag = window.get(at..)?;
    let is_start = tag.starts_with('<') && !tag[1..].starts_with(['/', '!', '?']);
    let end = tag.find('>').filter(|_| is_start)?;
    tag[..end].contains(['"', '\'']).then_some(at + end + 1)
}

/// The end of the first element of the window; `None` if it is too large for a header or not
/// closed.
pub(super) fn element_end(
    text: &mut Text<'_>,
    start: Token,
    name: &str,
    closed: bool,
) -> Result<Option<usize>, Stop> {
    if closed {
        return Ok(Some(start.end));
    }
    let mut at = start.end;
    loop {
        let found = if at < text.window().len() { token(text.window().as_bytes(), at) } else { None };
        match found {
            _ if at > HEADER_BYTES_MAX => return Ok(None),
            Some(Token { kind: Kind::End { name_end }, end }) if &text.window()[at + 2..name_end] == name => {
                return Ok(Some(end));
            }
            Some(found) => at = found.end,
            None if text.ended() || text.window().len() > OFFER_BYTES_MAX => return Ok(None),
            None => text.fill()?,
        }
    }
}

/// Reads the rest of the file: content after the root element is a warning, and an archive must be
/// intact to its end.
pub(super) fn rest(text: &mut Text<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let mut said = false;
    loop {
        let window = text.window();
        let spaces = window.len() - window.trim_start().len();
        text.advance(spaces);
        let window = text.window();
        if window.is_empty() {
            if text.ended() {
                return Ok(());
            }
            text.fill()?;
            continue;
        }
        match token(window.as_bytes(), 0) {
            Some(Token { kind: Kind::Comment | Kind::Instruction, end }) => text.advance(end),
            None if !text.ended() && window.len() < HEADER_BYTES_MAX => text.fill()?,
            _ => {
                if !said {
                    sink.problem(*text.problem(
                        Code::ExtraContent,
                        0,
                        "there is content after the end of the root element",
                    ));
                }
                said = true;
                text.advance(text.window().len());
            }
        }
    }
}
