//! For any input nothing panics, and the counts add up.

use feedfile::generate::{Kind, generate};
use feedfile::{Example, Language, Options, Outcome, check};
use proptest::prelude::*;

fn assert_sane(bytes: &[u8]) {
    let report = check(bytes, Options { threads: Some(2), ..Options::default() }, &mut ());
    let summary = &report.summary;
    assert_eq!(summary.offers, summary.accepted + summary.rejected);
    assert!(summary.rejected_without_id <= summary.rejected);
    assert!(summary.format.is_some() || matches!(summary.outcome, Outcome::Broken(_)));
    let lines = bytes.split(|byte| *byte == b'\n').count() as u32;
    for Example { problem, .. } in report.groups.values().flat_map(|group| &group.examples) {
        assert!((1..=lines).contains(&problem.at.line) && problem.at.column >= 1, "{problem:?}");
        assert!(problem.excerpt.caret <= problem.excerpt.text.chars().count());
    }
    let counted: u64 = report.groups.values().map(|group| group.count).sum();
    let by_code: u64 = summary.errors_by_code.values().chain(summary.warnings_by_code.values()).sum();
    assert_eq!(counted, by_code);
    assert!(!report.render("file", Language::Russian).is_empty());
    assert!(report.to_json()["errors_by_code"].is_object());
}

const FIXTURES: [&str; 6] = [
    "<?xml version=\"1.0\"?><!DOCTYPE yml_catalog SYSTEM \"shops.dtd\"><yml_catalog date=\"2026-01-31\"><shop><name>Ж</name><currencies>\
     <currency id=\"RUR\" rate=\"1\"/></currencies><categories><category id=\"1\">A</category></categories><offers><offer id=\"1\">\
     <name>N &amp; M</name><price>5</price><param name=\"p\">v</param><description><![CDATA[<p>x</p>]]></description></offer>\
     <offer id=\"2\"><name>N</name><price>x</price></offer></offers></shop></yml_catalog>",
    "<Ads><Ad><Id>1</Id><Title>T</Title><Images><Image url=\"https://a.b/c\"/></Images><Price>5</Price></Ad></Ads>",
    "<rss><channel><title>S</title><item><g:id>1</g:id><g:title>T</g:title><g:price>5 EUR</g:price></item></channel></rss>",
    "<torg-offers version=\"1\"><shop><name>S</name></shop><offers><offer id=\"1\"><title>T</title><price><free/></price></offer>\
     </offers></torg-offers>",
    "{\"profile\": {\"name\": \"A\"}, \"offers\": [{\"uid\": 1, \"title\": \"T\", \"price\": {\"from\": 1}, \"params\": [{\"name\": \"a\", \"value\": [1, null]}]}]}",
    "id,title,price\n1,\"a \"\"b\"\"\",5 EUR\n2,c\n",
];

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let change = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        0..5_u8,
        prop::sample::select(b"<>&\"'/!?[]{},:;=\n\t -\0\x80\xC3\xFFa1".to_vec()),
    );
    (prop::sample::select(FIXTURES.to_vec()), prop::collection::vec(change, 1..12)).prop_map(
        |(fixture, changes)| {
            let mut bytes = fixture.as_bytes().to_vec();
            for (place, other, kind, byte) in changes {
                let (at, to) = (place.index(bytes.len().max(1)), other.index(bytes.len().max(1)));
                match kind {
                    0 => bytes.insert(at.min(bytes.len()), byte),
                    1 if at < bytes.len() => bytes[at] = byte,
                    2 if at < bytes.len() => drop(bytes.remove(at)),
                    3 => bytes.truncate(at.max(bytes.len() / 2)),
                    _ => {
                        let (from, to) = (at.min(to), at.max(to).min(bytes.len()));
                        let piece = bytes[from.min(to)..to].to_vec();
                        bytes.splice(to..to, piece);
                    }
                }
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn mutated_files_never_panic(bytes in mutated()) {
        assert_sane(&bytes);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..3_000)) {
        assert_sane(&bytes);
    }

    #[test]
    fn random_markup_never_panics(pieces in prop::collection::vec(prop::sample::select(vec![
        "<", ">", "</", "/>", "<offer", "</offer>", " id=\"", "\"", "'", "&", "&amp;", "<![CDATA[", "]]>", "<!--", "-->", "<?", "?>",
        "<!DOCTYPE", "[", "<name>", "</name>", "text", "Ж", "\n", "<offers>", "</offers>", "<br>", "=", "</shop>", "\u{1}",
    ]), 0..60)) {
        let text = format!("<yml_catalog><shop><offers>{}</offers></shop></yml_catalog>", pieces.concat());
        assert_sane(text.as_bytes());
    }

    #[test]
    fn random_json_never_panics(pieces in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", "\"", ":", ",", "\\", "\"id\"", "\"title\":\"t\"", "\"offers\":[", "1", "null", "\n", "\"price\":", "Ж", "\\u00",
    ]), 0..60)) {
        assert_sane(format!("{{{}", pieces.concat()).as_bytes());
        assert_sane(format!("[{}]", pieces.concat()).as_bytes());
    }
}

#[test]
fn every_way_to_cut_a_file_short_is_noticed() {
    let mut file = Vec::new();
    generate(Kind::OwnXml, 5, 100, &mut file).unwrap();
    let end = file.len() - b"</torg-offers>\n".len();
    for length in (0..end).step_by(7) {
        let report = check(&file[..length], Options { threads: Some(1), ..Options::default() }, &mut ());
        assert!(matches!(report.summary.outcome, Outcome::Broken(_)), "{length}");
    }
}
