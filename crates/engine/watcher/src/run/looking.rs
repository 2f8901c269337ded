//! What the loop knows of the queues: when it looks into them, and what it hears without looking.

use std::sync::Arc;

use futures::future::join_all;
use store::{Hint, Key};
use tokio::task::JoinError;

use super::{Runner, SWEEPS};
use crate::entity::Entity;
use crate::limits::{PEEKS_IN_A_ROUND_MAX, SURVEYS_IN_A_ROUND_MAX};
use crate::peek::Window;
use crate::queue::{Lane, PARKED};
use crate::schedule::{Line, Peeked, QueueId};
use crate::tables::{CONTROLS, QUEUES};
use crate::time::Time;
use crate::{Error, Result};

/// When the first row of each queue is due, if it has any.
pub(super) type Firsts = Vec<(QueueId, Option<Time>)>;

impl<E: Entity> Runner<E> {
    /// Looks into the queues that may have something; says whether some could not be looked into.
    pub(super) async fn look(&mut self) -> bool {
        let mut failed = false;
        let shards = self.schedule.agenda.next_surveys(SURVEYS_IN_A_ROUND_MAX);
        let surveys = join_all(shards.iter().map(|shard| self.survey(*shard))).await;
        for (shard, survey) in shards.into_iter().zip(surveys) {
            match survey {
                Ok(firsts) => {
                    let now = self.watcher.now();
                    for (id, first) in firsts {
                        self.schedule.agenda.surveyed(id, first, now);
                    }
                }
                Err(error) => {
                    cannot_look(shard, &error);
                    failed = true;
                }
            }
        }
        let ids = self.schedule.agenda.next_peeks(self.watcher.now(), PEEKS_IN_A_ROUND_MAX);
        let peeks = join_all(ids.iter().map(|id| self.peek(*id))).await;
        for (id, peeked) in ids.into_iter().zip(peeks) {
            match peeked {
                Ok(peeked) => self.schedule.agenda.peeked(id, peeked),
                Err(error) => {
                    cannot_look(id.shard, &error);
                    failed = true;
                }
            }
        }
        failed
    }

    async fn peek(&self, id: QueueId) -> Result<Peeked> {
        let QueueId { shard, stage, line } = id;
        let agenda = &self.schedule.agenda;
        let under_way = self.under_way_in(stage);
        let in_shard = under_way.range((shard, Arc::from(""))..).take_while(|((busy, _), _)| *busy == shard);
        let window = Window {
            shard,
            stage: &self.names[stage],
            line,
            low: agenda.low(id),
            late_before: agenda.late_before(stage, shard),
            known: in_shard.filter(|(_, visiting)| visiting.stage == stage).count() + self.resting.len(),
        };
        let is_known = |visit, entity: &Arc<str>| {
            let visiting = under_way.get(&(shard, Arc::clone(entity)));
            visiting.is_some_and(|visiting| visiting.stage == stage && visiting.visit == visit)
                || self.resting.contains_key(&(stage, shard, Arc::clone(entity)))
        };
        self.watcher.peek(window, is_known).await
    }

    /// When the first row is due of each queue of a shard of which nothing is known.
    fn survey(&self, shard: u32) -> impl Future<Output = Result<Firsts>> + use<E> {
        self.firsts(shard, self.schedule.agenda.unknown_in(shard))
    }

    /// When the first row of each of these queues is due, found out all at once.
    fn firsts(&self, shard: u32, ids: Vec<QueueId>) -> impl Future<Output = Result<Firsts>> + use<E> {
        let with_late = |id: QueueId| (id, self.schedule.agenda.late_before(id.stage, shard));
        let ids: Vec<(QueueId, Time)> = ids.into_iter().map(with_late).collect();
        let (watcher, names) = (self.watcher.clone(), Arc::clone(&self.names));
        async move {
            let through = ids.iter().map(|(id, _)| id.line.lane()).max().unwrap_or(Lane::Fresh);
            let all = watcher.survey(shard, through).await?;
            let mut firsts = Firsts::with_capacity(ids.len());
            for (id, late_before) in ids {
                let stage = &names[id.stage];
                let first = all.get(&(id.line.lane(), stage.clone())).copied();
                let first = match (id.line, first) {
                    (Line::Timer, Some(first)) if first < late_before => {
                        watcher.first_timer(shard, stage, late_before).await?
                    }
                    (Line::Late, first) => first.filter(|first| *first < late_before),
                    (_, first) => first,
                };
                firsts.push((id, first));
            }
            Ok(firsts)
        }
    }

