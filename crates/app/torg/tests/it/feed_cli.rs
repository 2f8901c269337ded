//! `torg feed ...` against a running process: a seller's work in a terminal, from the first file to
//! the last.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fmt::Write as _;

use crate::common::{Ended, Server, run, torg};
use serde_json::Value;

/// Sofas with these numbers; one with an invalid price is rejected.
fn sofas(numbers: std::ops::Range<u32>, price: &str) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<yml_catalog date=\"2026-01-31 12:00\"><shop><currencies><currency id=\"RUB\" rate=\"1\"/>\
         </currencies><categories><category id=\"1\">Диваны</category></categories><offers>\n",
    );
    for number in numbers {
        writeln!(
            text,
            "<offer id=\"{number}\"><name>Диван угловой {number}</name><price>{price}</price><currencyId>RUB</currencyId>\
             <categoryId>1</categoryId></offer>"
        )
        .unwrap();
    }
    text + "</offers></shop></yml_catalog>\n"
}

struct Seller<'s>(&'s Server);

impl Seller<'_> {
    fn run(&self, arguments: &[&str]) -> Ended {
        let url = self.0.url();
        let place = ["--server", &url, "--seller", "ann"];
        run(torg(&self.0.folder, &[&["feed"], arguments, &place].concat()))
    }

    fn done(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        ended.stdout
    }

    fn refused(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(1), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        ended.stderr
    }

    fn write(&self, name: &str, content: &str) {
        std::fs::write(self.0.folder.path().join(name), content).unwrap();
    }
}

#[test]
fn a_seller_makes_a_feed_loads_files_reads_what_is_wrong_and_deletes_it() {
    let server = Server::start(&[]);
    let ann = Seller(&server);
    let told = format!("there is no feed yet: torg feed add --seller ann --server {}\n", server.url());
    assert_eq!(ann.done(&["list"]), told, "what is printed can be typed as it is");
    let made = ann.done(&["add", "--title", "Sofas", "--currency", "rub", "--guard-share", "0.3"]);
    assert!(made.starts_with("feed default of ann (Sofas)\nfiles are uploaded"), "{made}");
    assert!(ann.refused(&["add"]).starts_with("error: "), "there is one already");

    ann.write(
        "first.xml",
        &(sofas(0..29, "9990")
            .replace("</offers>", "<offer id=\"bad\"><name>Диван</name><price>?</price></offer></offers>")),
    );
    let report = ann.done(&["upload", "first.xml", "--wait"]);
    assert!(report.starts_with("load 1 (yml, UTF-8): done\n  30 offers: 29 new, 1 rejected\n"), "{report}");
    assert!(report.contains("1 bad_price"), "{report}");

    let errors = ann.done(&["errors", "--code", "bad_price"]);
    assert!(errors.contains("1 x error[bad_price]: The price is not a number"), "{errors}");
    assert!(errors.contains("error[bad_price]: price: a number is expected (\"?\")"), "{errors}");
    assert!(errors.contains("  --> line 32, column "), "{errors}");
    let none = ann.done(&["errors", "--severity", "error", "--offer", "5", "--json"]);
    let none: Value = serde_json::from_str(&none).unwrap();
    assert_eq!((&none["load"], none["problems"].as_array().unwrap().len()), (&1.into(), 0), "{none}");
    ann.done(&["errors", "--csv", "report.csv", "--language", "ru"]);
    let table = std::fs::read_to_string(server.folder.path().join("report.csv")).unwrap();
    assert!(table.contains("bad_price") && table.contains("Пишите число"), "{table}");
    ann.done(&["errors", "--xlsx", "report.xlsx"]);
    let sheet = std::fs::read(server.folder.path().join("report.xlsx")).unwrap();
    assert!(sheet.starts_with(b"PK"), "a spreadsheet is a zip file");

    // Most offers are gone, so the load needs a confirmation.
    ann.write("second.xml", &sofas(0..5, "8990"));
    let waits = ann.run(&["upload", "second.xml", "--wait"]);
    assert_eq!(waits.code, Some(1), "{}", waits.stdout);
    assert!(waits.stdout.starts_with("load 2 (yml, UTF-8): waits to be confirmed"), "{}", waits.stdout);
    assert!(waits.stderr.contains("would remove 24 of 29 offers"), "{}", waits.stderr);
    assert!(ann.done(&["confirm"]).starts_with("load 2"));
    assert!(ann.refused(&["confirm", "1"]).contains("does not wait"));
    let history = ann.done(&["history"]);
    assert!(history.lines().nth(1).unwrap().starts_with("2  "), "{history}");
    assert!(ann.done(&["list"]).contains("Sofas"));

    let paused = ann.done(&["pause"]);
    assert!(paused.starts_with("feed default of ann (Sofas), paused"), "{paused}");
    assert!(!ann.done(&["resume"]).contains("paused"));
    let changed = ann.done(&["update", "--title", "Диваны", "--missing", "keep", "--guard-least", "7"]);
    assert!(changed.starts_with("feed default of ann (Диваны)"), "{changed}");
    assert!(changed.contains("does not have any more stay"), "{changed}");
    assert!(changed.contains("more than 30 % of more than 7 offers"), "what is not named stays: {changed}");
    let object: Value = serde_json::from_str(&ann.done(&["show", "--json"])).unwrap();
    assert_eq!(
        (&object["title"], &object["defaults"]["currency"]),
        (&"Диваны".into(), &"RUB".into()),
        "{object}"
    );
    assert_eq!(ann.done(&["delete", "--offers", "manual"]), "feed default is being deleted\n");
}

