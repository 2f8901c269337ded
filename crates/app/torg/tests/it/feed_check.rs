//! `torg feed check`: a seller's view of a file, without a server.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::common::{Ended, run, torg};
use serde_json::Value;

/// A feed with these offers, each on its own line from line 5 on.
fn yml(offers: &[&str]) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<yml_catalog date=\"2026-01-31 12:00\"><shop><name>Shop</name>\n\
         <currencies><currency id=\"RUB\" rate=\"1\"/></currencies><categories><category id=\"1\">Диваны</category>\n\
         </categories><offers>\n{}\n</offers></shop></yml_catalog>\n",
        offers.join("\n")
    )
}

fn sofa(id: u32, price: &str) -> String {
    format!(
        "<offer id=\"{id}\"><name>Диван угловой {id}</name><price>{price}</price>\
         <currencyId>RUB</currencyId><categoryId>1</categoryId></offer>"
    )
}

/// Runs the check on a file with this content.
fn check(name: &str, content: impl AsRef<[u8]>, arguments: &[&str]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), content).unwrap();
    run(torg(&folder, &[&["feed", "check", name], arguments].concat()))
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}{}", ended.stdout, ended.stderr))
}

#[test]
fn a_good_file_is_told_in_one_line_and_ends_well() {
    let ended = check("good.xml", yml(&[&sofa(1, "9990"), &sofa(2, "12 500,50")]), &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout, "good.xml: yml, UTF-8, 2 offers: 2 accepted, 0 rejected, 0 warnings\n");
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_bad_price_is_shown_with_its_line_a_caret_below_it_and_the_remedy() {
    let ended = check("shop.xml", yml(&[&sofa(1, "9990"), &sofa(2, "дорого")]), &[]);
    assert_eq!(ended.code, Some(1));
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines[0], "error[bad_price]: price: a number is expected");
    let bad = sofa(2, "дорого");
    let column = bad[..bad.find("дорого").unwrap()].chars().count() + 1;
    assert_eq!(lines[1], format!("  --> shop.xml:6:{column} (offer 2)"));
    let (line, caret) = (lines[2].strip_prefix(" 6 | ").unwrap(), lines[3].strip_prefix("   | ").unwrap());
    let marked: String = line.chars().skip(caret.chars().count() - 1).take(6).collect();
    assert_eq!((marked.as_str(), caret.trim()), ("дорого", "^"));
    assert!(
        lines[5].contains("Write a number") && lines[5].contains("docs/feed-errors.md#bad_price"),
        "{lines:?}"
    );
    assert!(ended.stdout.contains("2 offers: 1 accepted, 1 rejected"), "{}", ended.stdout);
    assert_eq!(
        ended.stderr,
        "error: 1 of 2 offers would be rejected\nhint: mend what the report names and check again\n"
    );
}

#[test]
fn the_report_is_had_in_russian() {
    let ended = check("shop.xml", yml(&[&sofa(1, "дорого")]), &["--language", "ru"]);
    assert!(ended.stdout.starts_with("ошибка[bad_price]: price: ожидается число\n"), "{}", ended.stdout);
    assert!(ended.stdout.contains("Пишите число, например 1999.90"), "{}", ended.stdout);
    assert!(ended.stdout.contains("объявлений: 1, принято: 0, отклонено: 1"), "{}", ended.stdout);
}

#[test]
fn of_many_problems_some_are_shown_and_the_rest_is_counted() {
    let offers: Vec<String> = (0..30).map(|id| sofa(id, "?")).collect();
    let offers: Vec<&str> = offers.iter().map(String::as_str).collect();
    let ended = check("many.xml", yml(&offers), &["--limit", "2"]);
    assert_eq!(ended.stdout.matches("error[bad_price]").count(), 2, "{}", ended.stdout);
    assert!(ended.stdout.contains("... and 28 more like this"), "{}", ended.stdout);
    assert!(ended.stdout.contains("errors: 30 bad_price"), "{}", ended.stdout);
}

