//! What one run consists of.

use std::time::Duration;

use store::Faults;

use crate::model::dice::Dice;

/// An engine of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// Memory, with faults and a clock that jumps.
    Memory,
    Fjall,
    Postgres,
}

/// Everybody who sells. Several clients act for each of them.
pub(crate) const SELLERS: [&str; 3] = ["ann", "bob", "cyd"];
/// Clients of each seller.
const CLIENTS: u64 = 3;
/// Opinions that are given for every hundred operations of clients.
const OPINIONS_PERCENT: u64 = 18;

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) engine: Engine,
    /// Operations of each client, and how many clients each seller has.
    pub(crate) operations: u64,
    pub(crate) clients: u64,
    /// Opinions that are given in all.
    pub(crate) opinions: u64,
    /// The longest pause of a client between two operations.
    pub(crate) pause: Duration,
    /// The longest life of a consumer.
    pub(crate) consumer_life: Duration,
    /// The longest pause between two looks at what is to be archived.
    pub(crate) archive_pause: Duration,
    /// How long everything may take to come to rest.
    pub(crate) patience: Duration,
    pub(crate) faults: Faults,
    /// Whether every line of the trace is kept.
    pub(crate) keep_trace: bool,
}

impl Plan {
    /// A plan of about this number of operations on this engine.
    pub(crate) fn of(engine: Engine, seed: u64, operations: u64) -> Self {
        let clients = CLIENTS;
        let is_simulated = engine == Engine::Memory;
        let ms = |simulated, real| Duration::from_millis(if is_simulated { simulated } else { real });
        Self {
            seed,
            engine,
            operations: operations / (clients * SELLERS.len() as u64),
            clients,
            opinions: operations * OPINIONS_PERCENT / 100,
            pause: ms(160, 25),
            consumer_life: ms(1500, 600),
            archive_pause: ms(900, 300),
            patience: if is_simulated { Duration::from_secs(600) } else { Duration::from_secs(60) },
            faults: if is_simulated { faults(seed) } else { Faults::default() },
            keep_trace: false,
        }
    }
}

/// Some faults, each rare or frequent.
fn faults(seed: u64) -> Faults {
    let mut dice = Dice::of(seed, "faults");
    let mut rate = |most: u64| dice.within(0..most) as u32;
    Faults {
        spurious_conflict: rate(60),
        error_not_applied: rate(40),
        error_but_applied: rate(40),
        unknown_not_applied: rate(40),
        read_error: rate(20),
        delay: rate(60),
        delay_max: dice.ms(20..800),
    }
}
