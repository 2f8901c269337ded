//! The stages of a watcher with their limits, and which of them a change concerns.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::config::StageLimits;
use crate::entity::Entity;
use crate::fields::Fields;
use crate::limits::{LATE_PAUSE, LATE_PAUSE_MAX, STAGE_ID_BYTES_MAX, STAGES_MAX};
use crate::stage::{Interest, Stage};
use crate::{Error, Result};
use clock::Time;

/// One stage.
pub(crate) struct StageRule<E: Entity> {
    pub(crate) stage: Arc<dyn Stage<E>>,
    pub(crate) limits: StageLimits,
    interest: Interest,
    /// A stage answers as many questions at a time as it may have calls.
    pub(crate) questions: Semaphore,
}

/// All stages, by id. [`Watcher::set_stages`](crate::Watcher::set_stages) replaces them as a whole.
pub(crate) struct Rules<E: Entity> {
    pub(crate) stages: BTreeMap<String, StageRule<E>>,
    pub(crate) slow_answers: SlowAnswers,
}

impl<E: Entity> Rules<E> {
    /// `limits` are those of single stages, `default_limits` those of the others.
    pub(crate) fn new(
        stages: Vec<Arc<dyn Stage<E>>>,
        limits: &BTreeMap<String, StageLimits>,
        default_limits: StageLimits,
    ) -> Result<Self> {
        let wrong = |what: String| Err(Error::Setup { what });
        if stages.len() > STAGES_MAX {
            return wrong(format!("{} has {} stages, the limit is {STAGES_MAX}", E::KIND, stages.len()));
        }
        let mut by_id = BTreeMap::new();
        for stage in stages {
            let id = stage.id().to_owned();
            if !is_name(&id) {
                return wrong(format!(
                    "stage {id:?}: an id must have 1 to {STAGE_ID_BYTES_MAX} bytes and no NUL"
                ));
            }
            let limits = limits.get(&id).copied().unwrap_or(default_limits);
            if let Err(what) = limits.validate() {
                return wrong(format!("the limits of stage {id:?}: {what}"));
            }
            let questions = Semaphore::new(limits.calls_max);
            let rule = StageRule { interest: stage.interest(), stage, limits, questions };
            if by_id.insert(id.clone(), rule).is_some() {
                return wrong(format!("two stages have the id {id:?}: give one of them another id"));
            }
        }
        if let Some(stage) = limits.keys().find(|stage| !by_id.contains_key(*stage)) {
            return wrong(format!("there are limits for stage {stage:?}, but no such stage"));
        }
        Ok(Self { stages: by_id, slow_answers: SlowAnswers::default() })
    }

    /// The stages that visit an entity because of a change of these fields, without being asked.
    pub(crate) fn visitors(&self, author: Option<&str>, changed: &Fields) -> impl Iterator<Item = &str> {
        let overlooked = planted!(Overlooked) && author.is_some();
        self.interested(changed, false).filter(move |id| !overlooked && Some(*id) != author)
    }

    /// The stages that must be asked about a change of these fields.
    pub(crate) fn to_ask(&self, changed: &Fields) -> impl Iterator<Item = &str> {
        self.interested(changed, true)
    }

    fn interested(&self, changed: &Fields, ask: bool) -> impl Iterator<Item = &str> {
        let of_fields =
            move |rule: &StageRule<E>| rule.interest.ask == ask && rule.interest.fields.overlaps(changed);
        self.stages.iter().filter(move |(_, rule)| of_fields(rule)).map(|(id, _)| id.as_str())
    }
}

/// Whether a kind or a stage may have this name.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= STAGE_ID_BYTES_MAX && !name.contains('\0')
}

/// Stages that took too long to say whether they want an entity.
#[derive(Debug, Default)]
pub(crate) struct SlowAnswers(Mutex<BTreeMap<String, Slow>>);

#[derive(Debug)]
struct Slow {
    /// When the stage may be asked again, with one call.
    until: Time,
    pause: Duration,
    /// That call is under way.
    is_tried: bool,
}

impl SlowAnswers {
    /// Whether a stage may be asked. A slow stage is asked again after a pause, with one call
    /// first.
    pub(crate) fn may_ask(&self, stage: &str, now: Time) -> bool {
        match self.0.lock().get_mut(stage) {
            None => true,
            Some(slow) if now < slow.until => false,
            Some(slow) => {
                (slow.until, slow.is_tried) = (now + slow.pause, true);
                true
            }
        }
    }

    pub(crate) fn answered(&self, stage: &str) {
        self.0.lock().remove(stage);
    }

    pub(crate) fn timed_out(&self, stage: &str, now: Time) {
        let mut slow = self.0.lock();
        let pause = match slow.get(stage) {
            None => LATE_PAUSE,
            Some(slow) if slow.is_tried => (slow.pause * 2).min(LATE_PAUSE_MAX),
            // Another question of the same round timed out already.
            Some(_) => return,
        };
        slow.insert(stage.to_owned(), Slow { until: now + pause, pause, is_tried: false });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: i64) -> Time {
        Time::from_ms(s * 1000)
    }

    #[test]
    fn a_stage_that_takes_too_long_to_answer_is_asked_again_with_one_call_after_a_growing_pause() {
        let slow = SlowAnswers::default();
        assert!(slow.may_ask("slow", at(0)));
        slow.timed_out("slow", at(1));
        // A second question of the same time.
        slow.timed_out("slow", at(1));
        assert!(!slow.may_ask("slow", at(30)) && slow.may_ask("quick", at(30)));
        assert!(slow.may_ask("slow", at(31)), "it is tried");
        assert!(!slow.may_ask("slow", at(31)), "by one call");
        slow.timed_out("slow", at(32));
        assert!(!slow.may_ask("slow", at(91)) && slow.may_ask("slow", at(92)), "after twice as long");
        slow.answered("slow");
        assert!(slow.may_ask("slow", at(93)) && slow.may_ask("slow", at(93)));
    }
}