#[test]
fn what_the_catalogue_asks_for_is_part_of_the_check_and_can_be_left_out() {
    let phone = "<offer id=\"7\"><name>Кнопочный</name><price>990</price><currencyId>RUB</currencyId>\
                 <categoryId>2</categoryId></offer>";
    let feed =
        yml(&[phone]).replace("</category>", "</category><category id=\"2\">Мобильные телефоны</category>");
    let ended = check("phones.xml", &feed, &["--json", "--problems"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    let object = json(&ended);
    assert_eq!(object["errors_by_code"]["missing_attribute"], 1, "{object}");
    let problem = &object["problems"][0];
    assert_eq!((&problem["field"], &problem["line"]), (&"attributes.brand".into(), &5.into()), "{object}");
    assert!(problem["message"].as_str().unwrap().contains("requires Brand"), "{object}");
    assert_eq!(check("phones.xml", &feed, &["--file-only"]).code, Some(0));
}

#[test]
fn json_has_the_counts_that_programs_want() {
    let ended = check("shop.xml", yml(&[&sofa(1, "9990"), &sofa(1, "5"), &sofa(2, "x")]), &["--json"]);
    assert_eq!(ended.code, Some(1));
    let object = json(&ended);
    for key in ["format", "encoding", "offers", "accepted", "rejected", "warnings", "errors_by_code"] {
        assert!(object.get(key).is_some(), "{key} in {object}");
    }
    assert_eq!(object["format"], "yml");
    assert_eq!(object["encoding"], "UTF-8");
    assert_eq!([&object["offers"], &object["accepted"], &object["rejected"]], [3, 1, 2]);
    assert_eq!(object["errors_by_code"], serde_json::json!({"bad_price": 1, "duplicate_id": 1}));
    assert!(object.get("problems").is_none(), "{object}");
}

#[test]
fn a_file_in_windows_1251_is_read_as_such() {
    let text = yml(&[&sofa(1, "9990")]).replace("UTF-8", "windows-1251");
    // ASCII letters are the same, and Cyrillic ones are contiguous from 0xC0 on.
    let bytes: Vec<u8> = text.chars().map(cp1251).collect();
    let ended = check("old.xml", bytes, &["--json"]);
    let object = json(&ended);
    assert_eq!((&object["encoding"], &object["accepted"]), (&"windows-1251".into(), &1.into()), "{object}");
}

fn cp1251(letter: char) -> u8 {
    match u32::from(letter) {
        code @ 0x410..=0x44F => u8::try_from(code - 0x410 + 0xC0).unwrap(),
        code => u8::try_from(code).unwrap(),
    }
}

#[test]
fn a_file_that_breaks_off_is_told_with_its_place() {
    let whole = yml(&[&sofa(1, "9990"), &sofa(2, "9990")]);
    let cut = &whole[..whole.find("Диван угловой 2").unwrap()];
    let ended = check("cut.xml", cut, &[]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stdout.contains("error[broken_file]: the file ends inside"), "{}", ended.stdout);
    assert!(ended.stdout.contains("  --> cut.xml:6:"), "{}", ended.stdout);
    assert!(ended.stdout.contains("no offer is removed"), "{}", ended.stdout);
    assert!(ended.stderr.starts_with("error: the file cannot be read to its end"), "{}", ended.stderr);
}

#[test]
fn a_file_that_is_no_feed_is_refused_with_what_is_expected() {
    for (content, message) in [
        ("just words\n", "neither XML nor JSON"),
        ("<html><body>404</body></html>", "this is a web page, not a feed"),
        ("<orders><order/></orders>", "the root element <orders> is none of"),
        ("", "the file is empty"),
    ] {
        let ended = check("odd", content, &[]);
        assert_eq!(ended.code, Some(1), "{content}");
        assert!(ended.stdout.contains(message), "{}", ended.stdout);
        let object = json(&check("odd", content, &["--json"]));
        assert_eq!((&object["format"], &object["offers"]), (&Value::Null, &0.into()), "{object}");
    }
}

#[test]
fn a_file_comes_from_standard_input_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = torg(&folder, &["feed", "check", "-"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(yml(&[&sofa(1, "x")]).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().contains("  --> stdin:5:"));
}

#[test]
fn wrong_usage_and_files_that_are_not_there_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let ended = run(torg(&folder, &["feed", "check", "nothing.xml"]));
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.starts_with("error: nothing.xml: No such file"), "{}", ended.stderr);
    assert!(ended.stderr.contains("hint: give the name of a file"), "{}", ended.stderr);
    assert_eq!(run(torg(&folder, &["feed", "check", "."])).code, Some(1));
    for wrong in [
        &["feed", "check"][..],
        &["feed", "check", "x", "--language", "de"],
        &["feed", "check", "x", "--currency", "roubles"],
        &["feed", "check", "x", "--problems"],
    ] {
        assert_eq!(run(torg(&folder, wrong)).code, Some(2), "{wrong:?}");
    }
}

#[test]
fn a_price_without_a_currency_gets_one_from_the_command_line() {
    let table = "id\ttitle\tprice\tlink\tproduct_type\n1\tCorner sofa\t120\thttps://example.com/1\tSofas\n";
    let object = json(&check("shop.tsv", table, &["--json"]));
    assert_eq!((&object["accepted"], &object["warnings"]), (&1.into(), &1.into()), "{object}");
    let object = json(&check("shop.tsv", table, &["--json", "--currency", "eur"]));
    assert_eq!((&object["accepted"], &object["warnings"]), (&1.into(), &0.into()), "{object}");
}

#[test]
fn the_schema_is_printed_and_the_accuracy_of_categories_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let schema = run(torg(&folder, &["feed", "schema"]));
    assert!(schema.stdout.contains("<xs:schema") && schema.stdout.trim_end().ends_with("</xs:schema>"));
    std::fs::write(
        folder.path().join("set.tsv"),
        "test\tДиван\tМебель > Диваны\tfr-22\ntrain\tДиван серый\tМебель > Диваны\thg\n",
    )
    .unwrap();
    let ended = run(torg(&folder, &["catalog", "accuracy", "set.tsv", "--json", "--errors"]));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let object = json(&ended);
    assert_eq!((&object["held_out"]["first"], &object["train"]["first"]), (&1.into(), &0.into()), "{object}");
    assert_eq!(object["errors"][0]["title"], "Диван серый", "{object}");
    std::fs::write(folder.path().join("set.tsv"), "test\tДиван\n").unwrap();
    assert_eq!(run(torg(&folder, &["catalog", "accuracy", "set.tsv"])).code, Some(1));
}

