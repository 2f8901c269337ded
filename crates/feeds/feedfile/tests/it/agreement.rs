//! The published schema and the checker agree: generated valid and invalid documents are given to
//! `xmllint` and `check`.

use feedfile::{Language, Options, XSD, check};
use std::path::{Path, PathBuf};
use std::process::Command;

const DOCUMENTS: usize = 600;

/// Numbers by a linear congruence: the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn pick<'p>(&mut self, from: &[&'p str]) -> &'p str {
        from[self.below(from.len())]
    }
}

const SOUND: &[&str] = &[
    "<description> two\n lines &amp; <![CDATA[<b>bold</b> ]]></description>",
    "<category ref=\"1\"/>",
    "<category torg=\"sg-1\">bikes</category>",
    "<price><fixed currency=\"EUR\">12.50</fixed><old>15</old></price>",
    "<price><fixed currency=\"RUB\"> +012.500000 </fixed></price>",
    "<price><free/></price>",
    "<price><negotiable/></price>",
    "<price><negotiable><from currency=\"USD\">1</from></negotiable></price>",
    "<price><range from=\"1\" to=\"2\" currency=\"EUR\"/></price>",
    "<price><range currency=\"EUR\" to=\"2.5\"/></price>",
    "<condition> new </condition>",
    "<availability>preorder</availability>",
    "<url>https://example.com/?a=1&amp;b=%20</url>",
    "<url>\n  http://example.com/\u{436}\n</url>",
    "<photos/>",
    "<photos><photo>https://example.com/1.jpg</photo><!-- comment --><photo>https://example.com/2.jpg</photo></photos>",
    "<video>https://example.com/v</video>",
    "<place><address>Bremen</address></place>",
    "<place><latitude>-53.07</latitude><longitude>180</longitude></place>",
    "<contacts><name>Dora</name><phone>+49 (30) 12-34</phone><phone>12345</phone><email>a@example.com</email></contacts>",
    "<contacts/>",
    "<vendor>V</vendor>",
    "<model>\u{41c}\u{43e}\u{434}\u{435}\u{43b}\u{44c} &#8364;</model>",
    "<vendor-code>x-1</vendor-code>",
    "<barcode>4601546021298</barcode>",
    "<group>g</group>",
    "<params><param name=\"a\" unit=\"cm\">1</param><param unit='' name='b'> x </param></params>",
];

const WRONG: &[&str] = &[
    "<colour>red</colour>",
    "<title>again</title>",
    "text",
    "<price><fixed>5</fixed></price>",
    "<price><fixed currency=\"eur\">5</fixed></price>",
    "<price><fixed currency=\"EUR\">5,5</fixed></price>",
    "<price><fixed currency=\"EUR\">-5</fixed></price>",
    "<price><fixed currency=\"EUR\">5.1234567</fixed></price>",
    "<price><fixed currency=\"EUR\">1000000000001</fixed></price>",
    "<price><fixed currency=\"EUR\"></fixed></price>",
    "<price><fixed currency=\"EUR\">5.</fixed></price>",
    "<price><free>yes</free></price>",
    "<price><free/><free/></price>",
    "<price>5</price>",
    "<price/>",
    "<price><old>5</old></price>",
    "<price><range from=\"1\"/></price>",
    "<price><range from=\"x\" currency=\"EUR\"/></price>",
    "<condition>broken</condition>",
    "<condition/>",
    "<availability>yes</availability>",
    "<url>example.com</url>",
    "<url>https://example.com/a b</url>",
    "<url>ftp://example.com/</url>",
    "<url unknown=\"1\">https://example.com/</url>",
    "<photos><picture>https://example.com/1.jpg</picture></photos>",
    "<photos><photo>none</photo></photos>",
    "<photos>https://example.com/1.jpg</photos>",
    "<place><latitude>53</latitude></place>",
    "<place><latitude>95</latitude><longitude>8</longitude></place>",
    "<place><longitude>8</longitude><latitude>53</latitude></place>",
    "<place><latitude>53,1</latitude><longitude>8</longitude></place>",
    "<contacts><phone>123</phone></contacts>",
    "<contacts><phone>call me</phone></contacts>",
    "<contacts><email>nobody</email></contacts>",
    "<contacts><email>a@example.com</email><name>late</name></contacts>",
    "<vendor/>",
    "<vendor> </vendor>",
    "<params><param>x</param></params>",
    "<params><param name=\"\">x</param></params>",
    "<params><param name=\"a\"/></params>",
    "<params><param name=\"a\" colour=\"b\">x</param></params>",
    "<description>a <b>bold</b> word</description>",
    "<category parent=\"1\"/>",
];

/// The name of the element that a part is.
fn name(part: &str) -> &str {
    part.trim_start_matches('<')
        .split(|c: char| !c.is_ascii_alphabetic() && c != '-')
        .next()
        .unwrap_or_default()
}

