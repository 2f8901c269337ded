//! Hostile files: refused in bounded time and memory, or read up to the attack.

use crate::common::{broken, problems, read, read_with};
use feedfile::{Code, Options, Outcome, Problem, Reader, Summary};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Read, Write};
use std::ops::ControlFlow;

const HEAD: &str = "<yml_catalog date=\"2026-01-31\"><shop><offers>";
const TAIL: &str = "</offers></shop></yml_catalog>";
const SOUND: &str = "<offer id=\"1\"><name>N</name><price>5 RUB</price></offer>";

/// A text, then a unit repeated, then a text, without holding all of it in memory.
struct Repeated {
    parts: Vec<(Vec<u8>, u64)>,
    at: usize,
}

impl Repeated {
    fn new(parts: &[(&str, u64)]) -> Self {
        Self { parts: parts.iter().map(|(unit, times)| (unit.as_bytes().to_vec(), *times)).collect(), at: 0 }
    }
}

impl Read for Repeated {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Some((unit, times)) = self.parts.iter_mut().find(|(_, times)| *times > 0) else { return Ok(0) };
        let whole = (buffer.len() / unit.len()).min(*times as usize);
        if self.at == 0 && whole > 0 {
            for piece in buffer[..whole * unit.len()].chunks_exact_mut(unit.len()) {
                piece.copy_from_slice(unit);
            }
            *times -= whole as u64;
            return Ok(whole * unit.len());
        }
        let count = buffer.len().min(unit.len() - self.at);
        buffer[..count].copy_from_slice(&unit[self.at..self.at + count]);
        self.at += count;
        if self.at == unit.len() {
            self.at = 0;
            *times -= 1;
        }
        Ok(count)
    }
}

fn refusal(input: impl Read + Send) -> Box<Problem> {
    match Reader::open(input, Options::default()) {
        Err(problem) => problem,
        Ok(reader) => match reader.read(|_| ControlFlow::Continue(())).outcome {
            Outcome::Broken(problem) => problem,
            other => panic!("{other:?}"),
        },
    }
}

fn small(input: impl Read + Send, file_bytes_max: u64) -> Summary {
    read_with(input, Options { file_bytes_max, ..Options::default() }).1
}

#[test]
fn billion_laughs_are_refused_at_their_declaration() {
    let text = "<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [<!ENTITY lol \"lol\"><!ENTITY lol2 \"&lol;&lol;\">]>\n<yml_catalog>&lol2;</yml_catalog>";
    let problem = refusal(text.as_bytes());
    assert_eq!((problem.code, problem.at.line), (Code::ForbiddenDoctype, 2));
}

#[test]
fn external_entities_are_refused_and_a_bare_document_type_is_not_fetched() {
    let entity = "<!DOCTYPE yml_catalog [<!ENTITY xxe SYSTEM \"file:///etc/passwd\">]><yml_catalog/>";
    assert_eq!(refusal(entity.as_bytes()).code, Code::ForbiddenDoctype);
    let bare = format!("<!DOCTYPE yml_catalog SYSTEM \"file:///etc/passwd\">{HEAD}{SOUND}{TAIL}");
    assert_eq!(read(bare.as_bytes()).1.accepted, 1);
    let unknown = format!("{HEAD}<offer id=\"1\"><name>&xxe;</name><price>5 RUB</price></offer>{TAIL}");
    let (items, _) = read(unknown.as_bytes());
    assert_eq!(items[0].offer.as_ref().unwrap().title.value, "&xxe;");
    assert_eq!(problems(&items)[0].0, Code::BareAmpersand);
}

#[test]
fn a_document_type_behind_the_root_is_no_way_around() {
    let inside = format!("{HEAD}<!DOCTYPE x [<!ENTITY a \"b\">]>{SOUND}{TAIL}");
    assert_eq!(refusal(inside.as_bytes()).code, Code::ForbiddenDoctype);
    let in_offer = format!("{HEAD}<offer id=\"1\"><!DOCTYPE x><name>N</name></offer>{TAIL}");
    assert_eq!(read(in_offer.as_bytes()).1.rejected, 1);
}

