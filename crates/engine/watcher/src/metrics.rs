//! Counts and speeds of the stages in this process.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::Result;
use crate::answer::truncate;
use crate::latencies::Latencies;
use crate::limits::{FAILURE_BYTES_MAX, FAILURES_KEPT_MAX, SPEED_WINDOW};
use crate::schedule::{Line, Scheduler};
use crate::status::{Counts, FailedVisit, Outage, StageStatus};
use crate::visit::End;
use clock::Time;

/// By the number of the stage.
pub(crate) struct Metrics {
    stages: Vec<StageMetrics>,
}

#[derive(Clone, Debug, Default)]
struct StageMetrics {
    counts: Counts,
    /// When the window began, and the visits by then.
    window: Option<(Time, u64)>,
    per_s: f64,
    latencies: Latencies,
    /// Shared with the status that was published last, if there was no failure since.
    failed: Arc<Vec<FailedVisit>>,
}

impl Metrics {
    pub(crate) fn new(stages: usize) -> Self {
        Self { stages: vec![StageMetrics::default(); stages] }
    }

    pub(crate) fn note(&mut self, stage: usize, end: &Result<End>) {
        let counts = &mut self.stages[stage].counts;
        match end {
            Ok(End::Saved { changed, fight }) => {
                counts.visits += 1;
                counts.changes += u64::from(*changed);
                counts.fights += u64::from(fight.is_some());
            }
            Ok(End::Failed { parked, .. }) => {
                counts.failures += 1;
                counts.parked += u64::from(*parked);
            }
            Ok(End::Again | End::Doubtful) => counts.conflicts += 1,
            Ok(End::Left | End::Gone) | Err(_) => {}
        }
    }

    pub(crate) fn note_time(&mut self, stage: usize, took: Duration, visits: usize) {
        self.stages[stage].latencies.note(took, visits as u64);
    }

    /// Remembers a failure, and forgets the oldest if there are too many.
    pub(crate) fn note_failure(&mut self, stage: usize, failed: FailedVisit) {
        let kept = Arc::make_mut(&mut self.stages[stage].failed);
        if kept.len() >= FAILURES_KEPT_MAX {
            kept.remove(0);
        }
        let error = truncate(&failed.error, FAILURE_BYTES_MAX);
        kept.push(FailedVisit { error, ..failed });
    }

    /// The status of each stage; the system stage has the empty name.
    pub(crate) fn statuses(
        &mut self,
        names: &[String],
        scheduler: &Scheduler,
        now: Time,
    ) -> BTreeMap<String, StageStatus> {
        let mut statuses = BTreeMap::new();
        for (number, (name, stage)) in names.iter().zip(&mut self.stages).enumerate() {
            let state = &scheduler.stages[number];
            let oldest = |line| scheduler.queues.oldest(number, line);
            let status = StageStatus {
                blocked: state.blocked.clone(),
                lines: Line::ALL
                    .into_iter()
                    .filter_map(|line| Some((line, state.blocked_in(line)?)))
                    .collect(),
                late_before: state.late_before,
                down: state.health.down().map(|down| Outage { since: down.since, error: down.error.clone() }),
                calls: state.calls() as u64,
                visits_per_s: stage.measure(now),
                oldest_due: Line::ALL.into_iter().filter_map(oldest).min(),
                counts: stage.counts,
                latencies: stage.latencies,
                failed: Arc::clone(&stage.failed),
            };
            statuses.insert(name.clone(), status);
        }
        statuses
    }
}

impl StageMetrics {
    fn measure(&mut self, now: Time) -> f64 {
        let (began, before) = *self.window.get_or_insert((now, self.counts.visits));
        let passed = now.since(began);
        if passed >= SPEED_WINDOW {
            self.per_s = (self.counts.visits - before) as f64 / passed.as_secs_f64();
            self.window = Some((now, self.counts.visits));
        }
        self.per_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_failures_of_a_stage_are_remembered_with_the_beginning_of_what_it_said() {
        let mut metrics = Metrics::new(2);
        for n in 0..FAILURES_KEPT_MAX + 3 {
            let (at, entity) = (Time::from_ms(n as i64), format!("e{n}"));
            metrics.note_failure(1, FailedVisit { at, entity, error: "я".repeat(1000), parked: false });
        }
        let kept = &metrics.stages[1].failed;
        assert_eq!((kept.len(), &*kept[0].entity), (FAILURES_KEPT_MAX, "e3"));
        assert_eq!(kept[0].error.len(), FAILURE_BYTES_MAX, "150 letters");
        assert!(metrics.stages[0].failed.is_empty());
    }

    #[test]
    fn a_speed_is_measured_over_some_seconds() {
        let (mut stage, at) = (StageMetrics::default(), |s: i64| Time::from_ms(s * 1000));
        stage.measure(at(0));
        stage.counts.visits = 100;
        assert!(stage.measure(at(4)).abs() < 0.01, "not enough time has passed");
        assert!((stage.measure(at(10)) - 10.0).abs() < 0.01);
        assert!((stage.measure(at(12)) - 10.0).abs() < 0.01);
        assert!(stage.measure(at(20)).abs() < 0.01, "and nothing has happened since");
    }
}
