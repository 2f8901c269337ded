//! Pings remote stages, so that an unresponsive one is detected also when it has nothing to visit.

use std::collections::BTreeMap;

use clock::Time;
use futures::future::join_all;
use remote_stages::{PingError, StageRegistry};
use watcher::Outage;

use super::limits::{PING_TIME_MAX, SILENT_AFTER};

/// Remote stages that did not answer the last ping.
#[derive(Debug, Default)]
pub(super) struct Pings {
    silent: BTreeMap<String, Silent>,
}

#[derive(Debug)]
struct Silent {
    outage: Outage,
    /// Missed pings in a row.
    times: u32,
    /// Visits by the stage in this process at the time of the ping.
    visits: u64,
}

impl Pings {
    /// Pings all stages in parallel, with one timeout for all.
    pub(super) async fn ask(&mut self, registry: &StageRegistry, now: Time) {
        let outside = registry.remote();
        let asked = outside
            .iter()
            .map(async |(id, bench)| (id.clone(), bench.plugin.ping(PING_TIME_MAX).await.err()));
        let answers = join_all(asked).await;
        let statuses = registry.offers().watcher().statuses();
        let visits = |id: &str| statuses.get(id).map_or(0, |status| status.counts.visits);
        let answers = answers.into_iter().map(|(id, silence)| (visits(&id), id, silence));
        self.note(answers.collect(), now);
    }

    /// Records the results: visits, name and error of each stage.
    fn note(&mut self, answers: Vec<(u64, String, Option<PingError>)>, now: Time) {
        let before = std::mem::take(&mut self.silent);
        for (visits, id, silence) in answers {
            // A busy stage may answer a ping late. If it is stuck, its calls fail.
            let Some(silence) = silence.filter(|silence| silence.is_unreachable || !silence.is_busy) else {
                continue;
            };
            let known = before.get(&id);
            let since = known.map_or(now, |before| before.outage.since);
            let times = if silence.is_unreachable {
                SILENT_AFTER
            } else {
                known.map_or(0, |before| before.times) + 1
            };
            let outage = Outage { since, error: silence.error };
            self.silent.insert(id, Silent { outage, times, visits });
        }
    }

    /// The outage of a stage, if it is silent. A stage that visits offers meanwhile is busy, not
    /// silent.
    pub(super) fn of(&self, id: &str, visits: u64) -> Option<Outage> {
        let silent = self.silent.get(id).filter(|silent| silent.visits == visits);
        silent.filter(|silent| silent.times >= SILENT_AFTER).map(|silent| silent.outage.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: i64) -> Time {
        Time::from_seconds(s)
    }

    fn answer(visits: u64, is_unreachable: bool, is_busy: bool) -> Vec<(u64, String, Option<PingError>)> {
        let silence = PingError { error: "no answer".to_owned(), is_unreachable, is_busy };
        vec![(visits, "price".to_owned(), Some(silence))]
    }

    #[test]
    fn a_stage_that_is_slow_once_is_not_down_and_one_that_nobody_reaches_is_at_once() {
        let mut pings = Pings::default();
        pings.note(answer(0, false, false), at(0));
        assert_eq!(pings.of("price", 0), None, "it may have been busy with something else");
        pings.note(answer(0, false, false), at(2));
        assert_eq!(pings.of("price", 0).unwrap().since, at(0));
        pings.note(vec![(0, "price".to_owned(), None)], at(4));
        assert_eq!(pings.of("price", 0), None);
        pings.note(answer(0, true, false), at(6));
        assert_eq!(pings.of("price", 0).unwrap().since, at(6));
    }

    #[test]
    fn a_stage_that_has_calls_under_way_or_visits_offers_is_busy_and_not_down() {
        let mut pings = Pings::default();
        for s in 0..5 {
            pings.note(answer(0, false, true), at(s));
        }
        assert_eq!(pings.of("price", 0), None, "its calls are under way");
        for s in 5..9 {
            pings.note(answer(7, false, false), at(s));
        }
        assert_eq!(pings.of("price", 8), None, "it has visited one meanwhile");
        assert!(pings.of("price", 7).is_some());
    }
}
