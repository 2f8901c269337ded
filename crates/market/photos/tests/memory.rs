//! Memory stays within its budget. A binary of its own, because it measures the memory of the
//! process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

use std::sync::Arc;

use futures::future::join_all;
use photos::{Config, ImagePool, Refusal};

#[path = "it/bomb.rs"]
mod bomb;

const MIB: u64 = 1024 * 1024;

/// A line of the process's own status, in bytes.
fn status(name: &str) -> u64 {
    let all = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = all.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[tokio::test]
async fn eight_large_pictures_at_once_stay_within_the_budget() {
    let budget = 320 * MIB;
    let config = Config { workers: 8, memory_bytes: budget, ..Config::default() };
    let pool = ImagePool::new(Arc::new(config));
    let refused = pool.make(bomb::png(10_000, 10_000).into()).await.unwrap_err();
    assert!(matches!(refused, Refusal::TooManyPixels { .. }));
    let profile = bomb::png_with_profile(1024);
    // Shown without its profile or refused: both are fine.
    let _ = pool.make(profile.into()).await;
    let large = bytes::Bytes::from(bomb::png(5_000, 4_000));
    let before = status("VmRSS");
    let peak = status("VmHWM") / MIB;
    assert!(peak < 100, "bombs of 300 MB and of a gigabyte took next to nothing, not {peak} MiB");
    let made = join_all((0..8).map(|_| pool.make(large.clone()))).await;
    assert!(made.iter().all(Result::is_ok));
    let grown = status("VmHWM") - before;
    assert!(grown < budget, "{} MiB", grown / MIB);
    assert_eq!(pool.free_bytes(), budget);
}
