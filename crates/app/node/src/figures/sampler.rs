//! Samples this process and the store every two seconds, and derives problems.

use std::time::Duration;

use clock::{Clock, Time};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::calls::{Calls, Window};
use super::gone::Heard;
use super::limits::{FORGET_AFTER, KNOWN_FOR, LOOK_EVERY, SAMPLE_EVERY, STORE_TIME_MAX};
use super::looks::{Looks, PhotosSeen, Sources};
use super::moment::Moment;
use super::names;
use super::pings::Pings;
use super::probe::Probe;
use super::problems::{Seen, Severity, Since, StoreTrouble, unserved};
use super::rates::Rates;
use super::sample::{Sample, label};
use super::shown::Labels;
use super::spans::Spans;
use super::topics::Stalled;
use super::{Observatory, Stand, stages};
use crate::figures::{Metrics, Usage};
use crate::health::Readiness;

pub(crate) struct Parts {
    pub clock: Clock,
    pub readiness: Readiness,
    pub metrics: Metrics,
    pub probe: Probe,
    pub sources: Sources,
}

pub(crate) struct Sampler {
    clock: Clock,
    readiness: Readiness,
    calls: Calls,
    probe: Probe,
    /// Failed probes of the store in a row.
    away: u32,
    looks: Looks,
    rates: Rates,
    spans: Spans,
    heard: Heard,
    pings: Pings,
    since: Since,
    /// When calls were last counted.
    before: Option<Moment>,
    told: Observatory,
}

impl Sampler {
    pub(crate) fn new(parts: Parts, told: Observatory) -> Sampler {
        let Parts { clock, readiness, metrics, probe, sources } = parts;
        Sampler {
            clock,
            readiness,
            calls: metrics.calls(),
            probe,
            away: 0,
            looks: Looks::new(sources),
            rates: Rates::default(),
            spans: Spans::default(),
            heard: Heard::default(),
            pings: Pings::default(),
            since: Since::default(),
            before: None,
            told,
        }
    }

