//! The fate of processes: they crash, stall, are stopped, and come back under another name.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

use crate::dice::Dice;
use crate::instance::{Ground, Instance};

/// Keeps one place for a process filled until things calm down; the last process keeps running.
pub(crate) async fn fill_place(ground: Ground, place: usize) -> Instance {
    let dice = Dice::of(ground.scenario.seed, &format!("fate {place}"));
    let until = Instant::now() + ground.scenario.chaos;
    let lease_ms = ground.scenario.config.lease_time.as_millis() as u64;
    for life in 1.. {
        let instance = Instance::start(&ground, format!("i{place}-{life}"));
        match fate(&ground, &instance, &dice, until, lease_ms).await {
            Fate::Survives => return instance,
            Fate::Crashes => instance.crash(),
            Fate::Stops => _ = instance.stop(Duration::from_millis(3 * lease_ms)).await,
        }
        sleep(dice.ms(0..2 * lease_ms)).await;
    }
    unreachable!("there is always another life")
}

enum Fate {
    Survives,
    Crashes,
    Stops,
}

async fn fate(ground: &Ground, instance: &Instance, dice: &Dice, until: Instant, lease_ms: u64) -> Fate {
    loop {
        let next = Instant::now() + dice.ms(500..8000);
        sleep_until(next.min(until)).await;
        if Instant::now() >= until {
            return Fate::Survives;
        }
        match dice.within(0..4) {
            0 => return Fate::Crashes,
            1 => return Fate::Stops,
            _ => {
                let time = dice.ms(lease_ms / 4..3 * lease_ms);
                ground.world.fault("stall", &instance.name, format_args!(" of {time:?}"));
                let gate = instance.gate.clone();
                // A stall ends even if the process does not live to see it: what is on its way
                // arrives then.
                let stalled = tokio::spawn(async move { gate.stall(time).await });
                if dice.thousandths(600) {
                    let _ = stalled.await;
                }
            }
        }
    }
}
