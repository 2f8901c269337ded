//! The JSON line of the tasks benchmark.

use serde::Serialize;

use crate::figure::Figure;

/// All figures of a run; null if not measured.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    pub(super) bench: &'static str,
    pub(super) tasks: u64,
    pub(super) change_to_decision_ms: Figure,
    pub(super) growth_ratio: Figure,
    pub(super) event_to_start_p50_ms: Figure,
    pub(super) event_to_start_p99_ms: Figure,
    pub(super) dagster_full_ms: Figure,
    pub(super) dagster_limited_ms: Figure,
    pub(super) ratio_full: Figure,
    pub(super) ratio_limited: Figure,
    pub(super) changes_per_s: Figure,
    pub(super) engine: &'static str,
    pub(super) many_tasks: u64,
    pub(super) change_to_decision_p99_ms: Figure,
    pub(super) stored_to_decision_ms: Figure,
    pub(super) many_change_to_decision_ms: Figure,
    pub(super) dagster_cheap_full_ms: Figure,
    pub(super) dagster_cheap_limited_ms: Figure,
    pub(super) dagster_version: Option<String>,
    pub(super) firings_per_s: Figure,
    pub(super) settled_ms: Figure,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_begins_with_the_keys_that_scripts_rely_on_and_what_was_not_measured_is_null() {
        let report =
            Report { bench: "tasks", tasks: 1000, growth_ratio: Figure::of(1.0), ..Report::default() };
        let line = serde_json::to_string(&report).unwrap();
        let keys = [
            r#"{"bench":"tasks","tasks":1000,"change_to_decision_ms":null,"growth_ratio":1.0,"#,
            r#""event_to_start_p50_ms":null,"event_to_start_p99_ms":null,"dagster_full_ms":null,"#,
            r#""dagster_limited_ms":null,"ratio_full":null,"ratio_limited":null,"changes_per_s":null,"#,
        ];
        assert!(line.starts_with(&keys.concat()), "{line}");
    }
}
