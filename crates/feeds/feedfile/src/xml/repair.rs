//! Makes the text of an offer well-formed where that needs no guessing.

use super::scan::{Kind, token};
use crate::Code;
use std::borrow::Cow;

/// A text in which every `&` and `<` is markup, and the differences from the original.
#[derive(Debug)]
pub(crate) struct Repaired<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Repairs, at offsets of the original.
    pub(crate) mended: Vec<(Code, usize)>,
    /// From each offset on, the repaired text is this much longer than the original.
    shifts: Vec<(usize, usize)>,
}

impl Repaired<'_> {
    /// The offset in the original of an offset in the repaired text.
    pub(crate) fn original(&self, offset: usize) -> usize {
        let next = self.shifts.partition_point(|(from, _)| *from <= offset);
        if next == 0 { offset } else { offset - self.shifts[next - 1].1 }
    }
}

/// Escapes literal `&` and `<`, and replaces control characters by spaces, except in CDATA
/// sections. `irregular` means that the splitter saw a literal `<`.
pub(crate) fn repair(text: &str, irregular: bool) -> Repaired<'_> {
    let sound =
        !irregular && !has_bare_ampersand(text) && !text.bytes().any(is_control) && !has_noncharacter(text);
    let mut repaired = Repaired { text: Cow::Borrowed(text), mended: Vec::new(), shifts: Vec::new() };
    if !sound {
        let mut writer =
            Writer { text, out: String::with_capacity(text.len() + 64), done: 0, repaired: &mut repaired };
        writer.run();
        let out = std::mem::take(&mut writer.out);
        if !repaired.mended.is_empty() {
            repaired.text = Cow::Owned(out);
        }
    }
    repaired
}

/// U+FFFE and U+FFFF, which XML does not allow.
fn has_noncharacter(text: &str) -> bool {
    NONCHARACTERS.iter().any(|found| memchr::memmem::find(text.as_bytes(), found).is_some())
}

const NONCHARACTERS: [&[u8]; 2] = ["\u{FFFE}".as_bytes(), "\u{FFFF}".as_bytes()];

fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')
}

fn has_bare_ampersand(text: &str) -> bool {
    memchr::memchr_iter(b'&', text.as_bytes()).any(|at| !is_reference(&text.as_bytes()[at..]))
}

/// Whether a text begins with one of the five entities or a numeric reference.
fn is_reference(text: &[u8]) -> bool {
    const ENTITIES: [&[u8]; 5] = [b"&amp;", b"&lt;", b"&gt;", b"&quot;", b"&apos;"];
    ENTITIES.iter().any(|entity| text.starts_with(entity)) || is_character_number(text)
}

fn is_character_number(text: &[u8]) -> bool {
    const DIGITS_MAX: usize = 8;
    let Some(digits) = text.strip_prefix(b"&#") else { return false };
    let (digits, radix) = digits.strip_prefix(b"x").map_or((digits, 10), |digits| (digits, 16));
    let Some(end) = digits.iter().take(DIGITS_MAX).position(|byte| *byte == b';') else { return false };
    let number =
        std::str::from_utf8(&digits[..end]).ok().and_then(|digits| u32::from_str_radix(digits, radix).ok());
    number
        .and_then(char::from_u32)
        .is_some_and(|c| matches!(c, '\t' | '\n' | '\r') || (c >= ' ' && !is_noncharacter(c)))
}

fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{FFFE}' | '\u{FFFF}')
}

struct Writer<'t, 'r, 'a> {
    text: &'t str,
    out: String,
    done: usize,
    repaired: &'r mut Repaired<'a>,
}

impl Writer<'_, '_, '_> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let Some(token) = token(bytes, at) else {
                self.mend(at, bytes.len(), true, false);
                break;
            };
            match token.kind {
                Kind::BareLess => self.replace(at, 1, "&lt;", Code::BareLess),
                Kind::Text => self.mend(at, token.end, true, false),
                Kind::Start { name_end, less_in_value, .. } => {
                    self.mend(name_end, token.end, true, less_in_value);
                }
                _ => self.mend(at, token.end, false, false),
            }
            at = token.end;
        }
        self.copy_up_to(bytes.len());
    }

    /// Repairs a piece: control characters always, the others where they are not allowed.
    fn mend(&mut self, from: usize, to: usize, ampersands: bool, less: bool) {
        let bytes = self.text.as_bytes();
        for at in from..to {
            match bytes[at] {
                b'<' if less => self.replace(at, 1, "&lt;", Code::BareLess),
                b'&' if ampersands && !is_reference(&bytes[at..]) => self.mend_ampersand(at),
                0xEF if NONCHARACTERS.iter().any(|found| bytes[at..].starts_with(found)) => {
                    self.replace(at, 3, "\u{FFFD}", Code::ControlCharacter);
                }
                byte if is_control(byte) => self.replace(at, 1, " ", Code::ControlCharacter),
                _ => {}
            }
        }
    }

    /// An HTML entity becomes a numeric reference, of the same length if possible.
    fn mend_ampersand(&mut self, at: usize) {
        match crate::entities::reference(&self.text[at..]) {
            Some((character, length)) => {
                let digits = length - "&#;".len();
                let number = format!("&#{:0digits$};", u32::from(character));
                self.replace(at, length, &number, Code::HtmlEntity);
            }
            None => self.replace(at, 1, "&amp;", Code::BareAmpersand),
        }
    }

    fn copy_up_to(&mut self, at: usize) {
        self.out.push_str(&self.text[self.done..at]);
        self.done = at;
    }

    /// Replaces `length` bytes at `at`.
    fn replace(&mut self, at: usize, length: usize, with: &str, code: Code) {
        self.copy_up_to(at);
        self.out.push_str(with);
        self.done = at + length;
        self.repaired.mended.push((code, at));
        self.repaired.shifts.push((self.out.len(), self.out.len() - self.done));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_signs_are_escaped_and_places_are_kept() {
        let text = "<a u='x&y=1'>1 < 2 & <b>&amp; &#38; &nbsp; &laquo;</b></a>";
        let repaired = repair(text, true);
        assert_eq!(repaired.text, "<a u='x&amp;y=1'>1 &lt; 2 &amp; <b>&amp; &#38; &#160; &#0171;</b></a>");
        for what in ["<b>", "</a>", "y=1", "2 "] {
            let offset = repaired.text.find(what).unwrap();
            assert_eq!(repaired.original(offset), text.find(what).unwrap(), "{what}");
        }
        assert_eq!(repaired.mended.len(), 5);
    }

    #[test]
    fn sections_of_cdata_are_left_alone() {
        let text = "<a><![CDATA[x & y < z]]></a>";
        let repaired = repair(text, false);
        assert!(repaired.mended.is_empty());
        assert_eq!(repaired.text, text);
    }

    #[test]
    fn numbers_of_no_character_are_text() {
        let repaired = repair("<a>&#0; &#xD800; &#99999999999;</a>", false);
        assert_eq!(repaired.text, "<a>&amp;#0; &amp;#xD800; &amp;#99999999999;</a>");
    }
}
