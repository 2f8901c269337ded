//! Feeds that are fetched from a link, with a clock that the test moves and one server in place of
//! the internet.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{Market, yml};
use async_trait::async_trait;
use feeds::FeedName;
use fetch::{Client, Network, Pipe, Rules};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use watcher::{Clock, Time};
use wire::torg::feeds::v1::fetch::Outcome;
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::{Feed, Fetch, Link};

const START_MS: i64 = 1_700_000_000_000;
const HOUR: Duration = Duration::from_secs(3600);

/// One server for every name; `inside.example.com` has a private address.
#[derive(Clone, Default)]
struct Site {
    answers: Arc<Mutex<BTreeMap<String, String>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    fn says(&self, path: &str, head: &str, body: &str) {
        let answer = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        self.answers.lock().unwrap().insert(path.to_owned(), answer);
    }

    /// The heads of all requests.
    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    async fn answer(&self, mut pipe: impl Pipe) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(byte) = pipe.read_u8().await else { return };
            head.push(byte);
        }
        let head = String::from_utf8(head).unwrap();
        let path = head.split(' ').nth(1).unwrap().to_owned();
        self.asked.lock().unwrap().push(head);
        let answer = self.answers.lock().unwrap().get(&path).cloned();
        let missing = || "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned();
        // Whoever has seen enough hangs up.
        let _ = pipe.write_all(answer.unwrap_or_else(missing).as_bytes()).await;
    }
}

#[async_trait]
impl Network for Site {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let address = if name.starts_with("inside.") { "10.1.2.3" } else { "93.184.216.34" };
        Ok(vec![address.parse().unwrap()])
    }

    async fn connect(&self, _address: SocketAddr) -> io::Result<Box<dyn Pipe>> {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let site = self.clone();
        tokio::spawn(async move { site.answer(theirs).await });
        Ok(Box::new(ours))
    }
}

struct Shop {
    market: Market,
    site: Site,
    now_ms: Arc<AtomicI64>,
    feed: FeedName,
}

impl Shop {
    /// A shop with a feed at this link, before it was fetched.
    async fn open(site: Site, link: Link) -> Self {
        let now_ms = Arc::new(AtomicI64::new(START_MS));
        let ms = Arc::clone(&now_ms);
        let clock = Clock::new(move || Time::from_ms(ms.load(Ordering::SeqCst)));
        let client = Client::over(Arc::new(site.clone()), Rules::default());
        let market = Market::start_with(Some(client), &clock, None).await;
        let feed = Feed { seller: "ann".to_owned(), link: Some(link).into(), ..Feed::default() };
        market.feeds.create(feed).await.unwrap();
        let feed = FeedName { seller: "ann".to_owned(), namespace: "default".to_owned() };
        Self { market, site, now_ms, feed }
    }

    fn pass(&self, time: Duration) {
        self.now_ms.fetch_add(time.as_millis() as i64, Ordering::SeqCst);
    }

