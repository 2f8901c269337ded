//! Detects the format from the text, never from a file name.

use crate::input::Text;
use crate::xml::{local, root_name};
use crate::{Code, Format, Problem, delimited, json};

/// Enough text to detect the format.
const PROBE_BYTES: usize = 16 << 10;
const MARK: char = '\u{FEFF}';

/// Detects the format. Skips white space before the text, with a warning where it is not allowed.
pub(crate) fn sniff(text: &mut Text<'_>) -> Result<(Format, Vec<Problem>), Box<Problem>> {
    let mut warnings = Vec::new();
    loop {
        while text.window().len() < PROBE_BYTES && !text.ended() {
            let filled = text.fill();
            if filled.is_err() && !text.window().is_empty() {
                break; // The error comes again when this is read.
            }
            filled?;
        }
        let window = text.window();
        let spaces = window.len() - window.trim_start_matches(|c: char| c.is_whitespace() || c == MARK).len();
        let declared = window[spaces..].starts_with("<?xml");
        if spaces > 0 && warnings.is_empty() && (declared || window.starts_with(MARK)) {
            let message = if window[..spaces].contains(MARK) {
                "there is a second byte order mark before the text"
            } else {
                "there is white space before the XML declaration"
            };
            warnings.push(*text.problem(Code::SpaceBeforeDeclaration, 0, message));
        }
        text.advance(spaces);
        if !text.window().is_empty() {
            break;
        }
        if text.ended() {
            return Err(text.problem(Code::EmptyFile, 0, "the file is empty"));
        }
    }
    Ok((format(text)?, warnings))
}

fn format(text: &mut Text<'_>) -> Result<Format, Box<Problem>> {
    match text.window().as_bytes().first() {
        Some(b'<') => {
            let root = root_name(text)?;
            by_root(&root).ok_or_else(|| text.problem(Code::UnknownFormat, 0, unknown_root(&root)))
        }
        Some(b'{' | b'[') => {
            json::sniff(text.window()).ok_or_else(|| text.problem(Code::UnknownFormat, 0, "this JSON has no offers"))
        }
        _ => delimited::sniff(text.window()).ok_or_else(|| {
            let message = "this is neither XML nor JSON, nor a table whose first line names columns such as id and title";
            text.problem(Code::UnknownFormat, 0, message)
        }),
    }
}

fn by_root(name: &str) -> Option<Format> {
    Some(match local(name).to_ascii_lowercase().as_str() {
        "torg-offers" => Format::OwnXml,
        "yml_catalog" | "torg_price" => Format::Yml,
        "ads" => Format::Avito,
        "rss" | "rdf" => Format::GoogleRss,
        "feed" => Format::GoogleAtom,
        _ => return None,
    })
}

fn unknown_root(name: &str) -> String {
    if name.eq_ignore_ascii_case("html") {
        return "this is a web page, not a feed".to_owned();
    }
    let name: String = name.chars().take(60).collect();
    format!("the root element <{name}> is none of torg-offers, yml_catalog, torg_price, Ads, rss, feed")
}
