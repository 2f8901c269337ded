//! kill -9 of a writing process: nothing acknowledged is lost, nothing is half visible, counters
//! equal their recount.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use store::conformance::{self, COUNTS, ENTRIES, LISTS, OFFERS, QUEUE};
use store::{Batch, Outcome, Read, Store, StoreOptions, StoreUrl};

const KILLS: u32 = 30;
const WRITERS: u32 = 16;
/// Tells a copy of this test binary that it is the writing process, and on which store.
const WRITE_TO: &str = "TORG_TEST_WRITE_TO";
const LIFE: &str = "TORG_TEST_LIFE";

async fn open(url: &str) -> Store {
    let options = StoreOptions { cache_bytes: 16 << 20, free_bytes_min: 1 << 20, ..StoreOptions::default() };
    let url: StoreUrl = url.parse().expect("the address is valid");
    Store::open(&url, conformance::schema().expect("the schema is valid"), &options)
        .await
        .expect("the store opens")
}

/// Batch `n` of a writer: rows in five tables that only make sense together.
fn batch(life: u32, writer: u32, n: i64, previous: Option<u64>) -> Batch {
    let offer = OFFERS.key((writer, "hot"));
    let mut batch = Batch::new();
    let version = previous.unwrap_or(0);
    batch.check(offer.clone(), version).put(offer, version + 1, format!("{life}.{n}").repeat(300));
    batch.set(LISTS.key((writer, n, &life.to_string(), &b""[..])), vec![n as u8; 40]);
    batch.set(
        QUEUE.key((life, n, writer.to_be_bytes().to_vec())),
        noise(u64::from(life * WRITERS + writer) << 32 | n as u64),
    );
    batch.put(ENTRIES.key((life, n.to_be_bytes().to_vec(), writer.to_string())), 1, "");
    batch.add(COUNTS.key((0, "batches")), 1).add(COUNTS.key((writer, "mine")), 1);
    batch
}

/// Bytes that do not compress, enough for the thirty lives to fill several journals.
fn noise(seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; 20_000];
    StdRng::seed_from_u64(seed).fill(&mut bytes[..]);
    bytes
}

/// The writing process: prints `writer n` for each acknowledged batch, until it is killed.
#[test]
fn writes_until_it_is_killed_when_it_is_started_by_the_other_tests() {
    let Ok(url) = std::env::var(WRITE_TO) else { return };
    let life: u32 = std::env::var(LIFE).expect("set by the parent").parse().expect("a number");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = open(&url).await;
        let writers = (0..WRITERS).map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let hot = OFFERS.key((writer, "hot"));
                for n in 0.. {
                    let version = store.get_one(&hot).await.expect("it can be read").map(|row| row.version);
                    let outcome =
                        store.commit(batch(life, writer, n, version)).await.expect("it can be written");
                    assert_eq!(outcome, Outcome::Applied, "nobody else writes this offer");
                    // One write call a line: the parent must not see half of one.
                    std::io::stdout()
                        .write_all(format!("\nack {writer} {n}\n").as_bytes())
                        .expect("the parent reads");
                }
            })
        });
        futures::future::join_all(writers).await;
    });
}

fn start_writer(url: &str, life: u32) -> Child {
    let this = std::env::current_exe().expect("the test knows itself");
    Command::new(this)
        .args([
            "--exact",
            "kill::writes_until_it_is_killed_when_it_is_started_by_the_other_tests",
            "--nocapture",
        ])
        .env(WRITE_TO, url)
        .env(LIFE, life.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the writer starts")
}

/// Lets a writing process live for so many acknowledgements, kills it, and returns the last
/// acknowledged batch by writer.
fn one_life(url: &str, life: u32, acks: u32) -> BTreeMap<u32, i64> {
    let mut child = start_writer(url, life);
    let mut acknowledged = BTreeMap::new();
    let output = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    let mut left = acks;
    for ack in output {
        let ack = ack.expect("the pipe can be read");
        let mut words = ack.split(' ');
        if words.next() == Some("ack") {
            let mut number = || words.next().expect("two numbers").parse::<i64>().expect("a number");
            let (writer, n) = (number(), number());
            acknowledged.insert(writer as u32, n);
            left = left.saturating_sub(1);
        }
        if left == 0 {
            // SIGKILL. What was acknowledged before it arrives is still read below.
            child.kill().expect("the writer can be killed");
        }
    }
    child.wait().expect("the writer is gone");
    assert_eq!(left, 0, "the writer of life {life} died by itself");
    acknowledged
}

async fn verify(store: &Store, lives: &[BTreeMap<u32, i64>]) {
    // Of one moment: a server may still be ending what a writer that is dead by now has asked for.
    let store = store.snapshot().await.expect("it can be read");
    let amount = async |key| store.get_one(&key).await.expect("it can be read").map_or(0, |row| row.amount());
    let mut total = 0;
    for writer in 0..WRITERS {
        let mut mine = 0;
        for (life, acknowledged) in lives.iter().enumerate() {
            let last = acknowledged.get(&writer).copied().unwrap_or(-1);
            // One more than acknowledged may have been written.
            for n in 0..=last + 1 {
                let keys: Vec<_> =
                    batch(life as u32, writer, n, None).writes()[1..4].iter().map(|w| w.0.clone()).collect();
                let rows = store.get(&keys).await.expect("it can be read");
                let present = rows.iter().filter(|row| row.is_some()).count();
                assert!(
                    present == 0 || present == 3,
                    "life {life}, writer {writer}, batch {n} is half there"
                );
                assert!(
                    present == 3 || n > last,
                    "life {life}, writer {writer}: acknowledged batch {n} of {last} is lost"
                );
                mine += i64::from(present == 3);
            }
        }
        let version = store
            .get_one(&OFFERS.key((writer, "hot")))
            .await
            .expect("it can be read")
            .map_or(0, |row| row.version);
        let count = amount(COUNTS.key((writer, "mine"))).await;
        assert_eq!(
            (version as i64, count),
            (mine, mine),
            "writer {writer}: version and counter must equal the recount"
        );
        total += mine;
    }
    assert_eq!(amount(COUNTS.key((0, "batches"))).await, total);
}

fn kill_thirty_times(url: &str, seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut lives = Vec::new();
    let mut bytes = 0.0;
    for life in 0..KILLS {
        lives.push(one_life(url, life, rng.random_range(1..400)));
        runtime.block_on(async {
            let store = open(url).await;
            verify(&store, &lives).await;
            let mut damages = Vec::new();
            store.verify(&mut |damage| damages.push(damage)).await.expect("verification runs");
            assert!(damages.is_empty(), "{damages:?}");
            bytes = store
                .gauges()
                .iter()
                .find(|(name, _)| *name == "store_disk_bytes")
                .map_or(0.0, |gauge| gauge.1);
            store.close().await.expect("it closes");
        });
    }
    assert!(bytes == 0.0 || bytes > 80e6, "journals were hardly turned over: {bytes} bytes");
}

#[test]
fn an_embedded_store_survives_thirty_kills_of_its_writer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    kill_thirty_times(&format!("fjall:{}", folder.path().join("store").display()), 1);
}

#[test]
fn a_store_on_postgresql_survives_thirty_kills_of_its_writer() {
    let Some(postgres) = testkit::postgres() else { return };
    kill_thirty_times(&postgres.fresh_database(), 2);
}
