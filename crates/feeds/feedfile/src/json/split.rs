//! Splits a JSON stream into offers: an object with `offers`, an array, or one object a line.

use super::object::Value;
use crate::input::Text;
use crate::limits::{DEPTH_MAX, OFFER_BYTES_MAX};
use crate::split::{Flaw, Sink, Stop};
use crate::{Code, Format};

/// Keys of the array of offers.
const OFFERS: [&str; 3] = ["offers", "items", "ads"];
/// Keys that only a parsed profile has.
const PROFILE: [&str; 2] = ["profile", "uid"];

#[derive(Debug, Default)]
struct Scan {
    depth: usize,
    deepest: usize,
    in_string: bool,
    escaped: bool,
    begun: bool,
}

impl Scan {
    /// The length of the value in `bytes`, if it ends there; else the scan continues with the next
    /// bytes.
    fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_string {
                at += self.pass_string(&bytes[at..]);
                if !self.in_string && self.depth == 0 {
                    return Some(at);
                }
                continue;
            }
            match bytes[at] {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth <= 1 => return Some(if self.depth == 1 { at + 1 } else { at }),
                b'}' | b']' => self.depth -= 1,
                b',' | b'\n' | b' ' | b'\t' | b'\r' if self.depth == 0 && self.begun => return Some(at),
                _ => {}
            }
            self.begun = true;
            self.deepest = self.deepest.max(self.depth);
            at += 1;
        }
        None
    }

    /// Skips the rest of a string; returns its bytes.
    fn pass_string(&mut self, bytes: &[u8]) -> usize {
        if self.escaped {
            self.escaped = false;
            return 1;
        }
        match memchr::memchr2(b'"', b'\\', bytes) {
            None => bytes.len(),
            Some(at) => {
                self.in_string = bytes[at] != b'"';
                self.escaped = bytes[at] == b'\\';
                at + 1
            }
        }
    }
}

/// The format of a text that begins with a bracket.
pub(crate) fn sniff(text: &str) -> Option<Format> {
    let text = text.trim_start();
    match text.as_bytes().first()? {
        b'[' => Some(Format::OwnJson),
        b'{' => Some(if keys(text).iter().any(|key| PROFILE.contains(&key.as_str())) && !is_lines(text) {
            Format::ParsedProfile
        } else {
            Format::OwnJson
        }),
        _ => None,
    }
}

/// Whether the first object is an offer itself.
fn is_lines(text: &str) -> bool {
    let keys = keys(text);
    let has = |wanted: &str| keys.iter().any(|key| key == wanted);
    !OFFERS.iter().any(|key| has(key)) && has("title") && (has("id") || has("external_id") || has("uid"))
}

/// The keys of the first object of the text, as far as they are visible.
fn keys(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text.trim_start().strip_prefix('{').unwrap_or_default();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        let Some(key_end) = Scan::default().feed(rest.as_bytes()).filter(|_| rest.starts_with('"')) else {
            return found;
        };
        found.push(Value::whole(&rest[..key_end]).text().unwrap_or_default().into_owned());
        rest = rest[key_end..].trim_start().strip_prefix(':').unwrap_or_default().trim_start();
        let Some(value_end) = Scan::default().feed(rest.as_bytes()) else { return found };
        rest = &rest[value_end..];
    }
}

pub(crate) fn split(text: &mut Text<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let first = peek(text, b"")?;
    match first {
        Some(b'[') => {
            text.advance(1);
            array(text, sink)?;
        }
        Some(b'{') if !is_lines(text.window()) => {
            text.advance(1);
            document(text, sink)?;
        }
        _ => return lines(text, sink),
    }
    if peek(text, b"")?.is_some() {
        sink.problem(*text.problem(Code::ExtraContent, 0, "there is content after the end"));
    }
    Ok(())
}

/// Skips white space and `also`; the next byte, or `None` at the end of the file.
fn peek(text: &mut Text<'_>, also: &[u8]) -> Result<Option<u8>, Stop> {
    loop {
        let passed = |byte: &u8| !(byte.is_ascii_whitespace() || also.contains(byte));
        match text.window().bytes().position(|byte| passed(&byte)) {
            Some(at) => {
                text.advance(at);
                return Ok(text.window().bytes().next());
            }
            None if text.ended() => return Ok(None),
            None => {
                text.advance(text.window().len());
                text.fill()?;
            }
        }
    }
}

fn lines(text: &mut Text<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
    while peek(text, b",")?.is_some() {
        offer(text, sink)?;
    }
    Ok(())
}

fn array(text: &mut Text<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
    loop {
        match peek(text, b",")? {
            Some(b']') => {
                text.advance(1);
                return Ok(());
            }
            Some(b'}' | b':') => return Err(unexpected(text)),
            Some(_) => offer(text, sink)?,
            None => return Err(cut_off(text)),
        }
    }
}

