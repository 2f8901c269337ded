//! The JSON line of the watcher benchmark.

use serde::Serialize;

use crate::figure::Figure;

/// All figures of a run; null if not measured.
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
}