    pub(super) fn look_again(&mut self, shard: u32, stage: usize) {
        for line in Line::ALL {
            self.schedule.agenda.look_again(QueueId { shard, stage, line });
        }
    }

    pub(super) fn hear(&mut self, hint: Option<Hint>) {
        match hint {
            Some(Hint::Put(key)) if std::ptr::eq(key.table(), QUEUES.def()) => self.note_row(&key),
            Some(Hint::Changed { table, shard }) if table == QUEUES.def().name => self.look_for_others(shard),
            Some(Hint::Changed { table, .. }) if table == CONTROLS.def().name => self.controls_changed = true,
            Some(Hint::Put(_) | Hint::Changed { .. }) => {}
            Some(Hint::Anything) => self.look_everywhere(),
            // Every call will say so, at the usual pace.
            None => self.closed = true,
        }
    }

    /// A row was written to a queue by this process.
    fn note_row(&mut self, key: &Key) {
        let Ok((shard, kind, lane, stage, visit, entity)) = QUEUES.parts(key) else { return };
        let Ok(stage) = self.names.binary_search(&stage) else { return };
        if kind != E::KIND || lane == PARKED {
            return;
        }
        let (visit, entity) = (Time::from_ms(visit), Arc::from(entity));
        let whose = (stage, shard, Arc::clone(&entity));
        if self.resting.get(&whose).is_some_and(|rest| rest.until_changed) {
            self.resting.remove(&whose);
        } else if self.resting.contains_key(&whose) {
            return;
        }
        if let Some(visiting) = self.under_way_of(stage).get_mut(&(shard, Arc::clone(&entity)))
            && (visiting.stage, visiting.visit) == (stage, visit)
        {
            visiting.rewritten = true;
            return;
        }
        let agenda = &mut self.schedule.agenda;
        let line = match Lane::from_number(lane) {
            Lane::Fresh => Line::Fresh,
            Lane::Timer if visit < agenda.late_before(stage, shard) => Line::Late,
            Lane::Timer => Line::Timer,
            Lane::Background => Line::Background,
        };
        agenda.added(QueueId { shard, stage, line }, visit, &entity, self.watcher.now());
    }

    /// Looks for what others may have written to a shard: fresh work.
    fn look_for_others(&mut self, shard: u32) {
        for stage in 0..self.names.len() {
            self.schedule.agenda.look_again(QueueId { shard, stage, line: Line::Fresh });
        }
    }

    /// Has a part of the shards looked at beside the loop, as if nothing were known of them: that may take long, for it walks over the remains of all rows
    /// that were deleted of late.
    pub(super) fn sweep(&mut self) {
        if !self.sweeps.is_empty() || planted!(NoLook) {
            return;
        }
        let shards: Vec<u32> = {
            let serving = self.serving.borrow();
            let next = serving.range(self.next_swept..).chain(serving.range(..self.next_swept));
            next.map(|(shard, _)| *shard)
                .take(serving.len().div_ceil(SWEEPS).min(SURVEYS_IN_A_ROUND_MAX))
                .collect()
        };
        self.next_swept = shards.last().map_or(0, |last| last.saturating_add(1));
        for shard in shards {
            self.sweeps.spawn(self.firsts(shard, self.schedule.agenda.queues_of(shard)));
        }
    }

    /// A shard was looked at.
    pub(super) fn heed_sweep(&mut self, swept: Result<Result<Firsts>, JoinError>) {
        let firsts = match swept {
            Ok(Ok(firsts)) => firsts,
            Ok(Err(error)) => return tracing::warn!(%error, "cannot look into the queues of a shard"),
            Err(error) => return tracing::error!(%error, "a look into the queues of a shard came to nothing"),
        };
        for (id, first) in firsts {
            self.schedule.agenda.swept(id, first);
        }
    }

    /// Nothing that is known of any queue counts any more.
    fn look_everywhere(&mut self) {
        let shards: Vec<u32> = self.serving.borrow().keys().copied().collect();
        for shard in shards.into_iter().filter(|_| !planted!(NoLook)) {
            for (stage, line) in (0..self.names.len()).flat_map(|stage| Line::ALL.map(|line| (stage, line))) {
                self.schedule.agenda.sweep(QueueId { shard, stage, line });
            }
        }
    }
}

fn cannot_look(shard: u32, error: &Error) {
    tracing::warn!(shard, %error, "cannot look into the queues of a shard");
}
