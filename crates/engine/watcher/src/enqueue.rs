//! Enqueuing the visits that stages asked for when they were questioned.

use std::collections::BTreeMap;

use store::{Batch, Key, Row};

use crate::Result;
use crate::change::{EntityRef, Stored, next_version};
use crate::entity::Entity;
use crate::queue::{Lane, VisitRequest, dequeue, enqueue, queued_visit};
use crate::rows::{Entry, Head, encode};
use crate::watcher::Watcher;

/// The visits that stages want of one entity.
pub(crate) struct EnqueueRequest<'a> {
    pub(crate) entity: EntityRef<'a>,
    /// The entity's own row.
    pub(crate) row: Key,
    /// The version about which the stages were asked.
    pub(crate) version: u64,
    pub(crate) visits: &'a BTreeMap<String, VisitRequest>,
}

impl<E: Entity> Watcher<E> {
    /// Adds to a batch the visits that stages want, whatever version the entities have now; returns
    /// their number. Entities that are gone and visits behind an earlier one are left out. If
    /// stages were asked because of a change (`is_change`), earlier failures are forgotten.
    pub(crate) async fn enqueue_all(
        &self,
        batch: &mut Batch,
        requests: &[EnqueueRequest<'_>],
        is_change: bool,
    ) -> Result<u64> {
        let mut keys = Vec::new();
        for EnqueueRequest { entity, row, visits, .. } in requests {
            keys.extend([row.clone(), entity.head_key()]);
            keys.extend(visits.keys().map(|stage| entity.entry_key(stage)));
        }
        let mut rows = self.get_all(&keys).await?.into_iter();
        let mut queued = 0;
        for request in requests {
            let (row, head) = (rows.next().flatten(), Stored::<Head>::read(rows.next().flatten()));
            let entries: Vec<Option<Row>> = rows.by_ref().take(request.visits.len()).collect();
            // Nothing can be saved for an entity whose head cannot be read.
            let (Some(row), Ok(head)) = (row, head) else { continue };
            if planted!(CrawlLoses) && !is_change && row.version != request.version {
                continue;
            }
            // Stages that fight over the entity are delayed: they are asked again after the delay.
            let question = head.content.entry.as_option().and_then(queued_visit);
            if is_change && question.is_some_and(|question| question.visit > self.now()) {
                continue;
            }
            // An entity that is being removed must not be queued.
            batch.check(row.key, row.version);
            queued += self.enqueue_one(batch, request, &head, entries, is_change)?;
        }
        Ok(queued)
    }

    fn enqueue_one(
        &self,
        batch: &mut Batch,
        EnqueueRequest { entity, visits, .. }: &EnqueueRequest<'_>,
        head: &Stored<Head>,
        entries: Vec<Option<Row>>,
        is_change: bool,
    ) -> Result<u64> {
        let (now, mut queued, mut is_new) = (self.now(), 0, false);
        for ((stage, visit), row) in visits.iter().zip(entries) {
            let Stored { version, content: mut entry } = Stored::<Entry>::read(row)?;
            if planted!(BackgroundFirst) && visit.lane == Lane::Background {
                dequeue(batch, &entity.in_stage(stage), &mut entry);
            }
            if is_change {
                entry.attempts = 0;
            }
            if enqueue(batch, &entity.in_stage(stage), &mut entry, *visit, now) {
                queued += 1;
            } else if !is_change {
                continue;
            }
            let key = entity.entry_key(stage);
            batch.check(key.clone(), version).put(key, next_version(version, &head.content), encode(&entry));
            is_new |= version == 0;
        }
        if is_new {
            // A removal under way must notice that there is one more entry.
            head.put(batch, *entity);
        }
        Ok(queued)
    }
}