    /// Waits for an attempt at the present moment, with so many requests so far; how it ended, and
    /// when the next one is.
    async fn fetched(&self, number: usize) -> (Fetch, Duration) {
        for _ in 0..1200 {
            let feed = self.market.feeds.get(&self.feed).await.unwrap();
            let next = feed.next_fetch_time.as_option().map_or(0, offers::time::to_ms);
            let now = self.now_ms.load(Ordering::SeqCst);
            let fetch = feed.last_fetch.as_option().cloned().unwrap_or_default();
            let is_of_now = fetch.time.as_option().is_some_and(|at| offers::time::to_ms(at) == now);
            if self.site.asked().len() >= number && is_of_now {
                return (fetch, Duration::from_millis((next - now) as u64));
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("it was never fetched: {:?}", self.site.asked());
    }
}

fn link(url: &str) -> Link {
    Link { url: url.to_owned(), ..Link::default() }
}

fn outcome(fetch: &Fetch) -> Outcome {
    fetch.outcome.as_known().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_fetched_at_once_and_loaded_again_only_if_the_file_is_another() {
    let site = Site::default();
    let file = yml(&[("1", "Диван серый", 100)]);
    site.says("/feed", "200 OK\r\nETag: \"one\"", &file);
    let user = "ann".to_owned();
    let with_password = Link { user, password: "secret".to_owned(), ..link("http://shop.example.com/feed") };
    let shop = Shop::open(site, with_password).await;
    let (first, next) = shop.fetched(1).await;
    assert_eq!((outcome(&first), next), (Outcome::OUTCOME_NEW, 4 * HOUR));
    assert!(shop.site.asked()[0].contains("YW5uOnNlY3JldA=="), "user and password are sent");
    assert_eq!(shop.market.ended(&shop.feed, 1).await.state.as_known(), Some(State::STATE_DONE));
    assert_eq!(shop.market.live(&shop.feed).await.len(), 1);
    let shown = shop.market.feeds.get(&shop.feed).await.unwrap();
    assert_eq!(shown.link.as_option().unwrap().password, "***", "the password is never shown again");

    shop.site.says("/feed", "304 Not Modified", "");
    shop.pass(4 * HOUR);
    assert_eq!(outcome(&shop.fetched(2).await.0), Outcome::OUTCOME_UNCHANGED);
    assert!(
        shop.site.asked()[1].to_lowercase().contains("if-none-match: \"one\""),
        "{}",
        shop.site.asked()[1]
    );

    // A server that does not know what it gave before.
    shop.site.says("/feed", "200 OK", &file);
    shop.pass(4 * HOUR);
    assert_eq!(outcome(&shop.fetched(3).await.0), Outcome::OUTCOME_UNCHANGED);

    shop.site.says("/feed", "200 OK", &yml(&[("1", "Диван серый", 90)]));
    shop.pass(Duration::from_secs(1));
    shop.market.feeds.fetch_now(&shop.feed).await.unwrap();
    assert_eq!(outcome(&shop.fetched(4).await.0), Outcome::OUTCOME_NEW);
    assert_eq!(shop.market.ended(&shop.feed, 2).await.counts.as_option().unwrap().changed, 1);
    assert_eq!(shop.market.feeds.loads(&shop.feed, None, 10).await.unwrap().len(), 2);
    shop.market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_pass_is_tried_again_soon_and_what_lasts_at_the_usual_time() {
    let site = Site::default();
    site.says("/feed", "503 Busy", "");
    let shop = Shop::open(site, link("http://shop.example.com/feed")).await;
    let (busy, next) = shop.fetched(1).await;
    assert_eq!((outcome(&busy), busy.attempts), (Outcome::OUTCOME_FAILED_FOR_NOW, 1));
    assert!(next <= Duration::from_secs(60) && busy.text.contains("503"), "{next:?} {}", busy.text);
    shop.pass(next);
    let (busy, again) = shop.fetched(2).await;
    assert_eq!((busy.attempts, again), (2, 2 * next), "the pauses grow");

    shop.site.says("/feed", "404 Not Found", "");
    shop.pass(again);
    let (missing, next) = shop.fetched(3).await;
    assert_eq!((outcome(&missing), next), (Outcome::OUTCOME_FAILED, 4 * HOUR));
    assert!(missing.text.contains("404"), "{}", missing.text);

    shop.site.says("/feed", "200 OK", &yml(&[("1", "Диван серый", 100)]));
    shop.pass(next);
    let (new, _) = shop.fetched(4).await;
    assert_eq!((outcome(&new), new.attempts), (Outcome::OUTCOME_NEW, 0));
    shop.market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_are_not_public_are_refused_also_behind_a_redirect() {
    let site = Site::default();
    let shop = Shop::open(site, link("http://shop.example.com/feed")).await;
    shop.fetched(1).await;
    let cases = [
        ("http://inside.example.com/feed", "private_address", 0),
        ("http://127.0.0.1/feed", "private_address", 0),
        ("http://[::ffff:169.254.169.254]/latest", "private_address", 0),
        ("http://shop.example.com/inside", "private_address", 1),
        ("http://shop.example.com/metadata", "private_address", 1),
    ];
    shop.site.says("/inside", "302 Found\r\nLocation: http://inside.example.com/feed", "");
    shop.site.says("/metadata", "302 Found\r\nLocation: http://169.254.169.254/latest", "");
    for (url, code, requests) in cases {
        let before = shop.site.asked().len();
        shop.pass(Duration::from_secs(1));
        let set = |feed: &mut Feed| {
            feed.link = Some(link(url)).into();
            Ok(())
        };
        shop.market.feeds.update(&shop.feed, None, set).await.unwrap();
        let (refused, _) = shop.fetched(before + requests).await;
        assert_eq!(
            (outcome(&refused), &*refused.code),
            (Outcome::OUTCOME_FAILED, code),
            "{url}: {}",
            refused.text
        );
        assert_eq!(shop.site.asked().len(), before + requests, "{url}: nothing else was asked");
    }
    shop.market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_feed_is_neither_fetched_nor_read() {
    let site = Site::default();
    site.says("/feed", "200 OK", &yml(&[("1", "Диван серый", 100)]));
    let shop = Shop::open(site, link("http://shop.example.com/feed")).await;
    shop.fetched(1).await;
    shop.market.ended(&shop.feed, 1).await;
    let pause = async |paused: bool| {
        let set = |feed: &mut Feed| {
            feed.paused = paused;
            Ok(())
        };
        shop.market.feeds.update(&shop.feed, None, set).await.unwrap();
    };
    pause(true).await;
    shop.pass(24 * HOUR);
    let number = shop.market.upload(&shop.feed, &yml(&[("1", "Диван серый", 90)])).await;
    // Another feed is served meanwhile: whatever would have been done by then is done.
    let other = shop.market.feed("bob", "default").await;
    shop.market.load(&other, &yml(&[("1", "Диван", 50)])).await;
    assert_eq!(shop.site.asked().len(), 1);
    let waiting = shop.market.feeds.load(&shop.feed, number).await.unwrap();
    assert_eq!(waiting.state.as_known(), Some(State::STATE_QUEUED));
    pause(false).await;
    shop.fetched(2).await;
    assert_eq!(shop.market.ended(&shop.feed, number).await.state.as_known(), Some(State::STATE_DONE));
    shop.market.stop().await;
}
