//! How long visits took lately, from counts that only grow.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;
use watcher::Latencies;

/// Remembers what was counted before. Counts of which nothing was heard for a while are forgotten.
#[derive(Debug, Default)]
pub(super) struct Spans {
    last: BTreeMap<String, Last>,
}

#[derive(Debug)]
struct Last {
    counted: Latencies,
    /// When it changed last.
    time: Instant,
    seen: Instant,
    /// What came with that.
    lately: Latencies,
}

impl Spans {
    /// The visits since it was looked at last. If there were none, those before them are told for
    /// as long as `hold`: they may be told less often than they are looked at.
    pub(super) fn lately(
        &mut self,
        key: String,
        counted: Latencies,
        now: Instant,
        hold: Duration,
    ) -> Latencies {
        let Some(last) = self.last.get_mut(&key) else {
            // When those were made that were counted before the first look is not known.
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

    /// Forgets counts of which nothing was heard for longer than this.
    pub(super) fn forget(&mut self, now: Instant, after: Duration) {
        self.last.retain(|_, last| now.saturating_duration_since(last.seen) <= after);
    }
}
