//! The JSON line of the feeds benchmark.

use serde::Serialize;

use crate::figure::Figure;

/// All figures of a run; null if not measured.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    pub(super) bench: &'static str,
    /// For the first file size, like the next three.
    pub(super) check_mb_s: Figure,
    pub(super) xmllint_mb_s: Figure,
    pub(super) ratio_xmllint: Figure,
    pub(super) unify_mb_s: Figure,
    pub(super) e2e_offers_per_s: Figure,
    pub(super) e2e_over_offers: Figure,
    pub(super) reload_speedup: Figure,
    /// The peak of all checks of all sizes.
    pub(super) rss_mb: Figure,
    pub(super) ratio_unify: Figure,
    pub(super) engine: &'static str,
    pub(super) sizes: Vec<OfSize>,
    pub(super) offers: u64,
    pub(super) e2e_mb_s: Figure,
    pub(super) e2e_cpu_us: Figure,
    /// From the end of the load to the last change in the topic.
    pub(super) topic_behind_s: Figure,
    pub(super) reload_offers_per_s: Figure,
    pub(super) reload_changed: u64,
    pub(super) reload_messages: u64,
    pub(super) offers_writes_per_s: Figure,
    pub(super) offers_store_writes_per_s: Figure,
    pub(super) e2e_over_store_writes: Figure,
    pub(super) big_seller: u64,
    pub(super) big_offers_per_s: Figure,
    pub(super) small_sellers: u64,
    pub(super) small_offers: u64,
    pub(super) small_alone_p50_ms: Figure,
    pub(super) small_alone_p95_ms: Figure,
    pub(super) small_beside_p50_ms: Figure,
    pub(super) small_beside_p95_ms: Figure,
    pub(super) small_p50_ratio: Figure,
    pub(super) small_p95_ratio: Figure,
}

/// The checks of one file.
#[derive(Debug, Default, Serialize)]
pub(super) struct OfSize {
    pub(super) mb: u64,
    pub(super) offers: u64,
    pub(super) check_mb_s: Figure,
    pub(super) xmllint_mb_s: Figure,
    pub(super) ratio_xmllint: Figure,
    pub(super) unify_mb_s: Figure,
    pub(super) ratio_unify: Figure,
    pub(super) check_cpu_s: Figure,
    pub(super) unify_cpu_s: Figure,
    pub(super) rss_mb: Figure,
    pub(super) unify_rss_mb: Figure,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_begins_with_the_keys_that_scripts_rely_on_and_what_was_not_measured_is_null() {
        let report = Report { bench: "feeds", check_mb_s: Figure::of(1.0), ..Report::default() };
        let line = serde_json::to_string(&report).unwrap();
        let keys = [
            r#"{"bench":"feeds","check_mb_s":1.0,"xmllint_mb_s":null,"ratio_xmllint":null,"unify_mb_s":null,"#,
            r#""e2e_offers_per_s":null,"e2e_over_offers":null,"reload_speedup":null,"rss_mb":null,"#,
        ];
        assert!(line.starts_with(&keys.concat()), "{line}");
    }
}
