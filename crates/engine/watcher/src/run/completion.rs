//! The end of a call: its entities are free again, and what is still to be done is scheduled.

use std::iter;
use std::sync::Arc;

use tokio::task::{self, JoinError};
use tokio::time::Instant;

use super::calls::Call;
use super::{ERROR_PAUSE, Runner};
use crate::entity::Entity;
use crate::limits::ISOLATED_MAX;
use crate::schedule::{Item, QueueId};
use crate::status::FailedVisit;
use crate::visit::{End, Liveness, Visited};
use crate::{Error, Result};

impl<E: Entity> Runner<E> {
    pub(super) fn finish(&mut self, ended: Result<(task::Id, Visited), JoinError>) {
        let (id, visited) = match ended {
            Ok((id, visited)) => (id, Some(visited)),
            Err(error) => {
                tracing::error!(kind = E::KIND, %error, "a visit panicked in the code of the entity or of the watcher");
                (error.id(), None)
            }
        };
        let Some(Call { stage, line, items, began, started }) = self.calls.under_way.remove(&id) else {
            return;
        };
        let now = self.watcher.now();
        self.scheduler.call_ended(stage, line, now.since(began));
        let several = items.len() > 1;
        let Some(visited) = visited else {
            // Several entities are tried again one by one, and the one to blame after a pause.
            for item in items {
                let id = QueueId { shard: item.shard, stage, line };
                self.calls.busy_mut(stage).remove(&(item.shard, Arc::clone(&item.entity)));
                if several {
                    self.isolate(stage, &item);
                    self.scheduler.queues.delay_until(id, now + ERROR_PAUSE);
                } else {
                    self.retries.delay_damaged((stage, item.shard, item.entity), now);
                }
            }
            return;
        };
        let is_made = |end: &&Result<End>| matches!(end, Ok(End::Saved { .. } | End::Failed { .. }));
        let visits = visited.ends.iter().filter(is_made).count();
        self.reporter.metrics.note_time(stage, started.elapsed(), visits);
        for (name, liveness) in visited.liveness {
            // A stage that answers questions may still be down for visits.
            let counts = stage != 0 || liveness != Liveness::Answered;
            if let (true, Ok(stage)) = (counts, self.names.binary_search(&name)) {
                self.record_liveness(stage, &liveness, &items);
            }
        }
        let ends = visited.ends.into_iter().chain(iter::repeat_with(|| Ok(End::Again)));
        for (item, end) in items.into_iter().zip(ends) {
            let id = QueueId { shard: item.shard, stage, line };
            self.finish_one(id, item, end, several);
        }
        self.reporter.note_change();
    }

    fn isolate(&mut self, stage: usize, item: &Item) {
        if self.calls.isolated.len() < ISOLATED_MAX {
            self.calls.isolated.insert((stage, item.shard, Arc::clone(&item.entity)));
        }
    }

    fn finish_one(&mut self, id: QueueId, item: Item, end: Result<End>, several: bool) {
        let QueueId { shard, stage, .. } = id;
        let visiting = self.calls.busy_mut(stage).remove(&(shard, Arc::clone(&item.entity)));
        let target = (stage, shard, Arc::clone(&item.entity));
        self.reporter.metrics.note(stage, &end);
        if !matches!(end, Ok(End::Again)) {
            self.retries.end_conflicts(&target);
        }
        self.calls.isolated.remove(&target);
        let (name, entity, now) = (&self.names[stage], &*item.entity, self.watcher.now());
        match end {
            Ok(End::Saved { fight: Some(fight), .. }) => {
                tracing::warn!(kind = E::KIND, entity, %fight, "stages fight over an entity, they are slowed down");
                self.watcher.status().record_fight(now, entity, fight);
            }
            Ok(End::Saved { .. } | End::Gone) => {}
            Ok(End::Failed { error, parked }) => {
                tracing::warn!(stage = name, entity, %error, parked, "a visit failed");
                let failed =
                    FailedVisit { at: now, entity: entity.to_owned(), error: error.to_string(), parked };
                self.reporter.metrics.note_failure(stage, failed);
            }
            Ok(End::Left) => {
                if several {
                    self.isolate(stage, &item);
                }
                return self.scheduler.queues.put_back(id, item);
            }
            Ok(End::Again) => {
                if self.retries.conflict(target, now) {
                    self.rescan(shard, stage);
                }
                return;
            }
            Ok(End::Doubtful) => {
                self.shards.suspect(shard);
                self.rescan(shard, stage);
            }
            Err(error @ Error::Damaged { .. }) => {
                tracing::error!(stage = name, entity, %error, "a visit cannot be made, will try again in a minute");
                self.retries.delay_damaged(target, now);
            }
            Err(error) => {
                tracing::warn!(stage = name, entity, %error, "a visit could not be made, will try again");
                self.scheduler.queues.delay_until(id, now + ERROR_PAUSE);
            }
        }
        if visiting.is_some_and(|visiting| visiting.rewritten) {
            self.rescan(shard, stage);
        }
    }

    fn record_liveness(&mut self, stage: usize, liveness: &Liveness, items: &[Item]) {
        let now = self.watcher.now();
        let was_down = self.scheduler.stages[stage].health.down().is_some();
        match liveness {
            Liveness::NotCalled => return,
            Liveness::Answered => self.scheduler.answered(stage, now),
            Liveness::Silent(error) => {
                let entities = items.iter().map(|item| &item.entity);
                self.scheduler.stages[stage].health.silent(entities, error, now);
            }
        }
        let is_down = self.scheduler.stages[stage].health.down().is_some();
        if was_down == is_down {
            return;
        }
        let stage = &self.names[stage];
        if is_down {
            tracing::error!(
                kind = E::KIND,
                stage,
                ?liveness,
                "a stage does not answer, it is only probed from now on"
            );
        } else {
            tracing::info!(kind = E::KIND, stage, "a stage answers again");
        }
        self.reporter.publish_at = Some(Instant::now());
        self.publish();
    }
}