#[test]
fn a_gzip_bomb_ends_at_the_ratio() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    std::io::copy(&mut Repeated::new(&[(HEAD, 1), ("          ", 40_000_000)]), &mut gzip).unwrap();
    let bomb = gzip.finish().unwrap();
    assert!(bomb.len() < 500_000);
    let problem = refusal(bomb.as_slice());
    assert_eq!(problem.code, Code::PackedTooTight);
}

#[test]
fn an_endless_stream_ends_at_the_limit() {
    let limit = 20 << 20;
    let offer = "<offer><name>N</name></offer>";
    let summary = small(Repeated::new(&[(HEAD, 1), (offer, u64::MAX)]), limit);
    assert_eq!(broken(&summary).0, Code::TooLarge);
    assert!(summary.bytes <= limit + (1 << 20));
    for unit in ["<a>", "<a/>", "x", "<!-- -->", "<category id='1'/>"] {
        let summary = small(Repeated::new(&[(HEAD, 1), (unit, u64::MAX)]), limit);
        assert!(matches!(broken(&summary).0, Code::TooLarge | Code::TooDeep), "{unit}");
    }
    for unit in [" ", "<!-- -->", "<", "<a", "\u{FEFF}", "\0", "<?x ?>", "\u{1}"] {
        let input = Repeated::new(&[(unit, u64::MAX)]);
        let opened = Reader::open(input, Options { file_bytes_max: limit, ..Options::default() });
        assert!(opened.is_err(), "{unit:?}");
    }
}

#[test]
fn too_many_offers_end_the_load() {
    let input = Repeated::new(&[(HEAD, 1), (SOUND, 100), (TAIL, 1)]);
    let (items, summary) = read_with(input, Options { offers_max: 10, ..Options::default() });
    assert_eq!((items.len(), broken(&summary).0), (10, Code::TooLarge));
}

#[test]
fn a_million_attributes_cost_their_offer() {
    let input = Repeated::new(&[
        (HEAD, 1),
        ("<offer id=\"7\" ", 1),
        ("a=\"\" ", 1_000_000),
        ("><name>N</name></offer>", 1),
        (SOUND, 1),
        (TAIL, 1),
    ]);
    let (items, summary) = read(input);
    assert_eq!((summary.accepted, summary.rejected), (1, 1));
    assert_eq!(problems(&items)[0].0, Code::OfferTooLarge);
    let few = Repeated::new(&[
        (HEAD, 1),
        ("<offer id=\"7\" ", 1),
        ("a=\"\" ", 300),
        ("><name>N</name></offer>", 1),
        (SOUND, 1),
        (TAIL, 1),
    ]);
    let (items, _) = read(few);
    assert_eq!((problems(&items)[0].0, items[0].external_id.as_str()), (Code::BrokenOffer, "7"));
}

#[test]
fn a_depth_of_a_hundred_thousand_is_refused_inside_an_offer_and_outside() {
    let inside = Repeated::new(&[
        (HEAD, 1),
        ("<offer id=\"7\">", 1),
        ("<a>", 100_000),
        ("</a>", 100_000),
        ("</offer>", 1),
        (SOUND, 1),
        (TAIL, 1),
    ]);
    let (items, summary) = read(inside);
    assert_eq!((summary.accepted, summary.rejected, problems(&items)[0].0), (1, 1, Code::BrokenOffer));
    let outside = Repeated::new(&[(HEAD, 1), ("<a>", 100_000)]);
    assert_eq!(refusal(outside).code, Code::TooDeep);
    let json = Repeated::new(&[
        ("[{\"id\":\"1\",\"a\":", 1),
        ("[", 100_000),
        ("]", 100_000),
        ("},{\"id\":\"2\",\"title\":\"t\"}]", 1),
    ]);
    let (items, summary) = read(json);
    assert_eq!((summary.accepted, summary.rejected, items[0].external_id.as_str()), (1, 1, "1"));
}

