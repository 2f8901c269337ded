//! Memory, processor time and disk writes of this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Resident memory of this process, in MiB.
pub(super) fn rss_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// Samples resident memory until it is dropped.
pub(super) struct RssPeak {
    peak: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl RssPeak {
    pub(super) fn watch() -> Self {
        let (peak, stop) = (Arc::new(AtomicU64::new(rss_mb())), Arc::new(AtomicBool::new(false)));
        let (seen, stopped) = (Arc::clone(&peak), Arc::clone(&stop));
        std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                seen.fetch_max(rss_mb(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        Self { peak, stop }
    }

    pub(super) fn mb(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }
}

impl Drop for RssPeak {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Processor seconds that this process has used, and bytes that it has written to the disk.
pub(super) fn usage() -> (f64, u64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let ticks: u64 =
        after_name.split(' ').skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let written = io.lines().find_map(|line| line.strip_prefix("write_bytes: ")?.parse().ok()).unwrap_or(0);
    (ticks as f64 / rustix::param::clock_ticks_per_second() as f64, written)
}

/// Waits until the background threads of a bare engine are idle.
pub(super) fn settle(database: &fjall::Database) {
    let mut quiet = 0;
    while quiet < 5 {
        let busy = database.active_compactions() > 0 || database.outstanding_flushes() > 0;
        quiet = if busy { 0 } else { quiet + 1 };
        std::thread::sleep(Duration::from_millis(100));
    }
}
