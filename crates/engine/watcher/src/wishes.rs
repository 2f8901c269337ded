//! Queueing the visits that stages have asked for when they were asked.

use std::collections::BTreeMap;

use store::{Batch, Key, Row};

use crate::Result;
use crate::change::{Versioned, Which, next_version};
use crate::entity::Entity;
use crate::queue::{Lane, Wanted, leave, offer, waiting};
use crate::rows::{Entry, Head, encode};
use crate::watcher::{Watcher, versioned};

/// What stages want of one entity.
pub(crate) struct Wishes<'a> {
    pub(crate) which: Which<'a>,
    /// The entity's own row.
    pub(crate) entity: Key,
    /// The version about which they were asked.
    pub(crate) asked_about: u64,
    /// By stage.
    pub(crate) wanted: &'a BTreeMap<String, Wanted>,
}

impl<E: Entity> Watcher<E> {
    /// Adds to a batch the visits that stages want of some entities, whatever version these have now; says how many they are. There are none of an
    /// entity that is gone, nor where a sooner one is queued. If stages were asked because of a change (`is_change`), earlier failures are forgotten.
    pub(crate) async fn add_wishes(
        &self,
        batch: &mut Batch,
        all: &[Wishes<'_>],
        is_change: bool,
    ) -> Result<u64> {
        let mut keys = Vec::new();
        for Wishes { which, entity, wanted, .. } in all {
            keys.extend([entity.clone(), which.head_key()]);
            keys.extend(wanted.keys().map(|stage| which.entry_key(stage)));
        }
        let (mut rows, mut queued) = (self.get_all(&keys).await?.into_iter(), 0);
        for wishes in all {
            let (entity, head) = (rows.next().flatten(), versioned::<Head>(rows.next().flatten()));
            let entries: Vec<Option<Row>> = rows.by_ref().take(wishes.wanted.len()).collect();
            // Without a head that can be read nothing can be saved for it either.
            let (Some(entity), Ok(head)) = (entity, head) else { continue };
            if planted!(CrawlLoses) && !is_change && entity.version != wishes.asked_about {
                continue;
            }
            // Stages that fight over it are put off: they will be asked again when their time has come.
            let asks = head.content.entry.as_option().and_then(waiting);
            if is_change && asks.is_some_and(|asks| asks.visit > self.now()) {
                continue;
            }
            // An entity that is being removed must not be queued.
            batch.check(entity.key, entity.version);
            queued += self.add_wishes_of(batch, wishes, &head, entries, is_change)?;
        }
        Ok(queued)
    }

    fn add_wishes_of(
        &self,
        batch: &mut Batch,
        Wishes { which, wanted, .. }: &Wishes<'_>,
        head: &Versioned<Head>,
        entries: Vec<Option<Row>>,
        is_change: bool,
    ) -> Result<u64> {
        let (now, mut queued, mut is_new) = (self.now(), 0, false);
        for ((stage, wish), row) in wanted.iter().zip(entries) {
            let Versioned { version, content: mut entry } = versioned::<Entry>(row)?;
            if planted!(BackgroundFirst) && wish.lane == Lane::Background {
                leave(batch, &which.in_stage(stage), &mut entry);
            }
            if is_change {
                entry.attempts = 0;
            }
            if offer(batch, &which.in_stage(stage), &mut entry, *wish, now) {
                queued += 1;
            } else if !is_change {
                continue;
            }
            let (key, next) = (which.entry_key(stage), next_version(version, &head.content));
            batch.check(key.clone(), version).put(key, next, encode(&entry));
            is_new |= version == 0;
        }
        if is_new {
            // A removal that is under way must notice that there is one more entry.
            let key = which.head_key();
            batch.check(key.clone(), head.version).put(key, head.version + 1, encode(&head.content));
        }
        Ok(queued)
    }
}
