//! What the loop does when a call has ended: nobody stays busy, and what is still to be done is done again when it is right.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::{self, JoinError};
use tokio::time::Instant;

use super::{Call, ERROR_PAUSE, Rest, Runner};
use crate::board::FailedVisit;
use crate::entity::Entity;
use crate::keeping::Order;
use crate::limits::APART_MAX;
use crate::schedule::{Item, Line, QueueId};
use crate::visit::{End, Heard, Visited};
use crate::{Error, Result};

/// The pause before a row that cannot be read is tried again.
const DAMAGE_PAUSE: Duration = Duration::from_secs(60);
/// Visits in a row that are made again at once because others changed the entity meanwhile;
const IN_VAIN_AT_ONCE: u32 = 3;
/// then this pause doubles each time,
const IN_VAIN_PAUSE: Duration = Duration::from_millis(10);
/// up to this one.
const IN_VAIN_PAUSE_MAX: Duration = Duration::from_secs(5);

impl<E: Entity> Runner<E> {
    pub(super) fn finish(&mut self, ended: Result<(task::Id, Visited), JoinError>) {
        let (id, visited) = match ended {
            Ok((id, visited)) => (id, Some(visited)),
            Err(error) => {
                tracing::error!(kind = E::KIND, %error, "a visit was lost by a panic of the entity's code, or of the watcher itself");
                (error.id(), None)
            }
        };
        let Some(Call { stage, line, items, began, started }) = self.under_way.remove(&id) else { return };
        self.schedule.call_ended(stage, line, self.watcher.now().since(began));
        let several = items.len() > 1;
        let Some(visited) = visited else {
            return self.finish_lost(stage, line, items);
        };
        let is_made = |end: &&Result<End>| matches!(end, Ok(End::Saved { .. } | End::Failed { .. }));
        self.speeds.note_time(stage, started.elapsed(), visited.ends.iter().filter(is_made).count());
        for (name, heard) in visited.heard {
            // A stage that answers questions may still be dead for visits.
            let is_alive = stage != 0 || heard != Heard::Answer;
            if let (true, Ok(stage)) = (is_alive, self.names.binary_search(&name)) {
                self.note_heard(stage, &heard, &items);
            }
        }
        // Whatever comes back, nobody stays busy.
        let ends = visited.ends.into_iter().chain(std::iter::repeat_with(|| Ok(End::Again)));
        for (item, end) in items.into_iter().zip(ends) {
            self.finish_one(stage, line, item, end, several);
        }
        self.changed();
    }

    /// Nobody knows what came of a call: its entities are tried again one by one, and the one to blame in peace.
    fn finish_lost(&mut self, stage: usize, line: Line, items: Vec<Item>) {
        let several = items.len() > 1;
        for item in items {
            self.under_way_of(stage).remove(&(item.shard, Arc::clone(&item.entity)));
            if several {
                let id = QueueId { shard: item.shard, stage, line };
                self.keep_apart(stage, &item);
                self.schedule.agenda.rest_until(id, self.watcher.now() + ERROR_PAUSE);
            } else {
                self.let_rest(stage, item);
            }
        }
    }

    /// Leaves one entity alone for a while, and nobody else.
    fn let_rest(&mut self, stage: usize, item: Item) {
        let rest = Rest { until: self.watcher.now() + DAMAGE_PAUSE, until_changed: true };
        self.resting.insert((stage, item.shard, item.entity), rest);
    }

    /// A visit was made in vain: it is made again at once, and later and later if that goes on.
    fn try_again(&mut self, stage: usize, item: Item) {
        let (shard, whose) = (item.shard, (stage, item.shard, item.entity));
        let times = self.in_vain.get(&whose).copied().unwrap_or(0) + 1;
        if times > 1 || self.in_vain.len() < APART_MAX {
            self.in_vain.insert(whose.clone(), times);
        }
        if times > IN_VAIN_AT_ONCE {
            let pause =
                IN_VAIN_PAUSE.saturating_mul(1 << (times - IN_VAIN_AT_ONCE).min(20)).min(IN_VAIN_PAUSE_MAX);
            let rest = Rest { until: self.watcher.now() + pause, until_changed: false };
            self.resting.insert(whose, rest);
        } else {
            self.look_again(shard, stage);
        }
    }