#[test]
fn an_offer_of_two_hundred_megabytes_costs_itself() {
    let filler = "0123456789".repeat(1_000);
    let times = 20_000;
    for (open, close) in [
        ("<description>", "</description>"),
        ("<description><![CDATA[", "]]></description>"),
        ("<!--", "-->"),
        ("<param name=\"", "\">x</param>"),
    ] {
        let offer = format!("<offer id=\"7\"><name>N</name>{open}");
        let end = format!("{close}</offer>");
        let input =
            Repeated::new(&[(HEAD, 1), (&offer, 1), (&filler, times), (&end, 1), (SOUND, 1), (TAIL, 1)]);
        let (items, summary) = read(input);
        assert_eq!((summary.accepted, summary.rejected), (1, 1), "{open} {:?}", summary.outcome);
        assert_eq!(
            (problems(&items)[0].0, items[0].external_id.as_str()),
            (Code::OfferTooLarge, "7"),
            "{open}"
        );
    }
    let json = Repeated::new(&[
        ("[{\"id\":\"7\",\"title\":\"", 1),
        (&filler, times),
        ("\"},{\"id\":\"2\",\"title\":\"t\"}]", 1),
    ]);
    assert_eq!(read(json).1.accepted, 1);
    let table = Repeated::new(&[("id\ttitle\n7\t", 1), (&filler, times), ("\n2\tt\n", 1)]);
    assert_eq!(read(table).1.accepted, 1);
}

#[test]
fn control_characters_are_spaces_and_binaries_are_no_feed() {
    let text =
        format!("{HEAD}<offer id=\"1\"><name>A\0B\u{1}C\u{FFFF}</name><price>5 RUB</price></offer>{TAIL}");
    let (items, _) = read(text.as_bytes());
    assert!(items[0].offer.as_ref().unwrap().title.value.starts_with("A B C"));
    assert_eq!(problems(&items)[0].0, Code::ControlCharacter);
    let mut numbers = 7_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        numbers = numbers.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (numbers >> 24) as u8
    })
    .take(1 << 20)
    .collect();
    assert!(matches!(refusal(noise.as_slice()).code, Code::UnknownFormat | Code::BadEncoding));
}

#[test]
fn archives_that_lie_are_refused() {
    let cases: [&[u8]; 6] = [
        b"PK\x03\x04",
        b"PK\x03\x04\x14\0\x01\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0a",
        b"PK\x03\x04\x14\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0a<yml",
        b"PK\x03\x04\x14\0\0\0\x63\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0a",
        b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\x7f\xff\xff\xff\x7f\x01\0\0\0a<yml_catalog/>",
        b"\x1f\x8b\x08\0\0\0\0\0\0\0garbage",
    ];
    for case in cases {
        let code = refusal(case).code;
        assert!(matches!(code, Code::BrokenArchive | Code::BrokenFile), "{code} {case:?}");
    }
}

#[test]
fn a_reader_that_fails_leaves_what_came_before() {
    struct Failing(usize);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0 += 1;
            if self.0 > 40 {
                return Err(std::io::Error::other("the line is dead"));
            }
            let text = if self.0 == 1 {
                HEAD.to_owned()
            } else {
                SOUND.replace("\"1\"", &format!("\"{}\"", self.0))
            };
            buffer[..text.len()].copy_from_slice(text.as_bytes());
            Ok(text.len())
        }
    }
    let (items, summary) = read(std::io::BufReader::new(Failing(0)));
    assert_eq!((items.len(), broken(&summary).0), (39, Code::ReadFailed));
}

#[test]
fn a_file_of_bare_signs_costs_no_more_than_its_size() {
    let signs = "&<&< ".repeat(150_000);
    let text = format!("{HEAD}<offer id=\"1\"><name>{signs}</name><price>5 RUB</price></offer>{SOUND}{TAIL}");
    let (items, _) = read(text.as_bytes());
    assert_eq!(items.len(), 2);
    let mut text = Vec::new();
    write!(text, "{HEAD}<offer id=\"1\"><name>").unwrap();
    text.extend(b"&".repeat(900_000));
    write!(text, "</name></offer>{TAIL}").unwrap();
    assert_eq!(read(text.as_slice()).0.len(), 1);
}

#[test]
fn texts_that_are_all_open_tags_cost_no_more_than_their_size() {
    let tags = "<a".repeat(450_000);
    let described = format!(
        "{HEAD}<offer id=\"1\"><name>N</name><description><![CDATA[{tags}]]></description></offer>{TAIL}"
    );
    assert_eq!(read(described.as_bytes()).1.accepted, 1);
    let elements = "<a/>".repeat(19_000);
    let item = format!("<rss><channel><item><g:id>1</g:id><title>T</title>{elements}</item></channel></rss>");
    assert_eq!(read(item.as_bytes()).1.accepted, 1);
}
