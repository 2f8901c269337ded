//! A new version of the catalogue: surveyed, installed, and a report of what could not be migrated.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use crate::catalog::{SHOP, done, refused};
use crate::common::{PATIENCE, Server};

const MIGRATION: &str = r#"[migration]
from = 3
to = 4
[[category]]
from = "bikes"
to = "cycles"
"#;

/// The next version: bicycles have another id, and fewer speeds.
fn next_shop() -> String {
    SHOP.replace("version = 3", "version = 4")
        .replace("[category.bikes]", "[category.cycles]")
        .replace("max = 30", "max = 10")
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The third version as the present one.
fn shop() -> Arc<tempfile::TempDir> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "torg.toml", "[offers]\ncatalogue_dir = \"own\"\n");
    write(folder.path(), "own/shop.toml", SHOP);
    Arc::new(folder)
}

/// The fourth version, with the third as its predecessor.
fn install_next(folder: &Path) {
    write(folder, "torg.toml", "[offers]\ncatalogue_dir = \"own\"\ncatalogue_past_dir = \"past\"\n");
    write(folder, "own/shop.toml", &next_shop());
    write(folder, "past/3/shop.toml", SHOP);
    write(folder, "past/3-4.toml", MIGRATION);
}

fn publish(server: &Server, speeds: &str) -> String {
    let values = |value: &str| json!({"values": [value]});
    let offer = json!({
        "seller": "ann", "category": "bikes", "title": "A bike", "price": {"free": {}},
        "attributes": {"frame": values("steel"), "speeds": values(speeds)},
    });
    let body = json!({ "offer": offer }).to_string();
    let made = server.post_json("/torg.offers.v1.OfferService/CreateOffer", &body).json();
    made["offer"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
}

fn offer(server: &Server, id: &str) -> Value {
    let body = json!({ "id": id }).to_string();
    server.post_json("/torg.offers.v1.OfferService/GetOffer", &body).json()["offer"].clone()
}

fn eventually(server: &Server, id: &str, so: impl Fn(&Value) -> bool) {
    let until = Instant::now() + PATIENCE;
    loop {
        let offer = offer(server, id);
        if so(&offer) {
            return;
        }
        assert!(Instant::now() < until, "{offer}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn a_survey_says_what_a_new_catalogue_does_and_what_could_not_be_moved() {
    let folder = shop();
    let server = Server::start_in(&folder, &[]);
    let (few, many) = (publish(&server, "7"), publish(&server, "27"));
    server.stop();
    assert_eq!(done(&folder, &["catalog", "survey"])[1..], counts(2, 0, 0));

    install_next(folder.path());
    let checked = done(&folder, &["catalog", "check"]);
    assert_eq!(checked[1], "its past leads from version 3 to version 4");
    let lines = done(&folder, &["catalog", "survey"]);
    assert_eq!(lines[0], "to version 4 of the catalogue, from version 3 onwards:");
    assert_eq!(lines[1..4], counts(0, 1, 1));
    assert_eq!(lines[4], "           1 x attributes.speeds: too_large");
    assert!(lines[5].starts_with(&format!("  {many}  attributes.speeds: ")), "{lines:?}");
    assert_eq!(lines[6], "a re-crawl moves them: torg stages recrawl start");
    let surveyed = survey_json(&folder);
    let counted = json!([{"field": "attributes.speeds", "code": "too_large", "count": 1}]);
    assert_eq!(surveyed["obstacles"], counted, "{surveyed}");
    assert_eq!(surveyed["examples"][0]["offer"], *many, "{surveyed}");
    assert_eq!((&surveyed["from_version"], &surveyed["version"]), (&json!(3), &json!(4)));

    let server = Server::start_in(&folder, &[]);
    let url = server.url();
    done(&folder, &["stages", "recrawl", "start", "--server", &url]);
    eventually(&server, &few, |offer| offer["category"] == "cycles" && offer["catalogueVersion"] == 4);
    eventually(&server, &many, |offer| offer["obstacles"][0]["code"] == "too_large");
    assert_eq!(offer(&server, &many)["category"], "bikes");
    server.stop();
    let surveyed = survey_json(&folder);
    let counted = ["already", "moved", "stuck"].map(|name| surveyed[name].as_u64().unwrap());
    assert_eq!(counted, [1, 0, 1], "{surveyed}");
}

#[test]
fn a_past_that_cannot_be_read_is_refused_with_what_to_do() {
    let folder = shop();
    install_next(folder.path());
    write(folder.path(), "past/3-4.toml", &MIGRATION.replace("cycles", "cicles"));
    for arguments in [&["catalog", "survey"][..], &["catalog", "check"], &["serve"]] {
        let (_, error, hint) = refused_at_last(&folder, arguments);
        assert!(error.contains("past/3-4.toml:") && error.contains("cicles"), "{error}");
        assert_eq!(hint, "mend the files in offers.catalogue_past_dir");
    }
    std::fs::remove_file(folder.path().join("past/3-4.toml")).unwrap();
    let (_, error, _) = refused(&folder, &["catalog", "survey"]);
    assert!(error.contains("past/3-4.toml"), "{error}");
    std::fs::remove_dir_all(folder.path().join("past")).unwrap();
    let (_, error, _) = refused(&folder, &["catalog", "survey"]);
    assert!(error.contains("past: "), "{error}");
}

/// A refusal that follows log lines.
fn refused_at_last(folder: &tempfile::TempDir, arguments: &[&str]) -> (Vec<String>, String, String) {
    if arguments != ["serve"] {
        return refused(folder, arguments);
    }
    let mut command = crate::catalog::torg(folder, &["serve", "--listen", "127.0.0.1:0"]);
    command.env("TORG_LOG_LEVEL", "off");
    let ended = crate::catalog::run(command);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let lines: Vec<&str> = ended.stderr.lines().collect();
    let after = |start: &str| lines.iter().find_map(|line| line.strip_prefix(start)).unwrap().to_owned();
    (Vec::new(), after("error: "), after("hint: "))
}

fn survey_json(folder: &tempfile::TempDir) -> Value {
    let lines = done(folder, &["catalog", "survey", "--json"]);
    serde_json::from_str(&lines.join("\n")).unwrap_or_else(|error| panic!("{error}: {lines:?}"))
}

fn counts(already: u32, moved: u32, stuck: u32) -> [String; 3] {
    [
        format!("{already:>12} offers are of it already, or archived"),
        format!("{moved:>12} can be moved"),
        format!("{stuck:>12} cannot be moved"),
    ]
}
