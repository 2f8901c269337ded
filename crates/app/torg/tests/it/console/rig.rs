//! Servers for browser tests: the demo, small, and one with access control.

use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{PATIENCE, Server, run, torg};
use crate::console::browser::{Browser, Driver, Width};

/// A seller of the demo whose feed has no mistakes.
pub(crate) const SHOP: &str = "mebelny-dom";
/// Their feed.
pub(crate) const GOOD: &str = "good";
/// A seller of the demo whose feed has mistakes.
pub(crate) const CARELESS: &str = "tehno-ryad";
/// A seller outside the demo: only the test changes their offers.
pub(crate) const NINA: &str = "nina";
/// Offers of the demo in a test.
const OFFERS: &str = "200";

/// The demo on a free port, once all data of the pages exists: offers, loads of feeds, runs of
/// tasks.
pub(crate) fn demo() -> Server {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let data = folder.path().join("demo");
    let arguments = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--data",
        data.to_str().unwrap(),
        "--demo",
        "--demo-offers",
        OFFERS,
    ];
    let server = Server::start_as(&folder, &arguments, &[]);
    wait_until("all offers are made", || {
        let progress = std::fs::read_to_string(data.join("progress.json")).unwrap_or_default();
        let progress: Value = serde_json::from_str(&progress).unwrap_or_default();
        progress["offers"].as_u64() == OFFERS.parse().ok()
    });
    for (seller, namespace) in [(CARELESS, mistakes(&server)), (SHOP, GOOD.to_owned())] {
        wait_until("the feed is loaded", || is_loaded(&server, seller, &namespace));
    }
    wait_until("a task has run", || !runs(&server).is_empty());
    server
}

fn is_loaded(server: &Server, seller: &str, namespace: &str) -> bool {
    let feed = json!({"seller": seller, "namespace": namespace});
    let loads = ask(server, "torg.feeds.v1.FeedService/ListLoads", &feed);
    loads["loads"].as_array().is_some_and(|loads| loads.iter().any(|load| load["state"] == "STATE_DONE"))
}

/// The namespace of the feed with mistakes.
pub(crate) fn mistakes(server: &Server) -> String {
    let feeds = ask(server, "torg.feeds.v1.FeedService/ListFeeds", &json!({"seller": CARELESS}));
    feeds["feeds"][0]["namespace"].as_str().unwrap_or("default").to_owned()
}

/// Names of tasks that have run, with the number of a run.
pub(crate) fn runs(server: &Server) -> Vec<(String, u64)> {
    let tasks = ask(server, "torg.tasks.v1.TaskService/ListTasks", &json!({}));
    let mut found = Vec::new();
    for task in tasks["tasks"].as_array().cloned().unwrap_or_default() {
        let name = task["name"].as_str().unwrap_or_default().to_owned();
        let runs = ask(server, "torg.tasks.v1.TaskService/ListRuns", &json!({"task": name}));
        if let Some(number) = runs["runs"][0]["number"].as_str().and_then(|text| text.parse().ok()) {
            found.push((name, number));
        }
    }
    found
}

/// An offer of a seller.
pub(crate) fn offer_of(server: &Server, seller: &str) -> String {
    let offers = ask(
        server,
        "torg.offers.v1.CabinetService/ListOffers",
        &json!({"seller": seller, "preset": "PRESET_ALL"}),
    );
    offers["offers"][0]["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{seller} has no offers: {offers}"))
        .to_owned()
}

/// An offer of [`NINA`] with this title.
pub(crate) fn make_offer(server: &Server, title: &str) -> String {
    let offer = json!({"offer": {"seller": NINA, "category": "sg-4-4-3-2", "title": title,
        "price": {"fixed": {"micros": "150000000", "currency": "EUR"}}, "place": {"address": "Bremen"}}});
    let made = ask(server, "torg.offers.v1.OfferService/CreateOffer", &offer);
    made["offer"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
}

/// The response to a call, with access control off.
pub(crate) fn ask(server: &Server, method: &str, body: &Value) -> Value {
    let answer = server.post_json(&format!("/{method}"), &body.to_string());
    answer.json()
}

/// Waits until a condition holds.
pub(crate) fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + 3 * PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "not so after a long time: {what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// A window of a user with this role; a seller is [`CARELESS`].
pub(crate) fn window<'a>(
    driver: &'a Driver,
    server: &Server,
    role: &str,
    width: Width,
    language: &str,
) -> Browser<'a> {
    window_at(driver, &server.url(), role, width, language)
}

/// The same at the address of a server.
pub(crate) fn window_at<'a>(
    driver: &'a Driver,
    url: &str,
    role: &str,
    width: Width,
    language: &str,
) -> Browser<'a> {
    window_of(driver, url, role, CARELESS, width, language)
}

/// The same for this seller.
pub(crate) fn window_of<'a>(
    driver: &'a Driver,
    url: &str,
    role: &str,
    seller: &str,
    width: Width,
    language: &str,
) -> Browser<'a> {
    let browser = Browser::open(driver, url, width, language);
    let seller = if role == "seller" { format!("&seller={seller}") } else { String::new() };
    browser.go(&format!("/console/sign-in?as={role}{seller}"));
    browser
}

/// A server that requires a key, with a key for each of these roles.
pub(crate) fn guarded(roles: &[&str]) -> (Server, Vec<String>) {
    guarded_with(&Arc::new(tempfile::tempdir().unwrap()), roles, &[])
}

/// The same in this folder, with more in its environment.
pub(crate) fn guarded_with(
    folder: &Arc<tempfile::TempDir>,
    roles: &[&str],
    environment: &[(&str, &str)],
) -> (Server, Vec<String>) {
    let keys = roles
        .iter()
        .map(|role| {
            let seller: &[&str] = if *role == "seller" { &["--seller", "anna"] } else { &[] };
            let arguments = [&["keys", "add", "somebody", "--role", role], seller].concat();
            let mut adding = torg(folder, &arguments);
            adding.envs(environment.iter().copied());
            let ended = run(adding);
            let words = ended.stdout.split_whitespace().chain(ended.stderr.split_whitespace());
            let key = words.map(|word| {
                word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-')
            });
            key.into_iter()
                .find(|word| word.starts_with("torg_"))
                .unwrap_or_else(|| panic!("{}", ended.stderr))
                .to_owned()
        })
        .collect();
    let environment = [environment, &[("TORG_ACCESS_MODE", "required")]].concat();
    let server = Server::start_in(folder, &environment);
    (server, keys)
}

/// An outside stage in a separate process: that of the demo.
pub(crate) struct Stage {
    child: Child,
    port: u16,
}

impl Stage {
    pub(crate) fn start(folder: &Arc<tempfile::TempDir>) -> Stage {
        Stage::start_on(folder, testkit::free_port())
    }

    pub(crate) fn start_on(folder: &Arc<tempfile::TempDir>, port: u16) -> Stage {
        let mut command = torg(folder, &["demo-stage", "--listen", &format!("127.0.0.1:{port}")]);
        let child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("the stage listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Stage { child, port }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
