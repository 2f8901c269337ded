//! Stores of earlier versions: they open, their check succeeds, and their data is served.

#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::common::{Server, run, torg};

/// A demo of commit 3c854cb, killed while it ran: offers, drafts, feeds, tasks, values, a key, an
/// outside stage.
const STORE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/store-3c854cb.tar.gz");
/// The count of `torg store check` of that commit.
const SOUND: &str = "sound: 6234 rows in";

fn unpacked() -> Arc<tempfile::TempDir> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("tar");
    assert!(command.arg("-xzf").arg(STORE).arg("-C").arg(folder.path()).status().unwrap().success());
    Arc::new(folder)
}

fn offers(server: &Server, seller: &str) -> Vec<Value> {
    let request = json!({"seller": seller, "pageSize": 100}).to_string();
    let answer = server.post_json("/torg.offers.v1.CabinetService/ListOffers", &request);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["offers"].as_array().cloned().unwrap_or_default()
}

#[test]
fn a_store_of_the_version_before_is_sound_and_served() {
    let folder = unpacked();
    assert!(Path::new(&folder.path().join("store")).is_dir());
    let checked = run(torg(&folder, &["store", "check", "--store", "fjall:store"]));
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    assert!(checked.stdout.contains(SOUND), "{}", checked.stdout);

    let server = Server::start_in(&folder, &[("TORG_STORE_URL", "fjall:store")]);
    let found = offers(&server, "anna-k");
    let sofa = found.iter().find(|offer| offer["title"] == "Угловой диван, серый").unwrap();
    assert_eq!(sofa["status"], "STATUS_ACTIVE");
    assert_eq!(sofa["price"]["fixed"]["micros"], "31000000000");
    let asked = json!({"id": sofa["id"]}).to_string();
    let history = server.post_json("/torg.offers.v1.OfferService/GetHistory", &asked);
    assert_eq!(history.status, 200, "{history:?}");
    assert!(!history.json()["entries"].as_array().unwrap().is_empty(), "{history:?}");
    let change = json!({"offer": {"id": sofa["id"], "title": "Диван"}, "updateMask": "title"});
    let changed = server.post_json("/torg.offers.v1.OfferService/UpdateOffer", &change.to_string());
    assert_eq!(changed.status, 200, "{changed:?}");

    let ask = |arguments: &[&str]| {
        let url = server.url();
        let ended = run(torg(&folder, &[arguments, &["--server", &*url, "--json"]].concat()));
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        ended.stdout
    };
    assert!(ask(&["ctl", "list"]).contains("orders.loaded_to"));
    assert!(ask(&["tasks", "list"]).contains("orders_digest"));
    assert!(ask(&["keys", "list"]).contains("fixture"));
    assert!(ask(&["stages", "list"]).contains("title-polish"));
    assert!(ask(&["feed", "list", "--seller", "anna-k"]).contains("own"));
    server.stop();
}

#[test]
fn names_of_before_are_refused_with_the_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    for (old, new) in
        [("scheduler", "stages"), ("loader", "feeds"), ("processor", "feeds"), ("reactive", "tasks")]
    {
        let ended = run(torg(&folder, &["config", "--roles", old]));
        assert_eq!(ended.code, Some(1));
        let told = format!("the role \"{old}\" is called \"{new}\" now");
        assert!(ended.stderr.contains(&told), "{}", ended.stderr);
    }
    let ended = run(torg(&folder, &["bench", "store"]));
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("torg-bench"), "{}", ended.stderr);
}