fn document(text: &mut Text<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
    loop {
        match peek(text, b",")? {
            Some(b'}') => {
                text.advance(1);
                return Ok(());
            }
            Some(b'"') => {}
            Some(_) => return Err(unexpected(text)),
            None => return Err(cut_off(text)),
        }
        let (end, _) = value_end(text)?.ok_or_else(|| unexpected(text))?;
        let key = Value::whole(&text.window()[..end]).text().unwrap_or_default().into_owned();
        text.advance(end);
        if peek(text, b"")? != Some(b':') {
            return Err(unexpected(text));
        }
        text.advance(1);
        let first = peek(text, b"")?;
        if OFFERS.contains(&key.as_str()) && first == Some(b'[') {
            text.advance(1);
            array(text, sink)?;
        } else {
            header(text, sink, &key)?;
        }
    }
}

fn header(text: &mut Text<'_>, sink: &mut Sink<'_>, key: &str) -> Result<(), Stop> {
    if let Some((end, _)) = value_end(text)? {
        let at = text.position();
        let value = Value::whole(&text.window()[..end]);
        crate::formats::own_json::read_header(&mut sink.header, key, value, at);
        text.advance(end);
        return Ok(());
    }
    sink.problem(*text.problem(Code::WrongHeader, 0, format!("{key} is larger than 1 MB and is skipped")));
    pass_value(text)
}

fn offer(text: &mut Text<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let Some((end, deepest)) = value_end(text)? else {
        sink.too_large(text, "the offer is larger than 1 MB")?;
        return pass_value(text);
    };
    let flaw = if deepest > DEPTH_MAX {
        Flaw::Broken(Code::BrokenOffer, "brackets are nested too deep")
    } else {
        Flaw::None
    };
    if end == 0 {
        return Err(unexpected(text));
    }
    sink.offer(&text.window()[..end], text.position(), flaw)?;
    text.advance(end);
    Ok(())
}

/// The end and depth of the first value of the window; `None` if it is too large.
fn value_end(text: &mut Text<'_>) -> Result<Option<(usize, usize)>, Stop> {
    let mut scan = Scan::default();
    let mut seen = 0;
    loop {
        if let Some(length) = scan.feed(&text.window().as_bytes()[seen..]) {
            return Ok((seen + length <= OFFER_BYTES_MAX).then_some((seen + length, scan.deepest)));
        }
        seen = text.window().len();
        if seen > OFFER_BYTES_MAX {
            return Ok(None);
        }
        if text.ended() {
            return if scan.depth == 0 && !scan.in_string { Ok(Some((seen, 0))) } else { Err(cut_off(text)) };
        }
        text.fill()?;
    }
}

fn pass_value(text: &mut Text<'_>) -> Result<(), Stop> {
    let mut scan = Scan::default();
    loop {
        if let Some(length) = scan.feed(text.window().as_bytes()) {
            text.advance(length);
            return Ok(());
        }
        text.advance(text.window().len());
        if text.ended() {
            return Err(cut_off(text));
        }
        text.fill()?;
    }
}

fn unexpected(text: &Text<'_>) -> Stop {
    let found = text.window().chars().next().map_or("the end".to_owned(), |c| format!("`{c}`"));
    text.problem(Code::BrokenFile, 0, format!("{found} is not expected here")).into()
}

fn cut_off(text: &Text<'_>) -> Stop {
    text.problem(Code::BrokenFile, text.window().len(), "the file ends before its last bracket").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_ends_where_its_bracket_or_quote_does() {
        for (text, length) in [("{\"a\":\"}\\\"\"} ", 11), ("\"x,y\",", 5), ("12, 3", 2), ("[[1],2]]", 7)] {
            assert_eq!(Scan::default().feed(text.as_bytes()), Some(length), "{text}");
            let mut scan = Scan::default();
            let parts = text.as_bytes().iter().position(|byte| scan.feed(&[*byte]).is_some());
            assert!(parts.is_some_and(|at| at == length || at + 1 == length), "{text} byte by byte");
        }
    }

    #[test]
    fn a_profile_is_told_from_plain_offers() {
        assert_eq!(sniff("{\"profile\": {}, \"offers\": []}"), Some(Format::ParsedProfile));
        assert_eq!(sniff(" {\"offers\": [{\"uid\": 1}]}"), Some(Format::OwnJson));
        assert_eq!(sniff("[{}]"), Some(Format::OwnJson));
        assert_eq!(keys("{\"a\": [1], \"b\" : {\"c\": 2}, \"d"), ["a", "b"]);
    }
}
