//! The metrics registry behind `/metrics`: calls, the process, and collectors of other parts.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeLabelSet, EncodeMetric, MetricEncoder, NoLabelSet, text,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use rustix::process::{Resource, getrlimit};

use super::{Calls, Measure, Observatory, Value};

/// The codes with which the gate refuses requests.
const DENIED: [&str; 3] = ["unauthenticated", "permission_denied", "resource_exhausted"];

/// The metrics of one process. Clones share them. Parts with their own figures register a
/// [`Collector`].
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Mutex<Registry>>,
    calls: Family<CallLabels, Counter>,
    call_seconds: Family<MethodLabel, Histogram, fn() -> Histogram>,
    running: Gauge,
    denied: Family<CodeLabel, Counter>,
    /// The calls of the current interval, for the sampler.
    lately: Calls,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    method: String,
    code: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MethodLabel {
    method: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CodeLabel {
    code: &'static str,
}

impl Metrics {
    pub(crate) const CONTENT_TYPE: &'static str =
        "application/openmetrics-text; version=1.0.0; charset=utf-8";

    pub fn new() -> Metrics {
        let mut registry = Registry::default();
        let calls = Family::default();
        let call_seconds = Family::new_with_constructor(call_histogram as fn() -> Histogram);
        let running = Gauge::default();
        let denied = Family::default();
        for code in DENIED {
            // Created at the start, because a counter that appears with its first count shows no
            // increase.
            drop(denied.get_or_create(&CodeLabel { code }));
        }
        registry.register("torg_rpc_calls", "RPC calls that ended, by method and code", calls.clone());
        registry.register_with_unit(
            "torg_rpc_duration",
            "From the request to the end of the answer; streams are left out",
            Unit::Seconds,
            call_seconds.clone(),
        );
        registry.register("torg_rpc_running", "RPC calls that run now", running.clone());
        registry.register(
            "torg_access_denied",
            "Requests that the gate refused, by code; they are no RPC calls",
            denied.clone(),
        );
        registry.register(
            "torg_build",
            "The version",
            Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]),
        );
        registry.register_collector(Box::new(Process { started: SystemTime::now() }));
        let (registry, lately) = (Arc::new(Mutex::new(registry)), Calls::default());
        Metrics { registry, calls, call_seconds, running, denied, lately }
    }

    /// Registers figures that are computed at every scrape.
    pub fn show(&self, figures: impl Fn() -> Vec<(&'static str, f64)> + Send + Sync + 'static) {
        let collector = Box::new(Figures(Box::new(figures)));
        self.registry.lock().unwrap_or_else(PoisonError::into_inner).register_collector(collector);
    }

    /// Registers the measures of an observatory.
    pub fn show_seen(&self, observatory: Observatory) {
        let collector = Box::new(Seen(observatory));
        self.registry.lock().unwrap_or_else(PoisonError::into_inner).register_collector(collector);
    }

    pub fn calls(&self) -> Calls {
        self.lately.clone()
    }

    pub(crate) fn encode(&self) -> Result<String, fmt::Error> {
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::new();
        text::encode(&mut out, &registry)?;
        Ok(out)
    }

    /// Counts a request that was refused before it became a call.
    pub(crate) fn denied(&self, code: &'static str) {
        self.denied.get_or_create(&CodeLabel { code }).inc();
    }

    pub(crate) fn call_began(&self) {
        self.running.inc();
    }

    /// Counts a finished call. `code` is an RPC code or `ok`. `took` is `None` for streams, whose
    /// duration means nothing.
    pub(crate) fn call_ended(&self, method: &str, code: &'static str, took: Option<Duration>) {
        self.running.dec();
        self.lately.ended(method, code, took);
        self.calls.get_or_create(&CallLabels { method: method.to_owned(), code }).inc();
        if let Some(took) = took {
            let of_method = self.call_seconds.get_or_create(&MethodLabel { method: method.to_owned() });
            of_method.observe(took.as_secs_f64());
        }
    }
}

/// Named figures of one part.
struct Figures(Box<dyn Fn() -> Vec<(&'static str, f64)> + Send + Sync>);

impl fmt::Debug for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Figures")
    }
}

impl Collector for Figures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let show =
            |(name, value): (&str, f64)| gauge(&mut encoder, &format!("torg_{name}"), name, None, value);
        (self.0)().into_iter().try_for_each(show)
    }
}

/// The latest measures of an observatory.
struct Seen(Observatory);

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seen")
    }
}

