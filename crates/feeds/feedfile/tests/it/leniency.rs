//! Slightly broken files: repaired with a warning, or refused with a position.

use crate::common::{broken, codes, problems, read, read_with};
use feedfile::{Code, Format, Options, Outcome, Packing, Reader, Severity};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use std::io::Write;

fn yml(offers: &str) -> String {
    format!(
        "<yml_catalog date=\"2026-01-31\"><shop><name>S</name>\n<offers>\n{offers}\n</offers></shop></yml_catalog>"
    )
}

fn offer(id: &str, inside: &str) -> String {
    format!("<offer id=\"{id}\"><name>N</name><price>5 RUB</price>{inside}</offer>")
}

#[test]
fn a_bare_ampersand_is_saved_with_its_place() {
    let text = yml(&offer("1", "<url>https://a.example/?a=1&b=2&amp;c=3</url>"));
    let (items, summary) = read(text.as_bytes());
    assert_eq!(
        items[0].offer.as_ref().unwrap().url.as_ref().unwrap().value,
        "https://a.example/?a=1&b=2&c=3"
    );
    assert_eq!(problems(&items), [(Code::BareAmpersand, 3, 76)]);
    assert_eq!(summary.accepted, 1);
}

#[test]
fn raw_less_signs_in_attributes_and_texts_are_saved() {
    let inside = "<param name=\"<p>size</p>\">a < b</param>";
    let (items, _) = read(yml(&offer("1", inside)).as_bytes());
    let param = &items[0].offer.as_ref().unwrap().params[0];
    assert_eq!((param.name.as_str(), param.value.as_str()), ("<p>size</p>", "a < b"));
    assert_eq!(codes(&items, Severity::Warning), [Code::BareLess]);
    let header = "<yml_catalog date='2026-01-31'><shop><categories><category id=\"<br />x\">A</category></categories><offers>";
    let (items, summary) =
        read(format!("{header}{}</offers></shop></yml_catalog>", offer("1", "")).as_bytes());
    assert_eq!((items.len(), summary.header.categories.len()), (1, 1));
    assert_eq!(summary.problems[0].code, Code::BareLess);
}

#[test]
fn white_space_or_a_second_mark_before_the_declaration_is_forgiven() {
    for head in ["\n", "\u{FEFF}\u{FEFF}", "\u{FEFF} \n"] {
        let text = format!("{head}<?xml version=\"1.0\"?>{}", yml(&offer("1", "")));
        let (items, summary) = read(text.as_bytes());
        assert_eq!(items.len(), 1);
        assert_eq!(summary.problems[0].code, Code::SpaceBeforeDeclaration, "{head:?}");
    }
}

#[test]
fn html_that_is_not_closed_costs_a_warning_and_a_field_that_is_not_closed_costs_its_offer() {
    let text = yml(&[
        offer("1", "<description>one<br>two<p>three</description>"),
        offer("2", "<vendor>V<model>M</model>"),
        offer("3", ""),
    ]
    .join("\n"));
    let (items, summary) = read(text.as_bytes());
    assert_eq!(items[0].offer.as_ref().unwrap().description.as_ref().unwrap().value, "one\ntwo\nthree");
    assert_eq!(problems(&items)[1], (Code::BrokenOffer, 4, 49));
    assert_eq!((summary.accepted, summary.rejected, items[1].external_id.as_str()), (2, 1, "2"));
}

#[test]
fn an_offer_without_an_end_costs_itself() {
    let text = yml(
        "<offer id=\"1\"><name>A</name>\n<offer id=\"2\"><name>B</name><price>1 RUB</price></offer>\n<offer id=\"3\"><name>C</name>",
    );
    let (items, summary) = read(text.as_bytes());
    let ids: Vec<(&str, bool)> =
        items.iter().map(|item| (item.external_id.as_str(), item.offer.is_some())).collect();
    assert_eq!(ids, [("1", false), ("2", true), ("3", false)]);
    assert_eq!(summary.outcome, Outcome::Complete);
}

#[test]
fn a_missing_quote_costs_its_offer() {
    let text =
        yml(&[offer("1", "<param name=\"x>y</param>"), offer("2", "<param name=\"z\">1</param>")].join("\n"));
    let (items, _) = read(text.as_bytes());
    let ids: Vec<(&str, bool)> =
        items.iter().map(|item| (item.external_id.as_str(), item.offer.is_some())).collect();
    assert_eq!(ids, [("1", false), ("2", true)]);
}

