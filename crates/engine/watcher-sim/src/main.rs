//! `watcher-sim`: runs many simulations, repeats one of them, or hunts for planted bugs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use tokio::time::Instant;
use watcher::planted::Bug;
use watcher_sim::{Hunted, Options, Outcome, breaks, bug_named, hunt, simulate};

/// A planted bug must be caught within this many seeds.
const HUNT_SEEDS_MAX: u64 = 50;

/// Simulates the watcher.
#[derive(Parser)]
#[command(name = "watcher-sim", version)]
struct Arguments {
    /// How many seeds to simulate.
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// Simulates only this seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Writes everything that happens to this file; only with --seed.
    #[arg(long, requires = "seed")]
    trace: Option<PathBuf>,
    /// How long things go wrong in each simulation, in simulated seconds; by default the seed
    /// decides.
    #[arg(long)]
    seconds: Option<u64>,
    /// Simulates every seed twice and compares the traces.
    #[arg(long)]
    twice: bool,
    /// Plants a bug.
    #[arg(long, value_parser = parse_bug)]
    bug: Option<Bug>,
    /// Plants every bug, one after the other, and prints which invariant catches it.
    #[arg(long)]
    bugs: bool,
}

fn parse_bug(name: &str) -> Result<Bug, String> {
    let known = || Bug::ALL.iter().map(|bug| format!("{bug:?}")).collect::<Vec<_>>().join(", ");
    bug_named(name).ok_or_else(|| format!("there is no such bug; there are {}", known()))
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let is_fine = if arguments.bugs { hunt_all(&arguments) } else { run_seeds(&arguments)? };
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Default)]
struct Sums {
    seeds: u64,
    events: u64,
    commits: u64,
    calls: u64,
    simulated: Duration,
    faults: BTreeMap<String, u64>,
    checks: BTreeMap<&'static str, u64>,
}

impl Sums {
    fn add(&mut self, outcome: &Outcome) {
        self.seeds += 1;
        self.events += outcome.events;
        self.commits += outcome.commits;
        self.calls += outcome.calls;
        self.simulated += outcome.simulated;
        for (kind, count) in &outcome.faults {
            *self.faults.entry(kind.clone()).or_default() += count;
        }
        for (invariant, count) in &outcome.checks {
            *self.checks.entry(invariant).or_default() += count;
        }
    }

    fn print(&self, real: Duration) {
        println!("seeds      {}", self.seeds);
        println!("events     {} ({} commits, {} calls of stages)", self.events, self.commits, self.calls);
        println!("faults");
        self.faults.iter().for_each(|(kind, count)| println!("  {count:>10} {kind}"));
        println!("invariants checked");
        self.checks.iter().for_each(|(invariant, count)| println!("  {count:>10} {invariant}"));
        let speed = self.simulated.as_secs_f64() / real.as_secs_f64().max(0.001);
        println!(
            "time       {:.0} s simulated in {:.1} s: {speed:.0} simulated seconds per second",
            self.simulated.as_secs_f64(),
            real.as_secs_f64()
        );
    }
}

fn run_seeds(arguments: &Arguments) -> Result<bool> {
    let (first, count) = arguments.seed.map_or((arguments.first, arguments.seeds), |seed| (seed, 1));
    let (started, mut sums) = (Instant::now(), Sums::default());
    for seed in first..first + count {
        let options = Options {
            seed,
            seconds: arguments.seconds,
            bug: arguments.bug,
            keep_trace: arguments.trace.is_some(),
            looking_for: None,
        };
        let outcome = simulate(&options);
        sums.add(&outcome);
        if let (Some(path), Some(trace)) = (&arguments.trace, &outcome.trace) {
            let text = trace.join("\n") + "\n";
            std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        if arguments.seed.is_some() {
            println!("trace      {:016x}, {} lines", outcome.hash, outcome.events);
        }
        if arguments.twice && simulate(&options).hash != outcome.hash {
            println!("seed {seed} gives two different traces");
            return Ok(false);
        }
        if !outcome.violations.is_empty() {
            print_failure(&outcome);
            return Ok(false);
        }
    }
    sums.print(started.elapsed());
    Ok(true)
}

fn print_failure(outcome: &Outcome) {
    println!("the last events:");
    outcome.last.iter().for_each(|line| println!("{line}"));
    println!();
    for violation in &outcome.violations {
        let watcher_sim::Violation { invariant, seen, at_ms } = violation;
        println!("seed {} violates \"{invariant}\" at {at_ms} ms: {seen}", outcome.seed);
    }
    println!("again with everything that happened: --seed {} --trace FILE", outcome.seed);
}

fn hunt_all(arguments: &Arguments) -> bool {
    println!("{:<18} {:<42} {:<12} also noticed by", "bug", "caught by", "at seed");
    let mut all_caught = true;
    for bug in Bug::ALL {
        let Hunted { bug, seed, tried, also } =
            hunt(*bug, arguments.first, HUNT_SEEDS_MAX, arguments.seconds);
        all_caught &= seed.is_some();
        let at = seed.map_or_else(|| format!("MISSED ({tried})"), |seed| seed.to_string());
        println!("{:<18} {:<42} {at:<12} {}", format!("{bug:?}"), breaks(bug), also.join("; "));
    }
    all_caught
}
