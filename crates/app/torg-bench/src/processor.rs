//! Accounts processor time: this process, the server by its threads, everything else on the
//! machine.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// A sample of the system's counters.
pub(super) struct Look {
    at: Instant,
    server: Option<u32>,
    client_s: f64,
    server_s: f64,
    threads: BTreeMap<String, f64>,
    busy_s: f64,
}

/// The use between two samples, in seconds of one core.
pub(super) struct Spent {
    pub(super) client_s: f64,
    pub(super) server_s: f64,
    elapsed_s: f64,
    others_s: f64,
    threads: BTreeMap<String, f64>,
}

impl Look {
    /// A sample now, with the server's process if there is one.
    pub(super) fn now(server: Option<u32>) -> Self {
        let threads = server.map(threads_of).unwrap_or_default();
        let of = |process: &str| {
            ticks(&std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default())
        };
        let server_s = server.map_or(0.0, |process| of(&process.to_string()));
        Self { at: Instant::now(), server, client_s: of("self"), server_s, threads, busy_s: busy() }
    }

    /// The use since this sample.
    pub(super) fn spent(&self) -> Spent {
        let now = Self::now(self.server);
        let threads: BTreeMap<String, f64> = now
            .threads
            .into_iter()
            .map(|(name, spent)| {
                let before = self.threads.get(&name).copied().unwrap_or(0.0);
                (name, (spent - before).max(0.0))
            })
            .collect();
        let (client_s, server_s) = (now.client_s - self.client_s, now.server_s - self.server_s);
        let others_s = (now.busy_s - self.busy_s - client_s - server_s).max(0.0);
        Spent { client_s, server_s, elapsed_s: self.at.elapsed().as_secs_f64(), others_s, threads }
    }
}

impl Spent {
    pub(super) fn line(&self) -> String {
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        let share = |spent: f64| 100.0 * spent / (self.elapsed_s * cores).max(0.001);
        let mut threads: Vec<(&String, &f64)> =
            self.threads.iter().filter(|(_, spent)| share(**spent) >= 1.0).collect();
        threads.sort_by(|a, b| b.1.total_cmp(a.1));
        let threads: Vec<String> =
            threads.iter().map(|(name, spent)| format!("{name} {:.0} %", share(**spent))).collect();
        let threads = if threads.is_empty() { String::new() } else { format!(" ({})", threads.join(", ")) };
        format!(
            "processor: server {:.0} %{threads}, client {:.0} %, others {:.0} % of {cores} cores",
            share(self.server_s),
            share(self.client_s),
            share(self.others_s)
        )
    }
}

/// The peak memory of a process, in MiB.
pub(super) fn peak_mb(process: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
}

/// Seconds by the names of threads; numbers at their ends do not count.
fn threads_of(process: u32) -> BTreeMap<String, f64> {
    let mut threads = BTreeMap::new();
    let folder = format!("/proc/{process}/task");
    for entry in Path::new(&folder).read_dir().into_iter().flatten().flatten() {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((_, rest)) = stat.split_once('(') else { continue };
        let Some((name, _)) = rest.rsplit_once(')') else { continue };
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '#');
        *threads.entry(name.to_owned()).or_default() += ticks(&stat);
    }
    threads
}

/// Seconds of a line of `stat`: in user and in system mode.
fn ticks(stat: &str) -> f64 {
    let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let ticks: u64 =
        after_name.split(' ').skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks as f64 / per_s()
}

/// Seconds in which the cores were busy.
fn busy() -> f64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields: Vec<u64> = stat
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|field| field.parse().ok())
        .collect();
    // The fields are user, nice, system, then idle and iowait, which do not count, then interrupts.
    let busy: u64 =
        fields.iter().enumerate().filter(|(at, _)| matches!(at, 0..=2 | 5..=6)).map(|(_, field)| field).sum();
    busy as f64 / per_s()
}

fn per_s() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}
