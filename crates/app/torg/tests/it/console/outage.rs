//! Outages as the console shows them: it says what is wrong, stays up, and recovers by itself.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::json;

use crate::common::Server;
use crate::console::browser::{Browser, Driver, Width, is_there};
use crate::console::rig::{self, Stage, ask, wait_until};

/// Prints how long a page took to show a text. Only for people: machines differ, so no test checks
/// it.
fn timed(what: &str, wait: impl FnOnce()) {
    let start = Instant::now();
    wait();
    // Not `println!`: the test harness would hide it for a test that passes.
    let _ = writeln!(std::io::stderr(), "{what}: {:.1} s", start.elapsed().as_secs_f64());
}

/// A host with a feed, until it is closed.
fn host(open: &Arc<AtomicBool>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, open) = (listener.local_addr().unwrap().port(), Arc::clone(open));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            if !open.load(Ordering::Relaxed) {
                continue;
            }
            let mut stream = stream;
            let _ = stream.read(&mut [0; 4096]);
            let body = "<yml_catalog date=\"2026-11-01 10:00\"><shop><offers></offers></shop></yml_catalog>";
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/xml\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    port
}

#[test]
fn a_dead_stage_a_stopped_database_and_a_feed_host_that_is_gone_are_told_and_forgotten_when_they_are_back() {
    if !is_there() {
        return;
    }
    let Ok(postgres) = testkit::Postgres::start() else {
        testkit::skip("outages told by the console", "PostgreSQL is not installed: see scripts/test");
        return;
    };
    let (folder, port) = (Arc::new(tempfile::tempdir().unwrap()), testkit::free_port());
    let stage = Stage::start_on(&folder, port);
    let server = Server::start_in(
        &folder,
        &[
            ("TORG_STORE_URL", &postgres.fresh_database()),
            ("TORG_FEEDS_ANY_PORT", "true"),
            ("TORG_FEEDS_ALLOW_ADDRESSES", "127.0.0.0/8"),
        ],
    );
    let driver = Driver::start();
    let registered = ask(
        &server,
        "torg.stages.v1.StageAdminService/RegisterStage",
        &json!({"stage": {"id": "title-polish", "endpoints": [format!("http://127.0.0.1:{port}")], "mayChange": "title"}}),
    );
    assert_eq!(registered["stage"]["id"], "title-polish", "{registered}");
    let browser = rig::window(&driver, &server, "admin", Width::Desktop, "en");
    browser.go("/console/");
    browser.wait_for("No known problems.");

    ask(
        &server,
        "torg.offers.v1.OfferService/CreateOffer",
        &json!({"offer": {"seller": "nina", "category": "sg-4-4-3-2", "title": "A  bicycle",
            "price": {"fixed": {"micros": "150000000", "currency": "EUR"}}, "place": {"address": "Bremen"}}}),
    );
    // The stage is killed while it has no work.
    drop(stage);
    timed("a stage that was killed is told after", || browser.wait_for("does not answer"));
    browser.picture("outage-stage");
    assert!(browser.text().contains("title-polish"));
    let stage = Stage::start_on(&folder, port);
    timed("and forgotten after it is back", || browser.wait_for("No known problems."));

    // A feed whose host goes away.
    let open = Arc::new(AtomicBool::new(true));
    let link = format!("http://127.0.0.1:{}/feed.xml", host(&open));
    ask(
        &server,
        "torg.feeds.v1.FeedService/CreateFeed",
        &json!({"feed": {"seller": "nina", "namespace": "link", "link": {"url": link}}}),
    );
    let fetched = |good: bool| {
        let feed = ask(
            &server,
            "torg.feeds.v1.FeedService/GetFeed",
            &json!({"seller": "nina", "namespace": "link"}),
        );
        let outcome = feed["feed"]["lastFetch"]["outcome"].as_str().unwrap_or_default().to_owned();
        if good {
            outcome == "OUTCOME_NEW" || outcome == "OUTCOME_UNCHANGED"
        } else {
            outcome.starts_with("OUTCOME_FAILED")
        }
    };
    wait_until("the feed is fetched", || fetched(true));
    open.store(false, Ordering::Relaxed);
    ask(&server, "torg.feeds.v1.FeedService/FetchNow", &json!({"seller": "nina", "namespace": "link"}));
    wait_until("the fetch fails", || fetched(false));
    timed("a feed whose host is gone is told after the fetch", || browser.wait_for("nina/link"));
    browser.picture("outage-feed");
    browser.go("/console/feeds/nina/link");
    browser.wait_for("127.0.0.1");
    open.store(true, Ordering::Relaxed);
    ask(&server, "torg.feeds.v1.FeedService/FetchNow", &json!({"seller": "nina", "namespace": "link"}));
    browser.go("/console/");
    timed("and forgotten after it is back", || browser.wait_until_gone("nina/link"));

    // The database is stopped under open pages.
    let cabinet = rig::window(&driver, &server, "admin", Width::Phone, "ru");
    cabinet.go("/console/sellers/nina");
    cabinet.wait_for("bicycle");
    postgres.stop_immediate();
    timed("a stopped database is told after", || browser.wait_for("store"));
    browser.wait_until("the overview does not say that the store is away", |browser| {
        browser.has("#wrongs li.bad")
    });
    browser.picture("outage-store");
    for path in
        ["/console/", "/console/stages", "/console/sellers/nina", "/console/cluster", "/console/topics"]
    {
        cabinet.go(path);
        assert!(cabinet.has("nav.menu"), "{path} does not stay up: {}", cabinet.text());
    }
    cabinet.go("/console/sellers/nina");
    cabinet.wait_for("Сейчас это показать нельзя");
    postgres.start_again();
    timed("and forgotten after it is back", || {
        browser.wait_until("the overview still complains", |browser| !browser.has("#wrongs li.bad"));
    });
    // The page that could not be shown recovers by itself.
    cabinet.wait_for("bicycle");
    drop(stage);
}

