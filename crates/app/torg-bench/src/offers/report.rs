//! The JSON line of the offers benchmark.

use serde::Serialize;

use crate::measure::round;

/// All figures of a run; null if not measured.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    pub(super) bench: &'static str,
    pub(super) engine: &'static str,
    pub(super) writes_per_s: Option<f64>,
    pub(super) reads_per_s: Option<f64>,
    pub(super) mixed_writes_per_s: Option<f64>,
    pub(super) mixed_reads_per_s: Option<f64>,
    pub(super) handmade_writes_per_s: Option<f64>,
    pub(super) ratio_handmade: Option<f64>,
    pub(super) rpc_over_store: Option<f64>,
    pub(super) big_seller_ratio: Option<f64>,
    /// Of writes beside reads.
    pub(super) p99_ms: Option<f64>,
    /// The peak memory of the server.
    pub(super) rss_mb: Option<f64>,
    pub(super) offers: u64,
    pub(super) big_seller: u64,
    pub(super) callers: u64,
    pub(super) connections: u64,
    pub(super) gzip: bool,
    pub(super) load_per_s: Option<f64>,
    pub(super) load_cpu_us: Option<f64>,
    pub(super) writes_p50_ms: Option<f64>,
    pub(super) writes_p99_ms: Option<f64>,
    pub(super) reads_p50_ms: Option<f64>,
    pub(super) reads_p99_ms: Option<f64>,
    pub(super) mixed_reads_p99_ms: Option<f64>,
    pub(super) asked_writes_per_s: Option<f64>,
    pub(super) asked_reads_per_s: Option<f64>,
    pub(super) reached_writes_per_s: Option<f64>,
    pub(super) reached_reads_per_s: Option<f64>,
    pub(super) reached_writes_p99_ms: Option<f64>,
    pub(super) reached_reads_p99_ms: Option<f64>,
    pub(super) store_writes_per_s: Option<f64>,
    pub(super) store_reads_per_s: Option<f64>,
    pub(super) rpc_over_store_reads: Option<f64>,
    pub(super) handmade_p99_ms: Option<f64>,
    pub(super) server_cpu_us_per_write: Option<f64>,
    pub(super) client_cpu_us_per_write: Option<f64>,
    pub(super) server_cpu_us_per_read: Option<f64>,
    pub(super) client_cpu_us_per_read: Option<f64>,
    pub(super) store_cpu_us_per_write: Option<f64>,
    pub(super) store_cpu_us_per_read: Option<f64>,
    /// From the last write to the last change in the topic.
    pub(super) topic_behind_s: Option<f64>,
    pub(super) page_p99_ms: Option<f64>,
    pub(super) big_page_p99_ms: Option<f64>,
    pub(super) counts_p99_ms: Option<f64>,
    pub(super) big_counts_p99_ms: Option<f64>,
    pub(super) big_next_page_p99_ms: Option<f64>,
    pub(super) big_category_p99_ms: Option<f64>,
    pub(super) big_title_p99_ms: Option<f64>,
    pub(super) big_price_p99_ms: Option<f64>,
}

/// Rounds a figure for the JSON line; none if it is not a finite number.
pub(super) fn figure(figure: f64) -> Option<f64> {
    figure.is_finite().then(|| round(figure))
}

/// The ratio of two figures; none if one is missing.
pub(super) fn over(figure: Option<f64>, reference: Option<f64>) -> Option<f64> {
    let (figure, reference) = (figure?, reference.filter(|reference| *reference > 0.0)?);
    Some(round(figure / reference))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_begins_with_the_keys_that_scripts_rely_on_and_what_was_not_measured_is_null() {
        let report =
            Report { bench: "offers", engine: "fjall", writes_per_s: figure(1.0), ..Report::default() };
        let line = serde_json::to_string(&report).unwrap();
        let keys = [
            r#"{"bench":"offers","engine":"fjall","writes_per_s":1.0,"reads_per_s":null,"mixed_writes_per_s":null,"#,
            r#""mixed_reads_per_s":null,"handmade_writes_per_s":null,"ratio_handmade":null,"rpc_over_store":null,"#,
            r#""big_seller_ratio":null,"p99_ms":null,"rss_mb":null,"#,
        ];
        assert!(line.starts_with(&keys.concat()), "{line}");
    }

    #[test]
    fn a_ratio_needs_both_figures() {
        assert_eq!(over(Some(1.0), Some(2.0)), Some(0.5));
        assert_eq!(
            (over(Some(1.0), None), over(None, Some(1.0)), over(Some(1.0), Some(0.0))),
            (None, None, None)
        );
    }
}
