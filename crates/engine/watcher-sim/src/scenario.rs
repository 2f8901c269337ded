//! What happens in one simulation, all of it drawn from the seed.

use std::time::Duration;

use store::Faults;
use watcher::{Budget, Config, StageLimits};

use crate::dice::Dice;

#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) seed: u64,
    /// Processes that run the watcher at the same time.
    pub(crate) instances: usize,
    pub(crate) writers: usize,
    pub(crate) operators: usize,
    pub(crate) entities: usize,
    /// How long things go wrong.
    pub(crate) chaos: Duration,
    /// How long they then go well, before everything is changed once more.
    pub(crate) calm: Duration,
    /// How long after that the invariants check what is left undone.
    pub(crate) quiet: Duration,
    pub(crate) config: Config,
    /// The faults of the stores while things go wrong.
    pub(crate) faults: Faults,
    /// Concurrent group commits of one process.
    pub(crate) lanes: usize,
    /// Hints between processes that are lost, in thousandths.
    pub(crate) hints_lost: u64,
    /// The longest pause of a writer.
    pub(crate) writer_pause: Duration,
    /// The longest pause of an operator.
    pub(crate) operator_pause: Duration,
    /// The largest error of a clock.
    pub(crate) skew_ms: i64,
    /// Calls of unreliable stages that go wrong, in thousandths.
    pub(crate) shakiness: u64,
    /// Errors of the shaky stage that are lasting, in thousandths.
    pub(crate) lasting: u64,
    /// How long a call usually takes at most.
    pub(crate) call: Duration,
}

impl Scenario {
    /// `seconds` overrides how long things go wrong.
    #[must_use]
    pub fn of(seed: u64, seconds: Option<u64>) -> Self {
        let dice = Dice::of(seed, "scenario");
        let lease_time = dice.ms(1000..4000);
        let pause_max = Duration::from_secs(10);
        Self {
            seed,
            instances: dice.within(2..5) as usize,
            writers: dice.within(1..4) as usize,
            operators: dice.within(0..3) as usize,
            entities: dice.within(2..8) as usize,
            chaos: seconds.map_or_else(|| dice.ms(8_000..25_000), Duration::from_secs),
            calm: 3 * lease_time + pause_max + Duration::from_secs(40),
            quiet: Duration::from_secs(30),
            config: config(&dice, lease_time, pause_max),
            faults: faults(&dice),
            lanes: dice.within(1..3) as usize,
            hints_lost: dice.within(50..800),
            writer_pause: dice.ms(100..1500),
            operator_pause: dice.ms(500..4000),
            skew_ms: dice.number(1..2000),
            shakiness: dice.within(100..500),
            lasting: dice.within(200..900),
            call: dice.ms(1..80),
        }
    }
}

fn config(dice: &Dice, lease_time: Duration, pause_max: Duration) -> Config {
    let budget = Budget {
        changes: dice.within(5..20) as u32,
        window: Duration::from_secs(20),
        delay: dice.ms(500..3000),
        delay_max: Duration::from_secs(40),
    };
    let stages = StageLimits {
        calls_max: dice.within(1..5) as usize,
        batch_max: dice.within(1..5) as usize,
        timeout: dice.ms(300..3000),
        attempts_max: dice.within(1..5) as u32,
        pause: dice.ms(100..1000),
        pause_max,
        rate: dice.thousandths(200).then(|| dice.within(20..200) as f64),
        catch_up: dice.thousandths(500).then(|| dice.within(20..200) as f64),
        ..StageLimits::default()
    };
    let spread = if dice.thousandths(500) { Duration::ZERO } else { dice.ms(1..500) };
    Config { shards: dice.within(1..7) as u32, spread, lease_time, budget, stages, ..Config::default() }
}

fn faults(dice: &Dice) -> Faults {
    let rate = |most: u64| dice.within(0..most) as u32;
    Faults {
        spurious_conflict: rate(60),
        error_not_applied: rate(40),
        error_but_applied: rate(40),
        unknown_not_applied: rate(40),
        read_error: rate(40),
        delay: rate(80),
        delay_max: dice.ms(20..1500),
    }
}
