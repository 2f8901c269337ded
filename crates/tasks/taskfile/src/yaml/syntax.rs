//! Messages of the YAML parser in helpful words.

use crate::location::Location;
use crate::notes::Notes;
use crate::problem::Code;
use saphyr_parser::ScanError;

/// Lines after an error in which a tab may be its cause.
const TAB_LINES: usize = 3;

/// What the parser says of a key without its `:`.
const KEY_WITHOUT_COLON: &str = "simple key expect ':'";

/// A part of the parser's message, the message shown instead, and the remedy.
const SAYINGS: &[(&str, &str, &str)] = &[
    (
        "mapping values are not allowed",
        "a `:` where no key can be",
        "keys of one mapping begin in the same column, and more to the right than the key above them; a text with `: ` in it needs quotes",
    ),
    (
        "did not find expected key",
        "the indentation fits no mapping above",
        "keys of one mapping begin in the same column",
    ),
    (
        "did not find expected '-'",
        "a list ends here without the indentation of what goes on",
        "items of one list begin with `- ` in the same column; keys beside the list begin where its own key begins",
    ),
    (KEY_WITHOUT_COLON, "this line is no `key: value`", "put a `:` and a space behind every key"),
    (
        "expected ',' or '}'",
        "a `{` is not closed, or a `,` is missing",
        "write `{key: value, key: value}`; a text with `{` or `}` in it, such as `${NAME}`, needs quotes there",
    ),
    (
        "expected ',' or ']'",
        "a `[` is not closed, or a `,` is missing",
        "write `[one, two]`; a text with `[` or `]` in it needs quotes there",
    ),
    (
        "illegal placement of ':'",
        "a `[` or `{` is not closed before this line",
        "write `[one, two]` and `{key: value}`",
    ),
    (
        "unknown anchor",
        "anchors (`&name`) and aliases (`*name`) are not used in task files",
        "a text that begins with `*` needs quotes",
    ),
    ("unexpected character", "a text cannot begin with this character", "put quotes around the text"),
    (
        "unknown escape",
        "this text in double quotes has a `\\` that means nothing",
        "write `\\\\`, or use single quotes",
    ),
    ("trailing content", "there is text after the closing quote", "put the whole text into quotes"),
    ("quoted scalar", "the quote that opens here is not closed", "close it before the next key"),
    ("recursion", "too many lists and mappings are nested here", "nothing in a task file is so deep"),
];

pub(super) fn note(notes: &mut Notes, file: u32, text: &str, error: &ScanError) {
    let (info, marker) = (error.info(), error.marker());
    let place = Location::new(file, marker.line() as u32, marker.col() as u32 + 1);
    if let Some(place) = info.contains("tab").then(|| tab_near(file, text, marker.line())).flatten() {
        notes
            .error(Code::Tab, place, "a tab in the indentation: YAML allows spaces alone")
            .remedy("indent with two spaces, and have your editor insert spaces");
        return;
    }
    // The parser notices a key without its `:` only where the next one begins.
    let place = if info.contains(KEY_WITHOUT_COLON) { line_before(file, text, place) } else { place };
    let known = SAYINGS.iter().find(|(part, ..)| info.contains(part));
    match known {
        Some((_, message, remedy)) => notes.error(Code::Syntax, place, *message).remedy(*remedy),
        None => notes
            .error(Code::Syntax, place, format!("this is no YAML: {info}"))
            .remedy("look at the indentation, the quotes and the brackets in this line and the one above"),
    };
}

/// Where the text begins in the last non-empty line before a location.
fn line_before(file: u32, text: &str, place: Location) -> Location {
    let before = text.lines().enumerate().take(place.at.line as usize - 1);
    let filled = before.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    filled.last().map_or(place, |(number, line)| {
        let column = line.chars().take_while(|c| c.is_whitespace()).count();
        Location::new(file, number as u32 + 1, column as u32 + 1)
    })
}

/// The first tab in the indentation of this line or one of the next ones.
fn tab_near(file: u32, text: &str, line: usize) -> Option<Location> {
    text.lines().enumerate().skip(line.saturating_sub(1)).take(TAB_LINES).find_map(|(number, line)| {
        let indentation = line.chars().take_while(|c| c.is_whitespace());
        let column = indentation.take_while(|c| *c != '\t').count();
        line.chars().nth(column).filter(|c| *c == '\t')?;
        Some(Location::new(file, number as u32 + 1, column as u32 + 1))
    })
}