#[test]
fn every_sample_has_the_format_the_encoding_and_the_number_of_offers_that_its_source_says() {
    let Ok(folder) = std::env::var("TORG_FEED_SAMPLES") else {
        println!("SKIPPED: real feeds, because TORG_FEED_SAMPLES names no folder of them");
        return;
    };
    let here = tempfile::tempdir().unwrap();
    let sources = std::fs::read_to_string(Path::new(&folder).join("SOURCES.txt")).unwrap();
    for line in sources.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let (name, what) = (cells.next().unwrap(), cells.next_back().unwrap());
        let file = Path::new(&folder).join(name);
        let object = json(&run(torg(&here, &["feed", "check", file.to_str().unwrap(), "--json"])));
        println!("{name}: {object}");
        assert_eq!(object["format"], format(what), "{name}");
        let encoding = if what.contains("windows-1251") { "windows-1251" } else { "UTF-8" };
        assert_eq!(object["encoding"], encoding, "{name}");
        if let Some(offers) = offers(what) {
            assert_eq!(object["offers"], offers, "{name}");
        }
        assert_eq!(object["broken"], Value::Null, "{name}");
    }
}

fn format(what: &str) -> &'static str {
    let first = what.split(',').next().unwrap();
    match first {
        _ if first.contains("torg_price") || first.starts_with("YML") => "yml",
        _ if first.starts_with("Avito") => "avito",
        _ if first.starts_with("Atom") => "google_atom",
        _ if first.contains("TSV") => "google_tsv",
        _ => "google_rss",
    }
}

/// The number before the word for offers.
fn offers(what: &str) -> Option<u64> {
    let words: Vec<&str> = what.split_whitespace().collect();
    let counted = ["offers", "offer", "ads", "items", "item", "entry"];
    words.windows(2).find_map(|pair| {
        let unit = pair[1].trim_end_matches([',', ';']);
        counted.contains(&unit).then(|| pair[0].parse().ok()).flatten()
    })
}