#[test]
fn a_file_that_ends_too_early_is_broken_and_what_stands_before_holds() {
    let whole = yml(&[offer("1", ""), offer("2", "")].join("\n"));
    for cut in [
        "</offers>",
        "</shop>",
        "</yml_catalog>",
        "<offer id=\"2\"",
        "N</name><price>5 RUB</price></offer>\n</",
    ] {
        let text = &whole[..whole.rfind(cut).unwrap() + 3];
        let (items, summary) = read(text.as_bytes());
        assert_eq!(broken(&summary).0, Code::BrokenFile, "{cut}");
        assert!(!items.is_empty() && items.iter().all(|item| item.offer.is_some()), "{cut}");
    }
    let (_, summary) = read(&whole.as_bytes()[..whole.find("</offer>").unwrap()]);
    assert_eq!(broken(&summary), (Code::BrokenFile, 3, 49));
}

#[test]
fn a_file_of_json_that_ends_too_early_is_broken() {
    for text in [
        "[{\"id\":1,\"title\":\"a\"}, {\"id\":2",
        "[{\"id\":1,\"title\":\"a\"}",
        "{\"offers\": [{\"id\":1,\"title\":\"a\"}]",
    ] {
        let (items, summary) = read(text.as_bytes());
        assert_eq!((broken(&summary).0, items.len()), (Code::BrokenFile, 1), "{text}");
    }
}

fn in_1251(text: &str) -> Vec<u8> {
    encoding_rs::WINDOWS_1251.encode(text).0.into_owned()
}

#[test]
fn the_encoding_is_what_the_bytes_are_and_not_what_the_file_says() {
    let text = |label: &str| {
        format!(
            "<?xml version=\"1.0\" encoding=\"{label}\"?>{}",
            yml(&offer("1", "<vendor>Светлый дом</vendor>"))
        )
    };
    let cases: [(Vec<u8>, &str, usize); 5] = [
        (in_1251(&text("windows-1251")), "windows-1251", 0),
        (text("windows-1251").into_bytes(), "UTF-8", 1),
        (in_1251(&text("UTF-8")), "windows-1251", 1),
        (text("utf8").into_bytes(), "UTF-8", 0),
        (in_1251(&text("cp-1251")), "windows-1251", 0),
    ];
    for (bytes, encoding, warnings) in cases {
        let (items, summary) = read(bytes.as_slice());
        assert_eq!(summary.encoding, encoding);
        assert_eq!(items[0].offer.as_ref().unwrap().vendor.as_ref().unwrap().value, "Светлый дом");
        assert_eq!(summary.problems.len(), warnings, "{:?}", summary.problems);
    }
}

#[test]
fn utf_16_is_read_with_its_mark_and_without() {
    let text = yml(&offer("1", "<vendor>Дом</vendor><price>x</price>"));
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let marked = format!("\u{FEFF}{text}");
    for (bytes, encoding) in
        [(little(&marked), "UTF-16LE"), (big(&marked), "UTF-16BE"), (little(&text), "UTF-16LE")]
    {
        let (items, summary) = read(bytes.as_slice());
        assert_eq!((summary.encoding, items.len()), (encoding, 1));
        assert_eq!(items[0].offer.as_ref().unwrap().vendor.as_ref().unwrap().at.column, 57);
    }
}

#[test]
fn a_damaged_character_is_a_warning_and_many_are_no_text() {
    let mut bytes = yml(&offer("1", "<vendor>Дом</vendor>")).into_bytes();
    let place = bytes.windows(2).position(|pair| pair == "Д".as_bytes()).unwrap();
    bytes.remove(place + 1);
    let (items, _) = read(bytes.as_slice());
    assert_eq!(problems(&items), [(Code::DamagedCharacter, 3, 57)]);
    let good = offer("1", &format!("<vendor>{}</vendor>", "Дом ".repeat(20_000)));
    let mut noise = yml(&good).replace("</offers></shop></yml_catalog>", "").into_bytes();
    noise.extend([0xC3, 0x28].repeat(50_000));
    let (items, summary) = read(noise.as_slice());
    assert_eq!((items.len(), broken(&summary).0), (1, Code::BadEncoding));
}

#[test]
fn packed_files_are_read_whatever_their_names() {
    let text = yml(&offer("1", ""));
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    for behind in [&b""[..], b"\0\0\0"] {
        let (items, summary) = read([gzip.as_slice(), behind].concat().as_slice());
        assert_eq!((items.len(), summary.packing, summary.outcome), (1, Packing::Gzip, Outcome::Complete));
    }
    let mut corrupt = gzip.clone();
    let checksum = corrupt.len() - 8;
    corrupt[checksum] ^= 1;
    assert_eq!(broken(&read(corrupt.as_slice()).1).0, Code::BrokenArchive);
    for later in [false, true] {
        let archive =
            [zip_entry("folder/", b"", false), zip_entry("feed.txt", text.as_bytes(), later)].concat();
        let (items, summary) = read(archive.as_slice());
        assert_eq!((items.len(), summary.packing, summary.outcome), (1, Packing::Zip, Outcome::Complete));
        assert!(summary.problems.is_empty());
    }
    let two = [zip_entry("a.xml", text.as_bytes(), false), zip_entry("b.xml", b"x", false)].concat();
    let (_, summary) = read(two.as_slice());
    assert_eq!(summary.problems[0].code, Code::ExtraContent);
}

