//! Values that Torg sets itself, and a task that waits for one of them.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{PATIENCE, Server, run, torg};
use jiff::Timestamp;
use serde_json::{Value, json};

const FEED: &str = "<?xml version=\"1.0\"?>\n<yml_catalog date=\"2026-01-31 12:00\"><shop><currencies><currency id=\"RUB\" rate=\"1\"/>\
    </currencies><categories><category id=\"1\">Диваны</category></categories><offers><offer id=\"1\"><name>Диван угловой</name>\
    <price>9990</price><currencyId>RUB</currencyId><categoryId>1</categoryId></offer></offers></shop></yml_catalog>\n";

/// A task that waits for loads of a seller's feed.
const TASKS: &str = "
tasks:
  report:
    when: {grew: {of: torg/feeds/ann/default.loaded_at, by: 1s}}
    run: {shell: 'echo \"$TORG_VALUE_TORG_FEEDS_ANN_DEFAULT_LOADED_AT\" >> loads.txt'}
";

fn done(server: &Server, arguments: &[&str]) -> String {
    let ended = run(torg(&server.folder, &[arguments, &["--server", &server.url()]].concat()));
    assert_eq!(ended.code, Some(0), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
    ended.stdout
}

fn value(server: &Server, parameter: &str) -> Option<String> {
    let request = json!({"parameters": [parameter]});
    let answer = server.post_json("/torg.tasks.v1.CtlService/GetValues", &request.to_string());
    let value: Value = answer.json()["values"][0]["value"].clone();
    let text = value["time"].as_str().or(value["number"].as_str());
    text.map(str::to_owned)
}

/// A task and a JSON response may write the same moment with a different number of digits.
fn moment(text: &str) -> Timestamp {
    text.trim().parse().unwrap()
}

fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE * 2;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < until, "it never came to be: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn exports_loads_of_feeds_and_recrawls_are_values_that_tasks_can_wait_on() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("tasks.yaml"), TASKS).unwrap();
    std::fs::write(folder.path().join("feed.xml"), FEED).unwrap();
    let server = Server::start_in(&folder, &[("TORG_TASKS_PATH", "tasks.yaml")]);
    until("the tasks are counted", || {
        server.get("/metrics").body.contains("\ntorg_tasks_defined 1.0\n").then_some(())
    });
    done(&server, &["feed", "add", "--currency", "rub", "--seller", "ann"]);
    done(&server, &["feed", "upload", "feed.xml", "--wait", "--seller", "ann"]);
    let loaded = value(&server, "torg/feeds/ann/default.loaded_at").unwrap();
    let seen = until("the task saw the load", || {
        std::fs::read_to_string(folder.path().join("loads.txt")).ok().filter(|text| text.ends_with('\n'))
    });
    assert_eq!(moment(&seen), moment(&loaded), "the value that the commit of the load has set");

    until("the export is told", || value(&server, "torg/offers.exported_to"));
    assert_eq!(value(&server, "torg/recrawl.percent"), None, "there was none");
    done(&server, &["stages", "recrawl", "start"]);
    until("the end of the re-crawl is told", || value(&server, "torg/recrawl.finished_at"));
    assert_eq!(value(&server, "torg/recrawl.percent").as_deref(), Some("100"));

    // The next re-crawl begins and ends between two samples: both show a hundred per cent.
    let first = value(&server, "torg/recrawl.finished_at").map(|time| moment(&time)).unwrap();
    done(&server, &["stages", "recrawl", "start"]);
    until("the end of the next re-crawl is told", || {
        value(&server, "torg/recrawl.finished_at").filter(|time| moment(time) > first)
    });
    server.stop();
}
