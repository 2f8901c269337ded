//! The system stage: asks the stages that must be asked whether they want to visit an entity that has changed.
//!
//! A stage that is about to visit the entity anyway is not asked. One that cannot say is taken to want it.

use std::collections::BTreeMap;

use store::{Batch, Read};

use crate::Result;
use crate::call::caught_within;
use crate::change::{SYSTEM, Versioned, Which, changed_since, next_version};
use crate::entity::Entity;
use crate::queue::{Lane, Wanted, leave, offer, queued_by, waiting};
use crate::rows::{Entry, Head, Why, encode};
use crate::stage::{Subject, Wish};
use crate::tables::STATES;
use crate::visit::{Due, End, id_of};
use crate::watcher::{Found, Watcher, found, versioned};

/// What the system stage starts from.
struct Asked<'a, E> {
    found: Found<E>,
    head: Versioned<Head>,
    /// The stages that may have to be asked, and where the entity stands with them.
    entries: BTreeMap<&'a str, Versioned<Entry>>,
}

impl<E: Entity> Watcher<E> {
    /// Asks all stages that must be asked about one entity.
    pub(crate) async fn ask_stages(&self, due: &Due) -> Result<End> {
        let which = due.which(E::KIND);
        let Some(asked) = self.asked(which).await? else { return self.forget(due).await };
        let now = self.now();
        let head_entry = asked.head.content.entry.as_option().cloned().unwrap_or_default();
        if waiting(&head_entry).is_none_or(|waits| waits.visit > now) {
            return Ok(End::Gone);
        }
        let mut batch = Batch::new();
        due.fence.guard(&mut batch);
        batch.check(E::key(due.shard, &asked.found.entity.id()), asked.found.version);
        let mut wanted = Vec::new();
        for (stage, entry) in asked.entries {
            if waiting(&entry.content).is_some_and(|waits| waits.visit <= now) {
                continue;
            }
            let wish = self.ask(stage, which, &asked.found).await?;
            wanted.extend(wish.map(|wish| (stage, entry, wish)));
        }
        let several = wanted.len() > 1;
        for (stage, Versioned { version, content: mut entry }, mut wish) in wanted {
            if several && wish.lane == Lane::Fresh {
                wish.visit = wish.visit + self.random_part(self.spread());
            }
            entry.attempts = 0;
            offer(&mut batch, &which.in_stage(stage), &mut entry, wish, now);
            let key = which.entry_key(stage);
            let next = next_version(version, &asked.head.content);
            batch.check(key.clone(), version).put(key, next, encode(&entry));
        }
        let Versioned { version, content: mut head } = asked.head;
        let mut entry = head_entry;
        leave(&mut batch, &which.in_stage(SYSTEM), &mut entry);
        head.entry = Some(entry).into();
        (head.changed, head.changed_more) = (Vec::new(), false);
        batch.check(which.head_key(), version).put(which.head_key(), version + 1, encode(&head));
        let queued = queued_by(&batch)?;
        let applied = self.store().commit(batch).await?.is_applied();
        Ok(if applied { End::Saved(queued) } else { End::Again })
    }

    async fn asked<'a>(&'a self, which: Which<'_>) -> Result<Option<Asked<'a, E>>> {
        let id = id_of::<E>(which.entity)?;
        let keys = [E::key(which.shard, &id), which.head_key()];
        let [entity, head] = <[_; 2]>::try_from(self.store().get(&keys).await?).unwrap_or_default();
        let Some(entity) = entity else { return Ok(None) };
        let head: Versioned<Head> = versioned(head)?;
        let stages = self.rules().to_ask(&changed_since(&head.content));
        let keys: Vec<_> = stages.iter().map(|stage| which.entry_key(stage)).collect();
        let mut entries = BTreeMap::new();
        for (stage, row) in stages.into_iter().zip(self.store().get(&keys).await?) {
            entries.insert(stage, versioned(row)?);
        }
        Ok(Some(Asked { found: found(&entity)?, head, entries }))
    }

    /// The visit that a stage wants.
    async fn ask(&self, stage: &str, which: Which<'_>, found: &Found<E>) -> Result<Option<Wanted>> {
        let Some(stage) = self.stage(stage) else { return Ok(None) };
        let state_key = STATES.key((which.shard, which.kind, which.entity, stage.id()));
        let state = self.store().get_one(&state_key).await?.map(|row| row.value).unwrap_or_default();
        let now = self.now();
        let subject = Subject { entity: found.entity.clone(), version: found.version, state, now };
        let wanted = |visit, lane, why| Some(Wanted { visit, lane, why });
        let answer = caught_within(self.limits().timeout, stage.should_process(&subject)).await;
        Ok(match answer.flatten() {
            Ok(Wish::No) => None,
            Ok(Wish::At(time)) if time > now => wanted(time, Lane::Timer, Why::WHY_TIMER),
            Ok(Wish::Now | Wish::At(_)) => wanted(now, Lane::Fresh, Why::WHY_CHANGE),
            Err(error) => {
                tracing::warn!(stage = stage.id(), entity = which.entity, %error, "a stage cannot say whether it wants an entity");
                wanted(now, Lane::Fresh, Why::WHY_UNSURE)
            }
        })
    }
}