#[test]
fn files_that_cannot_be_loaded_end_with_the_reason() {
    let server = Server::start(&[]);
    let ann = Seller(&server);
    assert!(ann.refused(&["upload", "none.xml"]).starts_with("error: none.xml: No such file"));
    ann.write("page.html", "<html><body>404</body></html>");
    assert!(ann.refused(&["upload", "page.html"]).contains("there is no feed \"default\""));
    ann.done(&["add"]);
    let ended = ann.run(&["upload", "page.html", "--wait"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(ended.stdout.contains("line 1, column 1: this is a web page, not a feed"), "{}", ended.stdout);
    assert!(ended.stderr.starts_with("error: load 1 failed\nhint: "), "{}", ended.stderr);
    assert!(ann.refused(&["update"]).starts_with("error: nothing is to be changed"));
    assert!(ann.refused(&["fetch"]).starts_with("error: "), "there is no link");
    for wrong in [&["delete"][..], &["add", "--every", "often"], &["add", "--missing", "burn"], &["map"]] {
        assert_eq!(ann.run(wrong).code, Some(2), "{wrong:?}");
    }
}

#[test]
fn a_seller_says_what_an_own_category_is() {
    let server = Server::start(&[]);
    let ann = Seller(&server);
    assert!(ann.done(&["mappings"]).starts_with("no category was mapped yet"));
    let said = ann.done(&["map", "Мягкое > Угловое", "fr-22"]);
    assert_eq!(said, "Мягкое > Угловое is fr-22 from the next load on\n");
    let mappings = ann.done(&["mappings"]);
    assert!(mappings.lines().any(|line| line.starts_with("Мягкое > Угловое  fr-22")), "{mappings}");
    assert!(ann.refused(&["map", "Мягкое", "nothing"]).contains("the catalogue has no category \"nothing\""));
    ann.done(&["map", "Мягкое > Угловое"]);
    assert!(!ann.done(&["mappings"]).contains("fr-22"));
}

#[test]
fn without_a_server_it_is_told_how_to_start_one() {
    let folder = tempfile::tempdir().unwrap();
    let ended = run(torg(&folder, &["feed", "list", "--server", "http://127.0.0.1:1"]));
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.starts_with("error: no server answers at http://127.0.0.1:1"), "{}", ended.stderr);
    assert!(ended.stderr.contains("hint: start `torg serve`"), "{}", ended.stderr);
}
