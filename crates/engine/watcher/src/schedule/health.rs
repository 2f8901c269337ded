//! The health of a stage. A stage that does not answer is down: it is only probed, with one entity
//! at a time and growing pauses, and its entities lose no attempts.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::answer::truncate;
use crate::limits::{DOWN_AFTER_CALLS, DOWN_AFTER_ENTITIES, ERROR_BYTES_MAX, PROBE_PAUSE, PROBE_PAUSE_MAX};
use crate::stage::StageError;
use clock::Time;

#[derive(Clone, Debug, Default)]
pub(crate) struct Health {
    /// Calls since the last answer.
    silent_calls: usize,
    /// Some of the entities of these calls: one entity on which a stage always fails does not take
    /// it down.
    silent_over: BTreeSet<Arc<str>>,
    down: Option<Down>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Down {
    pub(crate) since: Time,
    /// The error of the last call.
    pub(crate) error: String,
    /// The time of the next probe.
    pub(crate) probe: Time,
    pause: Duration,
}

impl Health {
    /// The stage answered, if only with a lasting error. Says whether it was down.
    pub(crate) fn answered(&mut self) -> bool {
        std::mem::take(self).down.is_some()
    }

    /// A call over these entities failed.
    pub(crate) fn silent<'a>(
        &mut self,
        entities: impl Iterator<Item = &'a Arc<str>>,
        error: &StageError,
        now: Time,
    ) {
        self.silent_calls += 1;
        let (is_away, error) =
            (matches!(error, StageError::Away(_)), &truncate(&error.to_string(), ERROR_BYTES_MAX));
        for entity in entities {
            if self.silent_over.len() < DOWN_AFTER_ENTITIES {
                self.silent_over.insert(Arc::clone(entity));
            }
        }
        if let Some(down) = &mut self.down {
            down.error.clone_from(error);
            // Calls that were under way when it went down are no probes.
            if now >= down.probe {
                down.pause = (down.pause * 2).min(PROBE_PAUSE_MAX);
                down.probe = now + down.pause;
            }
        } else if is_away
            || self.silent_calls >= DOWN_AFTER_CALLS && self.silent_over.len() >= DOWN_AFTER_ENTITIES
        {
            let (pause, error) = (PROBE_PAUSE, error.clone());
            self.down = Some(Down { since: now, error, probe: now + pause, pause });
        }
    }

    /// `None` if the stage is up.
    pub(crate) fn down(&self) -> Option<&Down> {
        self.down.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: i64) -> Time {
        Time::from_ms(s * 1000)
    }

    fn silent(health: &mut Health, entity: &str, s: i64) {
        health.silent([Arc::from(entity)].iter(), &StageError::Passing("gone".to_owned()), at(s));
    }

    fn dead() -> Health {
        let mut health = Health::default();
        (0..DOWN_AFTER_CALLS).for_each(|n| silent(&mut health, &format!("e{n}"), 0));
        health
    }

    #[test]
    fn a_stage_that_fails_on_one_entity_only_is_not_down() {
        let mut health = Health::default();
        (0..100).for_each(|s| silent(&mut health, "poison", s));
        assert_eq!(health.down(), None);
    }

    #[test]
    fn a_stage_that_cannot_be_reached_is_down_whatever_it_was_called_for() {
        let mut health = Health::default();
        health.silent([Arc::from("only")].iter(), &StageError::Away("nobody is there".to_owned()), at(0));
        assert_eq!(health.down().unwrap().error, "nobody is there");
    }

    #[test]
    fn a_stage_that_answers_now_and_then_is_not_down() {
        let mut health = Health::default();
        for n in 0..100 {
            silent(&mut health, &format!("e{n}"), n);
            if n % 3 == 0 {
                health.answered();
            }
        }
        assert_eq!(health.down(), None);
    }

    #[test]
    fn a_dead_stage_is_probed_with_growing_pauses_until_it_answers() {
        let mut health = dead();
        let mut probes = Vec::new();
        for n in 0..8 {
            let probe = health.down().unwrap().probe;
            probes.push(probe.since(at(0)).as_secs());
            let error = StageError::Passing("still gone".to_owned());
            health.silent([Arc::from(format!("p{n}"))].iter(), &error, probe);
        }
        assert_eq!(probes, [1, 3, 7, 15, 31, 61, 91, 121]);
        assert_eq!(health.down().unwrap().error, "still gone");
        assert!(health.answered());
        assert_eq!(health.down(), None);
        assert!(!health.answered(), "it was up already");
    }

    #[test]
    fn calls_that_were_under_way_when_it_went_down_do_not_put_off_the_probe() {
        let mut health = dead();
        (0..5).for_each(|n| silent(&mut health, &format!("late{n}"), 0));
        assert_eq!(health.down().unwrap().probe, at(1));
    }
}
