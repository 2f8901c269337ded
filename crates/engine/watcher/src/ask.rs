//! Asking a stage whether it wants to visit entities. One that cannot say is taken to want them.

use std::sync::Arc;

use futures::future::join_all;

use crate::call::caught_within;
use crate::entity::Entity;
use crate::queue::{Lane, Wanted};
use crate::rows::Why;
use crate::stage::{Stage, StageError, Subject, Wish};
use crate::visit::Heard;
use crate::watcher::Watcher;

/// For what reason, and in which lane, entities are queued that a stage wants at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cause {
    pub(crate) lane: Lane,
    pub(crate) why: Why,
}

impl Cause {
    pub(crate) const CHANGE: Self = Self { lane: Lane::Fresh, why: Why::WHY_CHANGE };
    pub(crate) const RECRAWL: Self = Self { lane: Lane::Background, why: Why::WHY_RECRAWL };
}

impl<E: Entity> Watcher<E> {
    /// The visits that a stage wants, one answer for each entity, and whether the stage was heard at all. It is asked about as many
    /// entities at once as it may visit.
    pub(crate) async fn ask(
        &self,
        stage: &Arc<dyn Stage<E>>,
        subjects: &[Subject<E>],
        cause: Cause,
    ) -> (Vec<Option<Wanted>>, Heard) {
        let calls = subjects.chunks(self.limits_of(stage.id()).batch_max);
        let calls = calls.map(|subjects| self.ask_once(stage, subjects, cause)).collect::<Vec<_>>();
        let (mut wanted, mut heard) = (Vec::with_capacity(subjects.len()), Heard::Nothing);
        for (wishes, heard_now) in join_all(calls).await {
            wanted.extend(wishes);
            if heard == Heard::Nothing || heard_now == Heard::Answer {
                heard = heard_now;
            }
        }
        (wanted, heard)
    }

    async fn ask_once(
        &self,
        stage: &Arc<dyn Stage<E>>,
        subjects: &[Subject<E>],
        cause: Cause,
    ) -> (Vec<Option<Wanted>>, Heard) {
        let unsure = Wanted { visit: self.now(), lane: cause.lane, why: Why::WHY_UNSURE };
        let not_asked = || (subjects.iter().map(|_| Some(unsure)).collect(), Heard::Nothing);
        // Nobody waits for a stage that is known not to answer, or only after a long time.
        if self.board().is_down(stage.id()) || !self.board().may_ask(stage.id(), self.now()) {
            return not_asked();
        }
        let (asked, timeout) = (subjects.len(), self.limits_of(stage.id()).timeout);
        // Nor does anybody wait for a stage with too many questions: it sees these entities without having been asked.
        let Ok(_turn) = tokio::time::timeout(timeout, self.turn_to_ask(stage.id())).await else {
            return not_asked();
        };
        let failed = match caught_within(timeout, stage.should_process_many(subjects)).await {
            Ok(answers) if answers.len() == asked => {
                self.board().answered_in_time(stage.id(), true, self.now());
                let heard = heard(&answers);
                let wanted = |(answer, subject): (Result<Wish, StageError>, &Subject<E>)| match answer {
                    Ok(wish) => wanted(wish, subject, cause),
                    Err(error) => {
                        let entity = subject.entity.id().to_string();
                        tracing::warn!(stage = stage.id(), entity, %error, "a stage cannot say whether it wants an entity");
                        Some(unsure)
                    }
                };
                return (answers.into_iter().zip(subjects).map(wanted).collect(), heard);
            }
            Ok(answers) => {
                StageError::Passing(format!("it gave {} answers to {asked} questions", answers.len()))
            }
            Err(error) => error,
        };
        tracing::warn!(stage = stage.id(), entities = asked, error = %failed, "a stage cannot say whether it wants entities");
        (subjects.iter().map(|_| Some(unsure)).collect(), Heard::Silence(failed))
    }
}

fn wanted<E>(wish: Wish, subject: &Subject<E>, cause: Cause) -> Option<Wanted> {
    match wish {
        Wish::No => None,
        Wish::At(time) if time > subject.now => {
            Some(Wanted { visit: time, lane: Lane::Timer, why: Why::WHY_TIMER })
        }
        Wish::Now | Wish::At(_) => Some(Wanted { visit: subject.now, lane: cause.lane, why: cause.why }),
    }
}

fn heard(answers: &[Result<Wish, StageError>]) -> Heard {
    let passing = |answer: &Result<Wish, StageError>| match answer {
        Err(error @ (StageError::Passing(_) | StageError::Away(_))) => Some(error.clone()),
        _ => None,
    };
    let errors: Option<Vec<StageError>> = answers.iter().map(passing).collect();
    errors.and_then(|mut errors| errors.pop()).map_or(Heard::Answer, Heard::Silence)
}
