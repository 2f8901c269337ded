//! Content types, detected from the first bytes of a file: neither its name nor its server is
//! trusted.

use std::fmt;

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    Jpeg,
    Png,
    Gif,
    WebP,
    Avif,
    Heic,
    Bmp,
    Tiff,
    Svg,
    Html,
    /// XML that is neither SVG nor HTML.
    Xml,
    Json,
    Text,
    Gzip,
    /// A zip archive, or a format based on it.
    Zip,
    Pdf,
    /// An MP4 or `QuickTime` video.
    Mp4,
    /// A `WebM` or Matroska video.
    WebM,
    Empty,
    Unknown,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jpeg => "JPEG",
            Self::Png => "PNG",
            Self::Gif => "GIF",
            Self::WebP => "WebP",
            Self::Avif => "AVIF",
            Self::Heic => "HEIC",
            Self::Bmp => "BMP",
            Self::Tiff => "TIFF",
            Self::Svg => "SVG",
            Self::Html => "a web page",
            Self::Xml => "XML",
            Self::Json => "JSON",
            Self::Text => "text",
            Self::Gzip => "gzip",
            Self::Zip => "a zip archive",
            Self::Pdf => "PDF",
            Self::Mp4 => "MP4",
            Self::WebM => "WebM",
            Self::Empty => "empty",
            Self::Unknown => "of an unknown kind",
        })
    }
}

/// Signatures at the beginning.
const SIGNATURES: [(&[u8], Kind); 12] = [
    (b"\xFF\xD8\xFF", Kind::Jpeg),
    (b"\x89PNG\r\n\x1A\n", Kind::Png),
    (b"GIF87a", Kind::Gif),
    (b"GIF89a", Kind::Gif),
    (b"BM", Kind::Bmp),
    (b"II*\0", Kind::Tiff),
    (b"MM\0*", Kind::Tiff),
    (b"\x1F\x8B", Kind::Gzip),
    (b"PK\x03\x04", Kind::Zip),
    (b"PK\x05\x06", Kind::Zip),
    (b"%PDF-", Kind::Pdf),
    (b"\x1A\x45\xDF\xA3", Kind::WebM),
];

/// Detects the type; [`SNIFF_BYTES`](crate::limits::SNIFF_BYTES) are enough.
#[must_use]
pub fn sniff(head: &[u8]) -> Kind {
    if head.is_empty() {
        return Kind::Empty;
    }
    if let Some((_, kind)) = SIGNATURES.iter().find(|(signature, _)| head.starts_with(signature)) {
        return *kind;
    }
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        return Kind::WebP;
    }
    if head.get(4..8) == Some(b"ftyp") {
        return sniff_ftyp(head);
    }
    sniff_text(head)
}

fn sniff_ftyp(head: &[u8]) -> Kind {
    match head.get(8..12) {
        Some(b"avif" | b"avis") => Kind::Avif,
        Some(b"heic" | b"heix" | b"hevc" | b"hevx" | b"mif1" | b"msf1" | b"heim" | b"heis") => Kind::Heic,
        _ => Kind::Mp4,
    }
}

fn sniff_text(head: &[u8]) -> Kind {
    if head.contains(&0) && !(head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF")) {
        return Kind::Unknown;
    }
    // Without the zeros of UTF-16 and in lower case, one search covers every encoding.
    let text: Vec<u8> = head.iter().filter(|b| **b != 0).map(u8::to_ascii_lowercase).collect();
    let text = ["\u{FEFF}".as_bytes(), b"\xFF\xFE", b"\xFE\xFF"]
        .iter()
        .find_map(|bom| text.strip_prefix(*bom))
        .unwrap_or(&text)
        .trim_ascii_start();
    let has = |needle: &[u8]| text.windows(needle.len()).any(|window| window == needle);
    match text.first() {
        None => Kind::Text,
        Some(b'<') if has(b"<svg") => Kind::Svg,
        Some(b'<') if has(b"<!doctype html") || has(b"<html") || has(b"<head") || has(b"<body") => Kind::Html,
        Some(b'<') => Kind::Xml,
        Some(b'{' | b'[') => Kind::Json,
        Some(_) if text.iter().all(|b| *b >= b' ' || b.is_ascii_whitespace()) => Kind::Text,
        Some(_) => Kind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_from_bytes() {
        let utf16: Vec<u8> =
            "\u{FEFF}<?xml version='1.0'?>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let cases: [(&[u8], Kind); 15] = [
            (b"\xFF\xD8\xFF\xE0\0\x10JFIF", Kind::Jpeg),
            (b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", Kind::Png),
            (b"GIF89a\x01\0", Kind::Gif),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Kind::WebP),
            (b"\0\0\0\x20ftypavif", Kind::Avif),
            (b"\0\0\0\x20ftypisom", Kind::Mp4),
            (b"  <!DOCTYPE HTML><p>no such photo", Kind::Html),
            (b"<?xml version=\"1.0\"?><!-- a --><SVG xmlns=\"\">", Kind::Svg),
            (b"\xEF\xBB\xBF<yml_catalog>", Kind::Xml),
            (&utf16, Kind::Xml),
            (b" [1]", Kind::Json),
            ("id\tзаголовок\n".as_bytes(), Kind::Text),
            (b"\x1F\x8B\x08", Kind::Gzip),
            (b"", Kind::Empty),
            (b"\x01\x02\0\x03", Kind::Unknown),
        ];
        for (bytes, kind) in cases {
            assert_eq!(sniff(bytes), kind, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