fn offer(numbers: &mut Numbers, id: &str, wrong: bool) -> String {
    let mut parts = vec!["<title>Red bicycle</title>".to_owned()];
    for _ in 0..numbers.below(6) {
        let part = numbers.pick(SOUND);
        if !parts.iter().any(|known| name(known) == name(part)) {
            parts.push(part.to_owned());
        }
    }
    if wrong {
        match numbers.below(WRONG.len() + 5) {
            0 => "<title></title>".clone_into(&mut parts[0]),
            1 => drop(parts.remove(0)),
            2 => parts[0] = format!("<title>{}</title>", "\u{436}".repeat(201)),
            3 => {
                parts.push(format!("<photos>{}</photos>", "<photo>https://example.com/1</photo>".repeat(51)));
            }
            4 => return format!("<offer>{}</offer>", parts.concat()),
            at => {
                let part = WRONG[at - 5];
                parts.retain(|known| name(known) != name(part) || name(part) == "title");
                parts.push(part.to_owned());
            }
        }
    } else if numbers.below(10) == 0 {
        parts[0] = format!("<title>{}</title>", "\u{436}".repeat(200));
    }
    let at = numbers.below(parts.len().max(1));
    parts.rotate_left(at);
    format!("<offer id=\"{id}\">\n  {}\n</offer>", parts.join("\n  "))
}

/// A document, one in two with something wrong in it.
fn document(numbers: &mut Numbers) -> String {
    let shops = ["", "<shop/>", "<shop><url>https://example.com</url><name>Shop</name></shop>"];
    let mut shop = numbers.pick(&shops).to_owned();
    let mut categories = numbers
        .pick(&["", "<categories/>", "<categories><category id=\"1\">A</category></categories>"])
        .to_owned();
    let mut root = "<torg-offers version=\"1\" date=\"2026-01-31\">".to_owned();
    let mut tail = String::new();
    let count = numbers.below(4);
    let mut offers: Vec<String> = (0..count).map(|id| offer(numbers, &format!("o{id}"), false)).collect();
    if numbers.below(2) == 0 {
        match numbers.below(18) {
            0 => "<torg-offers>".clone_into(&mut root),
            1 => "<torg-offers version=\"2\">".clone_into(&mut root),
            2 => "<torg-offers version=\"1\" extra=\"1\">".clone_into(&mut root),
            3 => "<shop><colour/></shop>".clone_into(&mut shop),
            4 => "<categories><category>A</category></categories>".clone_into(&mut categories),
            5 => "<categories><category id=\"1\"/></categories>".clone_into(&mut categories),
            6 => "<shop/>".clone_into(&mut tail),
            7 => "<offers/>".clone_into(&mut tail),
            8 => "words".clone_into(&mut tail),
            9 => offers.extend([offer(numbers, "same", false), offer(numbers, "same", false)]),
            10 => offers.push("<item/>".to_owned()),
            11 => offer(numbers, "outside", false).clone_into(&mut tail),
            12 => "<categories/>".clone_into(&mut tail),
            _ => offers.push(offer(numbers, "wrong", true)),
        }
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{root}{shop}{categories}<offers>{}</offers>{tail}</torg-offers>\n",
        offers.join("\n")
    )
}

/// What `xmllint` says of each file, in their order; none if it is not there.
fn judge(schema: &Path, files: &[PathBuf]) -> Option<Vec<bool>> {
    let mut found = Vec::new();
    for some in files.chunks(50) {
        let output =
            Command::new("xmllint").args(["--noout", "--schema"]).arg(schema).args(some).output().ok()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        found.extend(
            some.iter().map(|file| said.lines().any(|line| line == format!("{} validates", file.display()))),
        );
    }
    Some(found)
}

#[test]
fn generated_documents_are_judged_alike_by_xmllint_and_by_the_checker() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("torg-offers-1.xsd");
    std::fs::write(&schema, XSD).unwrap();
    let mut numbers = Numbers(2026);
    let documents: Vec<String> = (0..DOCUMENTS).map(|_| document(&mut numbers)).collect();
    let files: Vec<PathBuf> = (0..DOCUMENTS).map(|at| folder.path().join(format!("{at}.xml"))).collect();
    for (file, text) in files.iter().zip(&documents) {
        std::fs::write(file, text).unwrap();
    }
    let ours: Vec<_> =
        documents.iter().map(|text| check(text.as_bytes(), Options::default(), &mut ())).collect();
    let sound = ours.iter().filter(|report| report.summary.is_sound()).count();
    assert!((DOCUMENTS / 4..DOCUMENTS * 3 / 4).contains(&sound), "{sound}");
    let Some(theirs) = judge(&schema, &files) else {
        println!("SKIPPED: the judgement of xmllint, because it is not installed (Debian: libxml2-utils)");
        return;
    };
    for ((text, ours), theirs) in documents.iter().zip(&ours).zip(theirs) {
        let said = ours.render("document", Language::English);
        assert_eq!(ours.summary.is_sound(), theirs, "xmllint says {theirs}\n{text}\n{said}");
    }
}

#[test]
fn every_sound_part_is_accepted_and_every_wrong_one_refused() {
    let judged = |part: &str| {
        let text = format!(
            "<torg-offers version=\"1\"><offers><offer id=\"1\"><title>T</title>{part}</offer></offers></torg-offers>"
        );
        check(text.as_bytes(), Options::default(), &mut ())
    };
    for part in SOUND {
        assert!(judged(part).summary.is_sound(), "{part}\n{}", judged(part).render("x", Language::English));
    }
    for part in WRONG {
        assert!(!judged(part).summary.is_sound(), "{part}");
    }
}
