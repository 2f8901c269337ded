//! Detects the encoding: the byte order mark, else the declaration, unless the bytes contradict it.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1251, WINDOWS_1252};

/// Bytes that are searched for a declaration.
const DECLARATION_BYTES: usize = 1_024;
/// This many valid multi-byte characters prove UTF-8.
const UTF8_CHARACTERS_MIN: usize = 2;

/// The encoding of a byte order mark, and the length of the mark.
pub(super) fn by_mark(head: &[u8]) -> Option<(&'static Encoding, usize)> {
    if let Some(found) = Encoding::for_bom(head) {
        return Some(found);
    }
    match head {
        [b'<' | b'{' | b'[', 0, second, 0, ..] if *second != 0 => Some((UTF_16LE, 0)),
        [0, b'<' | b'{' | b'[', 0, second, ..] if *second != 0 => Some((UTF_16BE, 0)),
        _ => None,
    }
}

/// The encoding in the XML declaration, if it is ASCII-compatible.
pub(super) fn by_declaration(head: &[u8]) -> Option<&'static Encoding> {
    let head = &head[..head.len().min(DECLARATION_BYTES)];
    let start = memchr::memmem::find(head, b"<?xml")?;
    let end = start + memchr::memchr(b'>', &head[start..])?;
    let declaration = &head[start..end];
    let name = &declaration[memchr::memmem::find(declaration, b"encoding")? + b"encoding".len()..];
    let open = name.iter().position(|byte| matches!(byte, b'"' | b'\''))?;
    let close = memchr::memchr(name[open], &name[open + 1..])?;
    let label = &name[open + 1..open + 1 + close];
    for_label(label).filter(|encoding| encoding.is_ascii_compatible())
}

fn for_label(label: &[u8]) -> Option<&'static Encoding> {
    Encoding::for_label(label).or_else(|| {
        let plain: Vec<u8> = label.iter().filter(|byte| byte.is_ascii_alphanumeric()).copied().collect();
        match plain.to_ascii_lowercase().as_slice() {
            b"win1251" | b"windows1251" | b"cp1251" | b"ansi1251" => Some(WINDOWS_1251),
            b"utf8" => Some(UTF_8),
            _ => None,
        }
    })
}

/// Decides by bytes from the first that is not ASCII.
pub(super) fn by_validity(declared: Option<&'static Encoding>, probe: &[u8]) -> &'static Encoding {
    let (good, bad) = count_utf8(probe);
    match declared.filter(|encoding| *encoding != UTF_8) {
        Some(_) if bad == 0 && good >= UTF8_CHARACTERS_MIN => UTF_8,
        Some(encoding) => encoding,
        None if bad <= good => UTF_8,
        None => guess(probe),
    }
}

/// Valid multi-byte characters and invalid sequences; a character cut at the end counts as neither.
fn count_utf8(mut bytes: &[u8]) -> (usize, usize) {
    let (mut good, mut bad) = (0, 0);
    loop {
        let (valid, error) = match std::str::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                (std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(), Some(error))
            }
        };
        good += valid.chars().filter(|c| !c.is_ascii()).count();
        match error.map(|error| (error.valid_up_to(), error.error_len())) {
            None | Some((_, None)) => return (good, bad),
            Some((valid, Some(wrong))) => {
                bad += 1;
                bytes = &bytes[valid + wrong..];
            }
        }
    }
}

/// Cyrillic words are runs of high bytes; western texts have single ones.
fn guess(probe: &[u8]) -> &'static Encoding {
    let letters = probe.iter().filter(|byte| **byte >= 0xC0).count();
    let neighbours = probe.windows(2).filter(|pair| pair[0] >= 0xC0 && pair[1] >= 0xC0).count();
    if neighbours * 2 > letters { WINDOWS_1251 } else { WINDOWS_1252 }
}