/// A local header with its content; `later` puts checksum and sizes behind it.
fn zip_entry(name: &str, content: &[u8], later: bool) -> Vec<u8> {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
    deflate.write_all(content).unwrap();
    let packed = deflate.finish().unwrap();
    let mut crc = flate2::Crc::new();
    crc.update(content);
    let numbers: Vec<u8> = [crc.sum(), packed.len() as u32, content.len() as u32]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let mut out = b"PK\x03\x04\x14\x00".to_vec();
    out.extend(if later { [8, 0] } else { [0, 0] });
    out.extend([8, 0, 0, 0, 0, 0]);
    out.extend(if later { vec![0; 12] } else { numbers.clone() });
    out.extend((name.len() as u16).to_le_bytes());
    out.extend([0, 0]);
    out.extend(name.as_bytes());
    out.extend(packed);
    if later {
        out.extend(b"PK\x07\x08");
        out.extend(numbers);
    }
    out
}

#[test]
fn an_archive_that_lies_is_not_complete() {
    let text = yml(&offer("1", ""));
    let mut archive = zip_entry("a.xml", text.as_bytes(), true);
    let end = archive.len();
    archive[end - 10] ^= 1;
    let (items, summary) = read(archive.as_slice());
    assert_eq!((items.len(), broken(&summary).0), (1, Code::BrokenArchive));
    let cut = zip_entry("a.xml", text.as_bytes(), false);
    let reader = Reader::open(&cut[..cut.len() - 20], Options::default());
    match reader {
        Err(problem) => assert_eq!(problem.code, Code::BrokenArchive),
        Ok(reader) => {
            let summary = reader.read(|_| std::ops::ControlFlow::Continue(()));
            assert_eq!(broken(&summary).0, Code::BrokenArchive);
        }
    }
}

#[test]
fn what_is_no_feed_is_told_so() {
    for (text, code) in [
        ("", Code::EmptyFile),
        (" \n ", Code::EmptyFile),
        ("<!DOCTYPE html><html><body>Not found</body></html>", Code::UnknownFormat),
        ("<catalog/>", Code::UnknownFormat),
        ("hello, world", Code::UnknownFormat),
        ("<!-- only a comment -->", Code::BrokenFile),
        ("<yml_catalog", Code::BrokenFile),
    ] {
        assert_eq!(
            Reader::open(text.as_bytes(), Options::default()).err().map(|problem| problem.code),
            Some(code),
            "{text}"
        );
    }
}

#[test]
fn categories_behind_the_offers_are_kept_with_a_warning() {
    let text = "<yml_catalog date='2026-01-31'><shop><offers><offer id='1'><name>A</name><price>1 RUB</price><categoryId>5</categoryId>\
        </offer></offers><categories><category id='5'>Late</category></categories></shop></yml_catalog>";
    let (items, summary) = read(text.as_bytes());
    assert!(items[0].offer.as_ref().unwrap().category.id.is_some());
    assert!(summary.header.category_path("5").is_some());
    assert_eq!(summary.problems[0].code, Code::LateCategories);
}

#[test]
fn the_batches_are_the_same_with_one_thread_and_with_many() {
    let mut file = Vec::new();
    feedfile::generate::generate(feedfile::generate::Kind::Yml, 3, 2_000_000, &mut file).unwrap();
    let with =
        |threads| read_with(file.as_slice(), Options { threads: Some(threads), ..Options::default() }).0;
    let one = with(1);
    assert!(one == with(2) && one == with(7));
    assert!(one.windows(2).all(|pair| pair[0].at < pair[1].at));
}

#[test]
fn a_caller_that_has_enough_stops_the_reading() {
    let mut file = Vec::new();
    feedfile::generate::generate(feedfile::generate::Kind::Yml, 3, 3_000_000, &mut file).unwrap();
    let mut batches = 0;
    let summary = Reader::open(file.as_slice(), Options::default()).unwrap().read(|_| {
        batches += 1;
        std::ops::ControlFlow::Break(())
    });
    assert_eq!((batches, summary.outcome), (1, Outcome::Stopped));
    assert_eq!(summary.format, Some(Format::Yml));
}
