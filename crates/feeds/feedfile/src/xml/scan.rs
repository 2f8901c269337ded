//! Finds XML tokens without validating them.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text up to the next `<` or the end.
    Text,
    /// A `<` that begins no markup; it is text.
    BareLess,
    Comment,
    CData,
    Instruction,
    /// A document type; `subset` if it has an internal one.
    Doctype {
        subset: bool,
    },
    /// A start tag; the name is the text between `<` and `name_end`.
    Start {
        name_end: usize,
        closed: bool,
        less_in_value: bool,
    },
    /// An end tag; the name is the text between `</` and `name_end`.
    End {
        name_end: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) end: usize,
}

/// The token at `at`, which is inside `text`; `None` if its end is not there.
pub(super) fn token(text: &[u8], at: usize) -> Option<Token> {
    let rest = &text[at..];
    if rest[0] != b'<' {
        let end = memchr::memchr(b'<', rest).map_or(text.len(), |next| at + next);
        return Some(Token { kind: Kind::Text, end });
    }
    match rest.get(1)? {
        b'/' => end_tag(text, at),
        b'?' => until(text, at, b"?>", Kind::Instruction),
        b'!' => declaration(text, at),
        byte if begins_name(*byte) => start_tag(text, at),
        _ => Some(Token { kind: Kind::BareLess, end: at + 1 }),
    }
}

fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b':' || byte >= 0x80
}

fn ends_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'=' | b'<' | b'"' | b'\'')
}

fn until(text: &[u8], at: usize, mark: &[u8], kind: Kind) -> Option<Token> {
    let from = at + 2;
    let found = memchr::memmem::find(&text[from.min(text.len())..], mark)?;
    Some(Token { kind, end: from + found + mark.len() })
}

fn declaration(text: &[u8], at: usize) -> Option<Token> {
    const CDATA: &[u8] = b"<![CDATA[";
    const COMMENT: &[u8] = b"<!--";
    const DOCTYPE: &[u8] = b"<!DOCTYPE";
    let rest = &text[at..];
    let head = &rest[..rest.len().min(DOCTYPE.len())];
    if rest.starts_with(CDATA) {
        let found = memchr::memmem::find(&rest[CDATA.len()..], b"]]>")?;
        return Some(Token { kind: Kind::CData, end: at + CDATA.len() + found + 3 });
    }
    if rest.starts_with(COMMENT) {
        let found = memchr::memmem::find(&rest[COMMENT.len()..], b"-->")?;
        return Some(Token { kind: Kind::Comment, end: at + COMMENT.len() + found + 3 });
    }
    if head.eq_ignore_ascii_case(DOCTYPE) {
        return doctype(text, at);
    }
    let unfinished =
        head.len() < DOCTYPE.len() && [CDATA, COMMENT, DOCTYPE].iter().any(|mark| mark.starts_with(head));
    if unfinished { None } else { Some(Token { kind: Kind::BareLess, end: at + 1 }) }
}

fn doctype(text: &[u8], at: usize) -> Option<Token> {
    let mut place = at + 1;
    loop {
        place += text[place..].iter().position(|byte| matches!(byte, b'>' | b'[' | b'"' | b'\''))?;
        match text[place] {
            b'>' => return Some(Token { kind: Kind::Doctype { subset: false }, end: place + 1 }),
            b'[' => return Some(Token { kind: Kind::Doctype { subset: true }, end: place + 1 }),
            quote => place += memchr::memchr(quote, &text[place + 1..])? + 2,
        }
    }
}

fn end_tag(text: &[u8], at: usize) -> Option<Token> {
    let end = at + memchr::memchr(b'>', &text[at..])? + 1;
    let name_end = at + 2 + text[at + 2..end].iter().position(|byte| ends_name(*byte))?;
    Some(Token { kind: Kind::End { name_end }, end })
}

fn start_tag(text: &[u8], at: usize) -> Option<Token> {
    let name_end = at + 1 + text[at + 1..].iter().position(|byte| ends_name(*byte))?;
    let mut place = name_end;
    let mut less_in_value = false;
    loop {
        place += memchr::memchr3(b'>', b'"', b'\'', &text[place..])?;
        if text[place] == b'>' {
            let closed = text[place - 1] == b'/' && place > name_end;
            return Some(Token { kind: Kind::Start { name_end, closed, less_in_value }, end: place + 1 });
        }
        let quoted = memchr::memchr(text[place], &text[place + 1..])?;
        less_in_value |= memchr::memchr(b'<', &text[place + 1..place + 1 + quoted]).is_some();
        place += quoted + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        let (mut at, mut found) = (0, Vec::new());
        while at < text.len() {
            let Some(token) = token(text.as_bytes(), at) else { break };
            found.push(token.kind);
            at = token.end;
        }
        found
    }

    #[test]
    fn a_greater_sign_inside_quotes_does_not_end_a_tag() {
        let found = kinds("<a b='1>2' c=\"<p>\"/>x</a>");
        let start = Kind::Start { name_end: 2, closed: true, less_in_value: true };
        assert_eq!(found, [start, Kind::Text, Kind::End { name_end: 24 }]);
    }

    #[test]
    fn a_less_sign_that_begins_nothing_is_text() {
        assert_eq!(kinds("a < 5"), [Kind::Text, Kind::BareLess, Kind::Text]);
        assert_eq!(kinds("<3"), [Kind::BareLess, Kind::Text]);
    }

    #[test]
    fn a_document_type_shows_its_internal_subset() {
        assert_eq!(kinds("<!DOCTYPE a SYSTEM \"b[.dtd\">"), [Kind::Doctype { subset: false }]);
        assert_eq!(kinds("<!DOCTYPE a [")[0], Kind::Doctype { subset: true });
    }

    #[test]
    fn what_is_cut_waits_for_more() {
        for cut in ["<", "<a", "<a b='>", "<!-", "<!-- >", "<![CDATA[ > ]]", "<?xml", "</a", "<!DOCTYPE x"] {
            assert_eq!(kinds(cut), [], "{cut}");
        }
    }
}