    /// Takes samples from the end of the start until `stop` turns true.
    pub(crate) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        self.readiness.until_started().await;
        let mut samples = interval(SAMPLE_EVERY);
        samples.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_over = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => true,
                _ = samples.tick() => false,
            };
            if is_over {
                return;
            }
            self.sample().await;
        }
    }

    /// Takes one sample. Bounded by twice the timeout of the store; stages are pinged in parallel.
    async fn sample(&mut self) {
        let pinged = self.pings.ask(&self.looks.sources.registry, self.clock.now());
        let (ready, ()) = tokio::join!(timeout(STORE_TIME_MAX, self.readiness.problems()), pinged);
        let not_ready: Vec<(String, String)> = match ready {
            Ok(problems) => problems.into_iter().map(|problem| (problem.check, problem.why)).collect(),
            Err(_) => vec![("store".to_owned(), format!("no answer in {} s", STORE_TIME_MAX.as_secs_f64()))],
        };
        let store = self.store_trouble(&not_ready);
        let is_away = matches!(store, Some(StoreTrouble::Away(_)));
        let now = Moment::now(&self.clock);
        self.look(is_away, now).await;
        let mut sample = Sample::default();
        self.whole(&mut sample, store.as_ref(), now);
        self.calls(&mut sample, now);
        let told = (&self.pings, self.told.process());
        let counters = (&mut self.rates, &mut self.spans);
        let stages = stages::tell(&mut sample, &self.looks, counters, told, now);
        let export_oldest = self.export(&mut sample, now);
        self.looks.read.feeds.tell(&mut sample);
        let topics_away = self.topics(&mut sample, now);
        self.parts(&mut sample);
        self.process(&mut sample, now);
        let watcher = self.looks.sources.registry.offers().watcher();
        let read = &self.looks.read;
        let cluster = read.cluster.read_at(now);
        if let Some((read, (cluster, _))) = cluster {
            self.heard.hear(cluster, watcher.lease_time(), read);
        }
        let stalled = self.stalled(&mut sample, now);
        let (feeds_unserved, photos) = (self.feeds_unserved(&mut sample, now), self.photos(&mut sample, now));
        let seen = Seen {
            now: now.time,
            not_ready,
            store,
            topics_away,
            stages,
            export_oldest,
            damage: self.probe.store().damage().map(|damage| damage.to_string()),
            stalled,
            feeds: read.feeds.troubled(),
            stuck: read.feeds.stuck(),
            feeds_unserved,
            photos,
            tasks: read.tasks.at(now).cloned().unwrap_or_default(),
            shards: watcher.shards(),
            gone: self.heard.gone(),
            time_moves: (self.looks.sources.time_moves)(),
            unseen: self.looks.failing(),
            figures_full: self.told.is_full(),
            cluster: cluster.map(|(_, (cluster, _))| cluster.clone()),
        };
        if let (Some(unserved), Some(cluster)) = (seen.unserved(), &seen.cluster) {
            sample.gauge(names::SHARDS_UNSERVED, Vec::new(), unserved.len() as f64);
            sample.gauge(names::PROCESSES, Vec::new(), cluster.processes.len() as f64);
        }
        let problems = self.since.problems(&seen);
        for severity in Severity::ALL {
            let count = problems.iter().filter(|problem| problem.severity == severity).count();
            sample.gauge(names::PROBLEMS, label("severity", severity.name()), count as f64);
        }
        self.rates.forget(now.instant, KNOWN_FOR);
        self.spans.forget(now.instant, KNOWN_FOR);
        let stand = seen.cluster.map(|cluster| Stand {
            cluster,
            export_waits: read.export.read_at(now).map(|(read, waits)| (read.time, waits.clone())),
            shards: watcher.shards(),
            lease_time: watcher.lease_time(),
            works: read.works.read_at(now).map(|(_, works)| works.clone()).unwrap_or_default(),
        });
        self.told.tell(now, sample, problems, stand);
    }

    /// The current trouble with the store, if any.
    fn store_trouble(&self, not_ready: &[(String, String)]) -> Option<StoreTrouble> {
        let Some((_, why)) = not_ready.iter().find(|(check, _)| check == "store") else {
            return self.probe.store().failing(KNOWN_FOR).as_ref().map(StoreTrouble::of_commit);
        };
        let wrong = self.probe.wrong();
        if matches!(wrong, Some(store::Error::Corrupt { .. })) {
            // The store answers; damage is a problem of its own.
            return None;
        }
        Some(wrong.as_ref().map_or_else(|| StoreTrouble::Away(why.clone()), StoreTrouble::of))
    }

    /// Performs due readings unless the store is unavailable. Previous values are forgotten only
    /// after several failures: one slow answer is no reason.
    async fn look(&mut self, is_away: bool, now: Moment) {
        if !is_away {
            self.away = 0;
            return self.looks.look(now).await;
        }
        self.away += 1;
        self.heard.interrupted();
        if self.away == FORGET_AFTER {
            self.looks.forget();
        }
    }

    /// Measures without labels.
    fn whole(&self, sample: &mut Sample, store: Option<&StoreTrouble>, now: Moment) {
        let is_away = matches!(store, Some(StoreTrouble::Away(_)));
        sample.gauge(names::STORE_ANSWERS, Vec::new(), f64::from(u8::from(!is_away)));
        if !is_away {
            sample.gauge(names::STORE_WRITES, Vec::new(), f64::from(u8::from(store.is_none())));
        }
        let is_damaged = self.probe.store().damage().is_some();
        sample.gauge(names::STORE_DAMAGED, Vec::new(), f64::from(u8::from(is_damaged)));
        sample.only_measure(names::SAMPLED, Vec::new(), now.time.as_ms() as f64 / 1000.0);
        if let Some(tasks) = self.looks.read.tasks.at(now) {
            sample.gauge(names::TASKS_UNDECIDED, Vec::new(), f64::from(u8::from(tasks.undecided)));
        }
    }

    fn calls(&mut self, sample: &mut Sample, now: Moment) {
        let passed = self.before.map(|before| now.since(before).as_secs_f64());
        self.before = Some(now);
        let windows = self.calls.take();
        // The time before the first sample is unknown, so its calls have no rate.
        let Some(passed) = passed.filter(|passed| *passed > 0.0) else { return };
        let mut all = Window::default();
        let mut times = |labels: Labels, window: &Window| {
            sample.figure(names::CALLS, labels.clone(), window.count() as f64 / passed);
            sample.figure(names::CALL_P50, labels.clone(), window.quantile(0.5));
            sample.figure(names::CALL_P95, labels, window.quantile(0.95));
        };
        for (service, window) in &windows {
            all.add(window);
            times(label("service", service), window);
        }
        times(Vec::new(), &all);
        for (code, count) in &all.by_code {
            sample.figure(names::OUTCOMES, label("code", code), *count as f64 / passed);
        }
    }

    /// The oldest unexported change.
    fn export(&mut self, sample: &mut Sample, now: Moment) -> Option<Time> {
        let export = &self.looks.read.export;
        let oldest = export.at(now)?.values().copied().min().map(|oldest| export.as_read(oldest, now));
        let lag = oldest.map_or(Duration::ZERO, |oldest| now.time.since(oldest));
        sample.gauge(names::EXPORT_LAG, Vec::new(), lag.as_secs_f64());
        oldest
    }

    /// The last error of the topics, if they are unavailable.
    fn topics(&mut self, sample: &mut Sample, now: Moment) -> Option<String> {
        let topics = &self.looks.topics;
        let away = topics.away().map(str::to_owned);
        if let Some(answers) = topics.answers() {
            sample.gauge(names::TOPICS_ANSWER, Vec::new(), f64::from(u8::from(answers)));
        }
        let Some((read, seen)) = topics.seen.read_at(now) else { return away };
        for (topic, end) in &seen.ends {
            sample.counter(names::TOPIC_END, label("topic", topic), *end as f64);
            let key = format!("topic/{topic}");
            let rate = self.rates.rate(key, *end as f64, read.instant, LOOK_EVERY * 2);
            sample.figure(names::TOPIC_MESSAGES, label("topic", topic), rate);
        }
        for ((consumer, topic), messages) in &seen.lags {
            let labels = vec![("consumer", (*consumer).to_owned()), ("topic", topic.clone())];
            sample.gauge(names::TOPIC_LAG, labels, *messages as f64);
        }
        away
    }

    /// Consumers with lag that make no progress.
    fn stalled(&self, sample: &mut Sample, now: Moment) -> Vec<Stalled> {
        let topics = &self.looks.topics;
        if topics.seen.at(now).is_none() {
            return Vec::new();
        }
        let stalled = topics.stalled();
        sample.gauge(names::CONSUMERS_STUCK, Vec::new(), stalled.len() as f64);
        stalled
    }

    /// Shards of feeds without an owner, of how many; `None` without feeds.
    fn feeds_unserved(&self, sample: &mut Sample, now: Moment) -> Option<(usize, u32)> {
        let read = &self.looks.read;
        let works = read.works.at(now)?;
        let feeds = works.iter().find(|work| work.kind == "feeds")?;
        let are_there = read.feeds.count()? > 0;
        let free = if are_there { unserved(&feeds.cluster, feeds.shards).len() } else { 0 };
        sample.gauge(names::FEEDS_UNSERVED, Vec::new(), free as f64);
        Some((free, feeds.shards))
    }

    fn photos(&self, sample: &mut Sample, now: Moment) -> PhotosSeen {
        let Some(seen) = self.looks.read.photos.at(now) else { return PhotosSeen::default() };
        sample.gauge(names::PHOTOS_MISSING, Vec::new(), seen.missing.len() as f64);
        seen.clone()
    }

    /// Figures that other parts supply under their own names. `/metrics` collects them itself.
    fn parts(&self, sample: &mut Sample) {
        let tasks = self.looks.sources.tasks.as_ref().map(tasks::Tasks::gauges);
        for (name, value) in self.probe.store().gauges().into_iter().chain(tasks.unwrap_or_default()) {
            sample.figure(names::given(name), Vec::new(), value);
        }
    }

    fn process(&mut self, sample: &mut Sample, now: Moment) {
        if let Some(Usage { cpu_seconds, resident_bytes }) = Usage::read() {
            let cpu = self.rates.rate("cpu".to_owned(), cpu_seconds, now.instant, Duration::ZERO);
            sample.figure(names::CPU, Vec::new(), cpu);
            sample.figure(names::MEMORY, Vec::new(), resident_bytes as f64);
        }
        if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
            sample.figure(names::OPEN_FILES, Vec::new(), open.count() as f64);
        }
    }
}