impl Collector for Seen {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let measures = self.0.measures();
        for of_one_name in measures.chunk_by(|a, b| a.name == b.name) {
            let Some(Measure { name, value, .. }) = of_one_name.first() else { continue };
            let full = format!("torg_{}", name.name);
            let kind = match value {
                Value::Gauge(_) => MetricType::Gauge,
                Value::Counter(_) => MetricType::Counter,
                Value::Times(_) => MetricType::Histogram,
            };
            let mut lines = encoder.encode_descriptor(&full, name.help, None, kind)?;
            for Measure { labels, value, .. } in of_one_name {
                if labels.is_empty() {
                    encode_value(&mut lines, value)?;
                } else {
                    encode_value(&mut lines.encode_family(labels)?, value)?;
                }
            }
        }
        Ok(())
    }
}

fn encode_value(lines: &mut MetricEncoder<'_>, value: &Value) -> fmt::Result {
    match value {
        Value::Gauge(value) => lines.encode_gauge(value),
        Value::Counter(value) => lines.encode_counter::<NoLabelSet, _, f64>(value, None),
        Value::Times(times) => {
            let classes: Vec<(f64, u64)> = times.classes().collect();
            lines.encode_histogram::<NoLabelSet>(times.sum_s(), times.count(), &classes, None)
        }
    }
}

/// Buckets from 0.1 ms to about 26 s.
fn call_histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.0001, 4.0, 10))
}

/// Figures of this process from the operating system, read at every scrape.
#[derive(Debug)]
struct Process {
    started: SystemTime,
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let started = self.started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        gauge(&mut encoder, "process_start_time", "Since the epoch", Some(&Unit::Seconds), started)?;
        if let Some(Usage { cpu_seconds, resident_bytes }) = Usage::read() {
            let cpu = ConstCounter::new(cpu_seconds);
            let help = "User and system time";
            cpu.encode(encoder.encode_descriptor(
                "process_cpu",
                help,
                Some(&Unit::Seconds),
                cpu.metric_type(),
            )?)?;
            let help = "Memory in use";
            gauge(&mut encoder, "process_resident_memory", help, Some(&Unit::Bytes), resident_bytes as f64)?;
        }
        if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
            gauge(&mut encoder, "process_open_fds", "Open file descriptors", None, open.count() as f64)?;
        }
        if let Some(most) = getrlimit(Resource::Nofile).current {
            gauge(&mut encoder, "process_max_fds", "Most open file descriptors", None, most as f64)?;
        }
        Ok(())
    }
}

fn gauge(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    unit: Option<&Unit>,
    value: f64,
) -> fmt::Result {
    let metric = ConstGauge::new(value);
    metric.encode(encoder.encode_descriptor(name, help, unit, metric.metric_type())?)
}

/// Resources used by this process.
pub(crate) struct Usage {
    pub cpu_seconds: f64,
    pub resident_bytes: u64,
}

impl Usage {
    /// Reads `/proc/self/stat`; `None` on systems without it.
    pub(crate) fn read() -> Option<Usage> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The name of the program, in parentheses, may contain any character. Numbers follow it.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        // proc(5) counts from 1 and the name is field 2: `utime` is 14, `stime` 15, `rss` (pages)
        // 24.
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        let ticks = number(14)? + number(15)?;
        Some(Usage {
            cpu_seconds: ticks as f64 / rustix::param::clock_ticks_per_second() as f64,
            resident_bytes: number(24)? * rustix::param::page_size() as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_holds_the_calls_the_process_and_the_build() {
        let metrics = Metrics::new();
        metrics.call_began();
        metrics.call_ended("a.B/C", "ok", Some(Duration::from_millis(3)));
        let text = metrics.encode().unwrap();
        for line in [
            "torg_rpc_calls_total{method=\"a.B/C\",code=\"ok\"} 1",
            "torg_rpc_running 0",
            "torg_rpc_duration_seconds_count{method=\"a.B/C\"} 1",
            concat!("torg_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
            "# EOF",
        ] {
            assert!(text.lines().any(|printed| printed == line), "{line:?} is not in\n{text}");
        }
        for name in [
            "process_resident_memory_bytes ",
            "process_cpu_seconds_total ",
            "process_open_fds ",
            "process_max_fds ",
        ] {
            let value = text
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .unwrap_or_else(|| panic!("{name}\n{text}"));
            assert!(value.parse::<f64>().unwrap() >= 0.0);
        }
    }
}