    /// Tries again those that have rested.
    pub(super) fn wake_rested(&mut self) {
        let now = self.watcher.now();
        let rested = self.resting.iter().filter(|(_, rest)| rest.until <= now);
        for (stage, shard, entity) in rested.map(|(whose, _)| whose.clone()).collect::<Vec<_>>() {
            self.resting.remove(&(stage, shard, entity));
            self.look_again(shard, stage);
        }
    }

    fn keep_apart(&mut self, stage: usize, item: &Item) {
        if self.apart.len() < APART_MAX {
            self.apart.insert((stage, item.shard, Arc::clone(&item.entity)));
        }
    }

    fn finish_one(&mut self, stage: usize, line: Line, item: Item, end: Result<End>, several: bool) {
        let place = (item.shard, Arc::clone(&item.entity));
        let rewritten = self.under_way_of(stage).remove(&place).is_some_and(|visiting| visiting.rewritten);
        self.speeds.note(stage, &end);
        if !self.in_vain.is_empty() && !matches!(end, Ok(End::Again)) {
            self.in_vain.remove(&(stage, item.shard, Arc::clone(&item.entity)));
        }
        if !self.apart.is_empty() {
            self.apart.remove(&(stage, item.shard, Arc::clone(&item.entity)));
        }
        let (name, entity, id) =
            (&self.names[stage], &*item.entity, QueueId { shard: item.shard, stage, line });
        match end {
            Ok(End::Saved { fight: Some(fight), .. }) => {
                tracing::warn!(kind = E::KIND, entity, %fight, "stages fight over an entity, they are slowed down");
                self.watcher.board().note_fight(self.watcher.now(), entity, fight);
            }
            Ok(End::Saved { .. } | End::Gone) => {}
            Ok(End::Failed { error, parked }) => {
                tracing::warn!(stage = name, entity, %error, parked, "a visit failed");
                let (at, entity, error) = (self.watcher.now(), entity.to_owned(), error.to_string());
                self.speeds.note_failure(stage, FailedVisit { at, entity, error, parked });
            }
            Ok(End::Left) => {
                if several {
                    self.keep_apart(stage, &item);
                }
                self.schedule.agenda.put_back(id, item);
                return;
            }
            Ok(End::Again) => return self.try_again(stage, item),
            Ok(End::Doubtful) => {
                if self.doubtful.insert(item.shard) {
                    // The keeper is there as long as we are.
                    let _ = self.orders.send(Order::Look);
                }
                self.look_again(item.shard, stage);
            }
            Err(error @ Error::Damaged { .. }) => {
                tracing::error!(stage = name, entity, %error, "a visit cannot be made, will try again in a minute");
                self.let_rest(stage, item);
            }
            Err(error) => {
                tracing::warn!(stage = name, entity, %error, "a visit could not be made, will try again");
                self.schedule.agenda.rest_until(id, self.watcher.now() + ERROR_PAUSE);
            }
        }
        if rewritten {
            self.look_again(place.0, stage);
        }
    }

    /// Takes note of whether a stage is alive.
    fn note_heard(&mut self, stage: usize, heard: &Heard, items: &[Item]) {
        let now = self.watcher.now();
        let was_down = self.schedule.desks[stage].health.down().is_some();
        match heard {
            Heard::Nothing => return,
            Heard::Answer => self.schedule.answered(stage, now),
            Heard::Silence(error) => {
                let entities = items.iter().map(|item| &item.entity);
                self.schedule.desks[stage].health.silent(entities, error, now);
            }
        }
        let is_down = self.schedule.desks[stage].health.down().is_some();
        if was_down != is_down {
            let stage = &self.names[stage];
            if is_down {
                tracing::error!(
                    kind = E::KIND,
                    stage,
                    ?heard,
                    "a stage does not answer: it is only probed from now on"
                );
            } else {
                tracing::info!(kind = E::KIND, stage, "a stage answers again");
            }
            self.say_at = Some(Instant::now());
            self.say();
        }
    }
}
