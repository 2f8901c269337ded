//! Recent latencies, computed from cumulative histograms.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;
use watcher::Latencies;

/// Remembers the last counts. Counts that are not reported for a while are forgotten.
#[derive(Debug, Default)]
pub(super) struct Spans {
    last: BTreeMap<String, Last>,
}

#[derive(Debug)]
struct Last {
    counted: Latencies,
    /// When the count last changed.
    time: Instant,
    seen: Instant,
    /// The difference at that change.
    lately: Latencies,
}

impl Spans {
    /// The latencies since the last reading. Without new visits the previous ones are returned for
    /// `hold`, because counts may be reported less often than they are read.
    pub(super) fn lately(
        &mut self,
        key: String,
        counted: Latencies,
        now: Instant,
        hold: Duration,
    ) -> Latencies {
        let Some(last) = self.last.get_mut(&key) else {
            // It is unknown when the visits before the first reading took place.
            self.last.insert(key, Last { counted, time: now, seen: now, lately: Latencies::default() });
            return Latencies::default();
        };
        last.seen = now;
        let since = counted.since(&last.counted).unwrap_or_default();
        if counted != last.counted {
            (last.counted, last.time, last.lately) = (counted, now, since);
        } else if now.saturating_duration_since(last.time) >= hold {
            last.lately = Latencies::default();
        }
        last.lately
    }

    /// Forgets counts that were not reported for longer than `after`.
    pub(super) fn forget(&mut self, now: Instant, after: Duration) {
        self.last.retain(|_, last| now.saturating_duration_since(last.seen) <= after);
    }
}
