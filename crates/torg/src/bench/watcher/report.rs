//! The line for machines.

use serde::Serialize;

use crate::bench::measure::round;

/// All figures of a run; what was not measured is null.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    pub(super) bench: &'static str,
    pub(super) engine: &'static str,
    pub(super) burndown_per_s: Figure,
    pub(super) stateful_per_s: Figure,
    pub(super) stateful_over_store: Figure,
    pub(super) peer_stateful_per_s: Figure,
    pub(super) ratio_peer: Figure,
    pub(super) pickup_p50_ms: Figure,
    pub(super) pickup_p99_ms: Figure,
    pub(super) timer_late_p99_ms: Figure,
    pub(super) fresh_p99_ratio: Figure,
    pub(super) idle_cpu_pct: Figure,
    pub(super) rss_mb: Figure,
    pub(super) entities: u64,
    pub(super) calls: usize,
    pub(super) batch: usize,
    pub(super) cache_mb: u64,
    pub(super) save_per_s: Figure,
    pub(super) burndown_cpu_us: Figure,
    pub(super) stateful_cpu_us: Figure,
    pub(super) stateful_disk_kb: Figure,
    pub(super) plain_per_s: Figure,
    pub(super) plain_cpu_us: Figure,
    pub(super) plain_disk_kb: Figure,
    pub(super) outbox_behind_s: Figure,
    pub(super) pickup_from_begin_p50_ms: Figure,
    pub(super) pickup_from_begin_p99_ms: Figure,
    pub(super) timer_late_p50_ms: Figure,
    pub(super) timers_per_s: Figure,
    pub(super) fresh_beside_timers_p99_ms: Figure,
    pub(super) fresh_beside_timers_ratio: Figure,
    pub(super) fresh_beside_recrawl_p99_ms: Figure,
    pub(super) recrawl_per_s: Figure,
    pub(super) deep: u64,
    pub(super) deep_visits_per_s: Figure,
    pub(super) rss_before_mb: Figure,
    pub(super) peer_pickup_p50_ms: Figure,
    pub(super) peer_pickup_p99_ms: Figure,
    pub(super) peer_settings: Option<String>,
}

/// A figure that may not have been measured.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Figure(Option<f64>);

impl Figure {
    pub(super) fn of(figure: f64) -> Self {
        Self(Some(round(figure)))
    }

    /// As a number; zero if there is none.
    pub(super) fn or_zero(self) -> f64 {
        self.0.unwrap_or_default()
    }

    /// This figure over another; none if one of them is missing.
    pub(super) fn over(self, reference: Self) -> Self {
        let (Some(figure), Some(reference)) = (self.0, reference.0) else { return Self(None) };
        if reference == 0.0 { Self(None) } else { Self::of(figure / reference) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_begins_with_the_keys_that_scripts_rely_on_and_what_was_not_measured_is_null() {
        let report = Report {
            bench: "watcher",
            engine: "fjall",
            burndown_per_s: Figure::of(1.0),
            ..Report::default()
        };
        let line = serde_json::to_string(&report).unwrap();
        let keys = [
            r#"{"bench":"watcher","engine":"fjall","burndown_per_s":1.0,"stateful_per_s":null,"stateful_over_store":null,"#,
            r#""peer_stateful_per_s":null,"ratio_peer":null,"pickup_p50_ms":null,"pickup_p99_ms":null,"#,
            r#""timer_late_p99_ms":null,"fresh_p99_ratio":null,"idle_cpu_pct":null,"rss_mb":null,"#,
        ];
        assert!(line.starts_with(&keys.concat()), "{line}");
    }

    #[test]
    fn a_ratio_needs_both_figures() {
        let (one, two, none) = (Figure::of(1.0), Figure::of(2.0), Figure::default());
        assert!((one.over(two).or_zero() - 0.5).abs() < 0.001);
        assert!(
            one.over(none).0.is_none() && none.over(one).0.is_none() && one.over(Figure::of(0.0)).0.is_none()
        );
    }
}
