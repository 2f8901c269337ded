//! Asking one stage whether it wants to visit entities. If it cannot say, it gets the visits.

use futures::future::join_all;

use crate::call::caught_within;
use crate::entity::Entity;
use crate::queue::{Lane, VisitRequest};
use crate::rows::Why;
use crate::rules::{Rules, StageRule};
use crate::stage::{Schedule, StageError, Subject};
use crate::visit::Liveness;
use crate::watcher::Watcher;

/// The reason and the lane of visits that a stage wants at once.
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
    /// The visits that a stage wants, one answer for each entity, in calls of the stage's batch
    /// size.
    pub(crate) async fn ask(
        &self,
        rules: &Rules<E>,
        rule: &StageRule<E>,
        subjects: &[Subject<E>],
        cause: Cause,
    ) -> (Vec<Option<VisitRequest>>, Liveness) {
        let calls = subjects.chunks(rule.limits.batch_max);
        let calls = calls.map(|subjects| self.ask_once(rules, rule, subjects, cause)).collect::<Vec<_>>();
        let (mut visits, mut liveness) = (Vec::with_capacity(subjects.len()), Liveness::NotCalled);
        for (more, of_call) in join_all(calls).await {
            visits.extend(more);
            if liveness == Liveness::NotCalled || of_call == Liveness::Answered {
                liveness = of_call;
            }
        }
        (visits, liveness)
    }

    async fn ask_once(
        &self,
        rules: &Rules<E>,
        rule: &StageRule<E>,
        subjects: &[Subject<E>],
        cause: Cause,
    ) -> (Vec<Option<VisitRequest>>, Liveness) {
        let (stage, entities, timeout) = (rule.stage.id(), subjects.len(), rule.limits.timeout);
        let unsure = VisitRequest { visit: self.now(), lane: cause.lane, why: Why::WHY_UNSURE };
        // Do not wait for a stage that is down or slow to answer.
        if self.status().is_down(stage) || !rules.slow_answers.may_ask(stage, self.now()) {
            return (vec![Some(unsure); entities], Liveness::NotCalled);
        }
        // Nor for one with too many questions: it gets the visits without having been asked.
        let Ok(_permit) = tokio::time::timeout(timeout, rule.questions.acquire()).await else {
            return (vec![Some(unsure); entities], Liveness::NotCalled);
        };
        let answers = match caught_within(timeout, entities, rule.stage.should_process_many(subjects)).await {
            Ok(answers) => answers,
            Err(error) => {
                tracing::warn!(stage, entities, %error, "a stage cannot say whether it wants entities");
                return (vec![Some(unsure); entities], Liveness::Silent(error));
            }
        };
        rules.slow_answers.answered(stage);
        let liveness = Liveness::of(&answers);
        let visit = |(answer, subject): (Result<Schedule, StageError>, &Subject<E>)| match answer {
            Ok(schedule) => requested(schedule, subject, cause),
            Err(error) => {
                let entity = subject.entity.id().to_string();
                tracing::warn!(stage, entity, %error, "a stage cannot say whether it wants an entity");
                Some(unsure)
            }
        };
        (answers.into_iter().zip(subjects).map(visit).collect(), liveness)
    }
}

fn requested<E>(schedule: Schedule, subject: &Subject<E>, cause: Cause) -> Option<VisitRequest> {
    match schedule {
        Schedule::No => None,
        Schedule::At(visit) if visit > subject.now => {
            Some(VisitRequest { visit, lane: Lane::Timer, why: Why::WHY_TIMER })
        }
        Schedule::Now | Schedule::At(_) => {
            Some(VisitRequest { visit: subject.now, lane: cause.lane, why: cause.why })
        }
    }
}
