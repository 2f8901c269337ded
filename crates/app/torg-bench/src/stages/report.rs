//! The JSON line of the stages benchmark.

use serde::Serialize;

use crate::figure::Figure;

/// All figures of a run; null if not measured.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    pub(super) bench: &'static str,
    pub(super) grpc_per_s: Figure,
    pub(super) inprocess_per_s: Figure,
    pub(super) ratio_grpc: Figure,
    pub(super) others_throughput_ratio: Figure,
    pub(super) others_p99_ratio: Figure,
    pub(super) restate_per_s: Figure,
    pub(super) ratio_restate: Figure,
    pub(super) photos_per_s: Figure,
    pub(super) ratio_imagemagick: Figure,
    pub(super) engine: &'static str,
    pub(super) offers: u64,
    pub(super) calls: u32,
    pub(super) batch: u32,
    pub(super) grpc_cpu_us: Figure,
    pub(super) inprocess_cpu_us: Figure,
    pub(super) plugin_cpu_us: Figure,
    pub(super) stateful_grpc_per_s: Figure,
    pub(super) stateful_inprocess_per_s: Figure,
    pub(super) ratio_stateful_grpc: Figure,
    pub(super) bridge_p50_ms: Figure,
    pub(super) bridge_p99_ms: Figure,
    pub(super) others_per_s: Figure,
    pub(super) eight_alone_per_s: Figure,
    pub(super) others_p99_ms: Figure,
    pub(super) eight_alone_p99_ms: Figure,
    pub(super) restate_settings: Option<String>,
    pub(super) imagemagick_per_s: Figure,
    pub(super) imagemagick_way: Option<String>,
    pub(super) photos_cpu_ms: Figure,
    pub(super) photos_rss_mb: Figure,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_begins_with_the_keys_that_scripts_rely_on_and_what_was_not_measured_is_null() {
        let report = Report { bench: "stages", grpc_per_s: Figure::of(1.0), ..Report::default() };
        let line = serde_json::to_string(&report).unwrap();
        let keys = [
            r#"{"bench":"stages","grpc_per_s":1.0,"inprocess_per_s":null,"ratio_grpc":null,"#,
            r#""others_throughput_ratio":null,"others_p99_ratio":null,"restate_per_s":null,"#,
            r#""ratio_restate":null,"photos_per_s":null,"ratio_imagemagick":null,"#,
        ];
        assert!(line.starts_with(&keys.concat()), "{line}");
    }
}
