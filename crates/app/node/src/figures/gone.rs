//! Detects processes that died without a clean shutdown.
//!
//! A process that shuts down cleanly deletes its row. The row of a killed process stays, and its
//! heartbeat no longer changes.

use std::collections::BTreeMap;
use std::time::Duration;

use clock::Time;
use watcher::Cluster;

use super::limits::{GONE_SHOWN, SAMPLE_EVERY};
use super::moment::Moment;

/// Heartbeats of processes, timed by the clock of this process: clocks of different machines are
/// never compared.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// When the store was last read.
    read: Option<Moment>,
    /// The last heartbeat of each process, and when it was first seen.
    beats: BTreeMap<String, (Time, Moment)>,
    /// Dead processes, and when their death was noticed.
    gone: BTreeMap<String, Moment>,
}

impl Heard {
    /// Processes the rows read at `read`. A reading that was already processed has no effect.
    pub(super) fn hear(&mut self, cluster: &Cluster, lease_time: Duration, read: Moment) {
        if self.read.is_some_and(|before| before.instant == read.instant) {
            return;
        }
        // While the store was not read no heartbeat was seen, and perhaps none could be written.
        // All timeouts restart.
        let gap_max = lease_time.mul_f64(0.6).max(3 * SAMPLE_EVERY);
        let is_late = self.read.replace(read).is_none_or(|before| read.since(before) > gap_max);
        let mut before = std::mem::take(&mut self.beats);
        if is_late {
            for (_, since) in before.values_mut() {
                *since = read;
            }
        }
        for (name, process) in &cluster.processes {
            let since = match before.get(name) {
                Some((beat, since)) if *beat == process.beat => *since,
                _ => read,
            };
            self.beats.insert(name.clone(), (process.beat, since));
        }
        // There are three heartbeats per lease time. A process that has missed two of them is not
        // shutting down cleanly.
        let is_silent = |since: Moment| read.since(since) >= lease_time.mul_f64(0.8);
        for (name, (_, since)) in before.iter().chain(&self.beats) {
            if is_silent(*since) {
                self.gone.entry(name.clone()).or_insert(read);
            }
        }
        let beats = &self.beats;
        self.gone.retain(|name, noticed| match beats.get(name) {
            // It is alive after all.
            Some((_, since)) => is_silent(*since),
            None => read.since(*noticed) < GONE_SHOWN,
        });
    }

    /// The store does not answer: the next reading says nothing about the time before.
    pub(super) fn interrupted(&mut self) {
        self.read = None;
    }

    /// Dead processes, and when their death was noticed.
    pub(super) fn gone(&self) -> BTreeMap<String, Time> {
        self.gone.iter().map(|(name, noticed)| (name.clone(), noticed.time)).collect()
    }
}

#[cfg(test)]
mod tests {
    use clock::Clock;
    use watcher::ProcessSeen;

    use super::*;

    const LEASE: Duration = Duration::from_secs(15);

    fn cluster(processes: &[(&str, i64)]) -> Cluster {
        let seen = |(name, beat): &(&str, i64)| {
            ((*name).to_owned(), ProcessSeen { beat: Time::from_seconds(*beat), ..ProcessSeen::default() })
        };
        Cluster { processes: processes.iter().map(seen).collect(), ..Cluster::default() }
    }

    #[test]
    fn a_process_that_falls_silent_is_gone_and_one_that_ends_in_order_is_not() {
        let (mut heard, began) = (Heard::default(), Moment::now(&Clock::system()));
        let at = |s| began.after(s);
        // Its clock is an hour behind, which must not matter.
        heard.hear(&cluster(&[("killed", -3600), ("ends", 0)]), LEASE, at(0));
        heard.hear(&cluster(&[("killed", -3600), ("ends", 5)]), LEASE, at(5));
        heard.hear(&cluster(&[("killed", -3600)]), LEASE, at(10));
        assert!(heard.gone().is_empty(), "a beat may come late");
        heard.hear(&cluster(&[("killed", -3600)]), LEASE, at(12));
        assert_eq!(heard.gone(), BTreeMap::from([("killed".to_owned(), at(12).time)]));
        heard.hear(&cluster(&[]), LEASE, at(16));
        assert_eq!(heard.gone().len(), 1, "others have taken its parts, and it is told for a while");
        heard.hear(&cluster(&[]), LEASE, at(12 + GONE_SHOWN.as_secs()));
        assert!(heard.gone().is_empty());
    }

    #[test]
    fn a_process_that_was_silent_and_beats_again_is_not_gone() {
        let (mut heard, began) = (Heard::default(), Moment::now(&Clock::system()));
        for s in [0, 6, 13] {
            heard.hear(&cluster(&[("slow", 0)]), LEASE, began.after(s));
        }
        assert_eq!(heard.gone().len(), 1);
        heard.hear(&cluster(&[("slow", 14)]), LEASE, began.after(14));
        assert!(heard.gone().is_empty());
    }

    #[test]
    fn nobody_is_gone_because_the_store_was_not_read() {
        let began = Moment::now(&Clock::system());
        for interrupt in [false, true] {
            let mut heard = Heard::default();
            heard.hear(&cluster(&[("lives", 0)]), LEASE, began);
            // The same reading several times.
            for _ in 0..3 {
                heard.hear(&cluster(&[("lives", 0)]), LEASE, began);
            }
            if interrupt {
                heard.interrupted();
            }
            heard.hear(&cluster(&[("lives", 0)]), LEASE, began.after(40));
            assert!(heard.gone().is_empty(), "it could not beat either");
            heard.hear(&cluster(&[("lives", 0)]), LEASE, began.after(46));
            assert!(heard.gone().is_empty());
            heard.hear(&cluster(&[("lives", 0)]), LEASE, began.after(52));
            assert_eq!(heard.gone().len(), 1, "from now on it counts");
        }
    }
}