#[test]
fn whoever_is_signed_in_looks_on_while_the_database_that_has_their_key_is_stopped() {
    if !is_there() {
        return;
    }
    let Ok(postgres) = testkit::Postgres::start() else {
        testkit::skip("outages told by the console", "PostgreSQL is not installed: see scripts/test");
        return;
    };
    let store = postgres.fresh_database();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let (server, keys) = rig::guarded_with(&folder, &["admin"], &[("TORG_STORE_URL", &store)]);
    let driver = Driver::start();
    let browser = Browser::open(&driver, &server.url(), Width::Desktop, "en");
    browser.go("/console/sign-in");
    browser.sign_in(&keys[0]);
    browser.wait_for("No known problems.");
    let figures = || server.get_as("/metrics", Some(&keys[0]));
    assert_eq!(figures().status, 200);
    postgres.stop_immediate();
    timed("with keys, a stopped database is told after", || {
        browser.wait_until("the overview does not say that the store is away", |browser| {
            browser.has("#wrongs li.bad")
        });
    });
    // The cache of keys expires within seconds; after that no key can be checked.
    browser.wait_until("the key is still checked", |browser| {
        browser.go("/console/");
        browser.text().contains("so your key cannot be checked")
    });
    assert!(browser.has("#wrongs li.bad"), "{}", browser.text());
    browser.picture("outage-store-with-keys");
    // Scrapes of the figures with the same key go on.
    let scraped = figures();
    assert_eq!(scraped.status, 200, "{}", scraped.body);
    assert!(scraped.body.contains("\ntorg_store_answers 0.0"), "{}", scraped.body);
    for path in ["/console/stages", "/console/cluster", "/console/stages/expiry"] {
        browser.go(path);
        assert!(browser.has("nav.menu"), "{path} does not stay up: {}", browser.text());
        assert!(!browser.has("#pause"), "nothing can be done meanwhile");
    }
    browser.go("/console/");
    postgres.start_again();
    timed("and forgotten after it is back", || {
        browser.wait_until("the overview still complains", |browser| !browser.has("#wrongs li.bad"));
    });
}
