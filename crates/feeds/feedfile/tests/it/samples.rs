//! Real feeds outside of the project: `TORG_FEED_SAMPLES` names their folder, described by its
//! `SOURCES.txt`.

use feedfile::{Format, Language, Options, Outcome, check};
use std::fs::File;
use std::path::Path;

#[test]
fn every_sample_has_the_format_the_encoding_and_the_number_of_offers_that_its_source_says() {
    let Ok(folder) = std::env::var("TORG_FEED_SAMPLES") else {
        println!("SKIPPED: real feeds, because TORG_FEED_SAMPLES names no folder of them");
        return;
    };
    let sources = std::fs::read_to_string(Path::new(&folder).join("SOURCES.txt")).unwrap();
    for line in sources.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let (name, what) = (cells.next().unwrap(), cells.next_back().unwrap());
        let file = File::open(Path::new(&folder).join(name)).unwrap();
        let report = check(file, Options::default(), &mut ());
        let summary = &report.summary;
        println!("{name}: {}", report.to_json());
        assert_eq!(summary.outcome, Outcome::Complete, "{}", report.render(name, Language::English));
        assert_eq!(summary.format, Some(format(what)), "{name}");
        let encoding = if what.contains("windows-1251") { "windows-1251" } else { "UTF-8" };
        assert_eq!(summary.encoding, encoding, "{name}");
        if let Some(offers) = offers(what) {
            assert_eq!(summary.offers, offers, "{name}");
        }
        assert!(summary.accepted * 10 >= summary.offers * 8, "{}", report.render(name, Language::English));
    }
}

fn format(what: &str) -> Format {
    let first = what.split(',').next().unwrap();
    match first {
        _ if first.contains("torg_price") || first.starts_with("YML") => Format::Yml,
        _ if first.starts_with("Avito") => Format::Avito,
        _ if first.starts_with("Atom") => Format::GoogleAtom,
        _ if first.contains("TSV") => Format::GoogleTsv,
        _ => Format::GoogleRss,
    }
}

fn offers(what: &str) -> Option<u64> {
    let words: Vec<&str> = what.split_whitespace().collect();
    let counted = ["offers", "offer", "ads", "items", "item", "entry"];
    words.windows(2).find_map(|pair| {
        let unit = pair[1].trim_end_matches([',', ';']);
        counted.contains(&unit).then(|| pair[0].parse().ok()).flatten()
    })
}
