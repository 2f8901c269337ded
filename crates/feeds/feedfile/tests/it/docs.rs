//! The examples of the pages are valid, and reports have the expected form.

use feedfile::{Format, Language, Options, check};

#[test]
fn every_example_of_the_page_of_formats_is_sound() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/feed-formats.md"))
        .unwrap();
    let mut found = Vec::new();
    for block in page.split("```").skip(1).step_by(2) {
        let (_, text) = block.split_once('\n').unwrap();
        let report = check(text.as_bytes(), Options::default(), &mut ());
        assert!(
            report.summary.is_sound() && report.summary.warnings() == 0,
            "{}",
            report.render("x", Language::English)
        );
        found.push((report.summary.format.unwrap(), report.summary.accepted));
    }
    assert_eq!(found, [(Format::OwnXml, 4), (Format::OwnJson, 2), (Format::ParsedProfile, 1)]);
}

const TABLE: &str = "id\ttitle\tprice\n1\tЛампа\t5 EUR\n2\tСтол\tпять\n2\tСтул\t7 EUR\n";

#[test]
fn a_report_shows_the_line_a_caret_and_the_remedy() {
    let report = check(TABLE.as_bytes(), Options::default(), &mut ());
    let expected = "\
error[duplicate_id]: id: an earlier offer has this id
  --> feed.tsv:4:1 (offer 2)
 4 | 2 Стул 7 EUR
   | ^
   = An earlier offer of the file has the same id; the first one counts.
   = Give every offer an id of its own, and keep it from load to load. (docs/feed-errors.md#duplicate_id)

error[bad_price]: price: a number is expected
  --> feed.tsv:3:8 (offer 2)
 3 | 2 Стол пять
   |        ^
   = The price is not a number, or out of range.
   = Write a number such as 1999.90, without words. (docs/feed-errors.md#bad_price)

feed.tsv: google_tsv, UTF-8, 3 offers: 1 accepted, 2 rejected, 0 warnings
  errors: 1 bad_price, 1 duplicate_id
";
    let order = |text: &str| {
        let mut groups: Vec<String> = text.split("\n\n").map(str::trim).map(str::to_owned).collect();
        groups.sort();
        groups
    };
    assert_eq!(order(&report.render("feed.tsv", Language::English)), order(expected));
    assert!(
        report.render("feed.tsv", Language::Russian).contains("Пишите число, например 1999.90, без слов.")
    );
}

#[test]
fn a_report_for_programs_has_the_promised_keys() {
    let report = check(TABLE.as_bytes(), Options::default(), &mut ()).to_json();
    assert_eq!(report["format"], "google_tsv");
    assert_eq!(report["encoding"], "UTF-8");
    assert_eq!(
        (&report["offers"], &report["accepted"], &report["rejected"]),
        (&3.into(), &1.into(), &2.into())
    );
    assert_eq!(report["warnings"], 0);
    assert_eq!(report["errors_by_code"], serde_json::json!({"bad_price": 1, "duplicate_id": 1}));
    assert!(report["broken"].is_null());
    let broken = check(&b"<yml_catalog>\n<shop>"[..], Options::default(), &mut ()).to_json();
    assert_eq!((&broken["broken"]["code"], &broken["broken"]["line"]), (&"broken_file".into(), &2.into()));
}

#[test]
fn twenty_thousand_equal_problems_are_one_group() {
    let rows: Vec<String> = (0..20_000).map(|id| format!("{id}\tt\tx\n")).collect();
    let table = format!("id\ttitle\tprice\n{}", rows.concat());
    let report = check(table.as_bytes(), Options::default(), &mut ());
    let text = report.render("feed.tsv", Language::English);
    assert!(text.contains("... and 19,990 more like this"));
    assert!(text.lines().count() < 60, "{text}");
}

#[test]
fn the_message_of_broken_json_leaves_the_place_to_the_caret() {
    let text = "{\"offers\": [ {\"id\": \"1\", \"title\": \"Лампа\", \"price\": 100, } ]}";
    let report = check(text.as_bytes(), Options::default(), &mut ());
    let shown = report.render("x", Language::English);
    assert!(shown.starts_with("error[broken_offer]: trailing comma\n  --> x:1:58 (offer 1)\n"), "{shown}");
}
