//! Figures of stages: gauges over all processes, counters of this process.

use std::collections::BTreeMap;
use std::time::Duration;

use clock::Time;
use watcher::{Control, Lane, Latencies, Outage, StageStatus};

use super::limits::BEAT_HOLD;
use super::looks::{Looks, Queue};
use super::moment::Moment;
use super::names::{self, Name};
use super::pings::Pings;
use super::problems::StageSeen;
use super::rates::Rates;
use super::sample::{Sample, label};
use super::spans::Spans;

/// A counter that processes keep for each stage.
struct Counter {
    /// The figure for its rate.
    rate: Name,
    total: Name,
    count: fn(&StageStatus) -> u64,
}

const COUNTERS: [Counter; 3] = [
    Counter {
        rate: names::STAGE_VISITS,
        total: names::STAGE_VISITS_TOTAL,
        count: |status| status.counts.visits,
    },
    Counter {
        rate: names::STAGE_CHANGES,
        total: names::STAGE_CHANGES_TOTAL,
        count: |status| status.counts.changes,
    },
    Counter {
        rate: names::STAGE_FAILURES,
        total: names::STAGE_FAILURES_TOTAL,
        count: |status| status.counts.failures,
    },
];

/// Adds the figures of all stages, over all processes if the store has them, else of this process.
pub(super) fn tell(
    sample: &mut Sample,
    looks: &Looks,
    (rates, spans): (&mut Rates, &mut Spans),
    (pings, here): (&Pings, &str),
    now: Moment,
) -> BTreeMap<String, StageSeen> {
    let watcher = looks.sources.registry.offers().watcher();
    let own = watcher.statuses();
    let known = looks.read.cluster.read_at(now);
    // The counters are as old as the reading.
    let counted = known.map_or(now, |(read, _)| read).instant;
    let processes: Vec<(&str, &BTreeMap<String, StageStatus>)> = match known {
        Some((_, (cluster, _))) => {
            cluster.processes.iter().map(|(name, seen)| (name.as_str(), &seen.stages)).collect()
        }
        None => vec![(here, &own)],
    };
    let mut all = BTreeMap::new();
    for id in looks.stages() {
        let statuses: Vec<(&str, &StageStatus)> =
            processes.iter().filter_map(|(process, stages)| Some((*process, stages.get(&id)?))).collect();
        for Counter { rate, total, count } in &COUNTERS {
            if let Some(status) = own.get(&id) {
                sample.counter(*total, label("stage", &id), count(status) as f64);
            }
            let of = |(process, status): &(&str, &StageStatus)| {
                let key = format!("{}/{id}/{process}", rate.name);
                rates.rate(key, count(status) as f64, counted, BEAT_HOLD)
            };
            let known: Vec<f64> = statuses.iter().map(of).filter(|rate| !rate.is_nan()).collect();
            let sum = if known.is_empty() { f64::NAN } else { known.iter().sum() };
            sample.figure(*rate, label("stage", &id), sum);
        }
        let mut lately = Latencies::default();
        for (process, status) in &statuses {
            lately.add(&spans.lately(format!("{id}/{process}"), status.latencies, counted, BEAT_HOLD));
        }
        sample.figure(names::STAGE_P50, label("stage", &id), lately.quantile(0.5));
        sample.figure(names::STAGE_P95, label("stage", &id), lately.quantile(0.95));
        if let Some(status) = own.get(&id) {
            sample.times(names::STAGE_TIMES, label("stage", &id), status.latencies);
        }
        let control = known.and_then(|(_, (_, controls))| controls.get(&id));
        let visits = own.get(&id).map_or(0, |status| status.counts.visits);
        let mut stage = standing(sample, &id, &statuses, control, pings.of(&id, visits));
        if known.is_some() {
            sample.gauge(names::STAGE_PAUSED, label("stage", &id), one_if(stage.pause.is_some()));
            // Zero if the stage is not paused, so that the series has no gap when the pause began
            // before this process. Offers may have their own clock. The time is converted by its
            // distance from now on that clock.
            let here = |time: Time| now.time - watcher.clock().now().since(time);
            let since = stage.pause.as_ref().map_or(0.0, |pause| here(pause.since).as_ms() as f64 / 1000.0);
            sample.only_measure(names::STAGE_PAUSED_SINCE, label("stage", &id), since);
        }
        if let Some((known, queue)) =
            looks.read.queues.get(&id).and_then(|known| Some((known, known.at(now)?)))
        {
            stage.oldest_fresh = queue.oldest_fresh.map(|oldest| known.as_read(oldest, now));
            stage.parked = queue.parked;
            waiting(sample, &id, queue, stage.oldest_fresh, now.time);
        }
        all.insert(id, stage);
    }
    all
}

/// Whether a stage answers and is allowed to work.
fn standing(
    sample: &mut Sample,
    id: &str,
    statuses: &[(&str, &StageStatus)],
    control: Option<&Control>,
    silent: Option<Outage>,
) -> StageSeen {
    let down = statuses.iter().find_map(|(_, status)| status.down.clone()).or(silent);
    if !statuses.is_empty() {
        let calls: u64 = statuses.iter().map(|(_, status)| status.calls).sum();
        sample.gauge(names::STAGE_CALLS, label("stage", id), calls as f64);
        sample.gauge(names::STAGE_DOWN, label("stage", id), one_if(down.is_some()));
    }
    let pause = control.and_then(|control| control.paused.clone());
    StageSeen { down, pause, ..StageSeen::default() }
}

fn waiting(sample: &mut Sample, id: &str, queue: &Queue, oldest_fresh: Option<Time>, now: Time) {
    let oldest = oldest_fresh.map_or(Duration::ZERO, |oldest| now.since(oldest));
    sample.gauge(names::STAGE_OLDEST, label("stage", id), oldest.as_secs_f64());
    sample.gauge(names::STAGE_PARKED, label("stage", id), queue.parked.rows as f64);
    for (lane, depth) in &queue.depth {
        let lane = match lane {
            Lane::Fresh => "fresh",
            Lane::Timer => "timer",
            Lane::Background => "background",
        };
        let labels = vec![("stage", id.to_owned()), ("lane", lane.to_owned())];
        sample.gauge(names::STAGE_DEPTH, labels, depth.rows as f64);
    }
}

fn one_if(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}
