//! Simulates the whole path with faults: stores, file storage and links fail, processes are killed
//! at any moment and others take over, sellers send files that are broken, empty, invalid or
//! overtaken. Every commit is checked when it happens (`evidence.rs`), and everything readable at
//! the end (`checks.rs`):
//! - no batch of a load is applied twice, or before its turn; no end comes before its batches;
//! - nothing is removed by a load that failed, was partial, or is older than another that has
//!   begun, nor by one that has it;
//! - statistics are what happened; what is shown in the end is what the last file has.
//!
//! `TORG_FEED_SEEDS=200` tries more seeds than usual, `TORG_FEED_SEED=17` that one alone. Files are
//! read by threads of their own, so a seed gives the same files and the same faults, but not the
//! same interleaving.

mod checks;
mod dice;
mod engine;
mod evidence;
mod file;
mod people;
mod process;
mod storage;
mod time;
mod web;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use dice::Dice;
use evidence::name_of;
use people::Seller;
use process::{Ground, Process};
use topics::Topics;

/// Seeds that every run of the tests tries.
const SEEDS: u64 = 8;
/// Processes that run at the same time.
const PROCESSES: usize = 3;

fn number_from(variable: &str) -> Option<u64> {
    Some(std::env::var(variable).ok()?.parse().unwrap_or_else(|_| panic!("{variable} must be a number")))
}

#[test]
fn whatever_goes_wrong_loads_are_applied_once_in_order_and_remove_only_what_is_given_up() {
    let seeds = match number_from("TORG_FEED_SEED") {
        Some(seed) => seed..seed + 1,
        None => 1..number_from("TORG_FEED_SEEDS").unwrap_or(SEEDS) + 1,
    };
    let next = Mutex::new(seeds);
    let play_some = || {
        while let Some(seed) = { next.lock().unwrap().next() } {
            println!("seed {seed} begins");
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
            println!("seed {seed}: {}", runtime.unwrap().block_on(play(seed)));
        }
    };
    std::thread::scope(|threads| {
        threads.spawn(play_some);
        threads.spawn(play_some);
    });
}

/// One run; what happened in it, in a few words.
async fn play(seed: u64) -> String {
    let _moving = time::Moving::start();
    let ground = Ground::new(seed).await;
    let mut sellers = Vec::new();
    for (seller, namespace, has_link) in
        [("ann", "one", false), ("ann", "two", true), ("bob", "default", false)]
    {
        sellers.push(Seller::begin(&ground, name_of(seller, namespace), has_link).await);
    }
    tokio::select! {
        _ = futures::future::join_all(sellers.iter_mut().map(Seller::act)) => {}
        () = kill_now_and_then(&ground) => {}
    }
    ground.calm();
    finish(&ground, sellers).await
}

async fn kill_now_and_then(ground: &Ground) {
    let (dice, mut made) = (Dice::of(ground.seed, "kills"), 0);
    let mut start = || {
        made += 1;
        Process::start(ground, format!("p{made}"))
    };
    let mut processes: Vec<Process> = (0..PROCESSES).map(|_| start()).collect();
    loop {
        tokio::time::sleep(dice.ms(1000..15_000)).await;
        let victim = dice.within(0..PROCESSES as u64) as usize;
        processes[victim] = start();
    }
}

/// Lets everything come to its end, and looks.
async fn finish(ground: &Ground, mut sellers: Vec<Seller>) -> String {
    let _processes =
        [Process::start(ground, "last".to_owned()), Process::start(ground, "but one".to_owned())];
    let lasts = futures::future::join_all(sellers.iter_mut().map(Seller::end)).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(ground.evidence.violations(), Vec::<String>::new());
    let (offers, feeds) = ground.open("judge").await;
    let mut states: BTreeMap<String, usize> = BTreeMap::new();
    for (seller, last) in sellers.iter().zip(lasts) {
        checks::shows_the_last_file(&offers, &ground.evidence, &seller.name, last).await;
        for (state, count) in
            checks::statistics_are_what_happened(&feeds, &ground.evidence, &seller.name).await
        {
            *states.entry(state).or_default() += count;
        }
    }
    let store = ground.store("judge");
    checks::ends_come_last(&Topics::in_store(&store)).await;
    checks::nothing_is_left(&store).await;
    format!("{states:?}, {} faults", ground.fault_count())
}
