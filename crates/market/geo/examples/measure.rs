//! How long the places take to load, how much memory they take, how many look-ups a second: `cargo
//! run --release -p geo --example measure-geo`.

#![allow(clippy::disallowed_methods, reason = "it measures time")]

use std::time::Instant;

use geo::{Hints, Places, Point};

const LOOKUPS: usize = 200_000;

fn main() -> geo::Result<()> {
    let before = resident_kb();
    let start = Instant::now();
    let places = Places::builtin()?;
    println!(
        "{} places loaded in {:.0} ms; {:.1} MiB of tables, {:.1} MiB more resident",
        places.len(),
        start.elapsed().as_secs_f64() * 1000.0,
        places.memory_bytes() as f64 / 1_048_576.0,
        resident_kb().saturating_sub(before) as f64 / 1024.0,
    );
    let addresses = [
        "г. Санкт-Петербург, Невский пр., 1",
        "в Москве",
        "Berlin, Germany",
        "Московская область, Химки, ул. Победы, д. 5, кв. 12",
        "London, ON",
        "109012, г.Москва, ул. Ильинка, д.4",
        "самовывоз",
    ];
    let start = Instant::now();
    let found = (0..LOOKUPS)
        .filter(|n| places.find(addresses[n % addresses.len()], Hints::default()).is_some())
        .count();
    report("addresses", LOOKUPS, start, found);
    let start = Instant::now();
    let points = (0..LOOKUPS)
        .map(|n| Point { latitude: (n % 120) as f64 - 50.0, longitude: (n % 359) as f64 - 179.0 });
    let found = points.filter(|point| places.nearest(*point).is_some()).count();
    report("nearest to a point", LOOKUPS, start, found);
    let start = Instant::now();
    let points = (0..LOOKUPS).map(|n| Point {
        latitude: 55.0 + (n % 100) as f64 / 100.0,
        longitude: 37.0 + (n % 97) as f64 / 97.0,
    });
    let found = points.filter(|point| places.locate(*point).is_some()).count();
    report("points in and around Moscow", LOOKUPS, start, found);
    println!("{}", geo::ATTRIBUTION);
    Ok(())
}

fn report(what: &str, count: usize, start: Instant, found: usize) {
    let seconds = start.elapsed().as_secs_f64();
    let (rate, each) = (count as f64 / seconds, seconds * 1e6 / count as f64);
    println!("{what}: {rate:.0} a second, {each:.1} us each, {found} of {count} found");
}

fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).unwrap_or_default()
}
