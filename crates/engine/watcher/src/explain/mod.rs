//! Why something waits: for one entity, its state in every queue; for one stage, what waits for it.
//!
//! `entity.rs` has the explanation of an entity, `text.rs` its text, `report.rs` the report on a
//! stage, `cluster.rs` the processes.

mod cluster;
mod entity;
mod report;
mod text;

use std::collections::BTreeMap;

use store::Read;

pub use cluster::{Cluster, Holder, ProcessSeen};
pub use entity::{Asking, Explanation, Failed, LastVisit, VisitReason, VisitStatus, Waits};
pub use report::{Depth, QueueCounts, StageReport, StagesSnapshot};

use crate::Result;
use crate::budget::slowed;
use crate::change::{EntityRef, SYSTEM, Stored};
use crate::entity::Entity;
use crate::queue::{Lane, VisitRequest, queued_visit};
use crate::rows::{Entry, Head, Instance, Lease, decode};
use crate::schedule::{Blocked, Line};
use crate::status::{SeenFight, StageStatus, from_row};
use crate::tables::{INSTANCES, LEASES};
use crate::watcher::Watcher;

/// The process that serves a shard, and the status of its stages.
struct Owner {
    name: String,
    said: BTreeMap<String, StageStatus>,
    is_here: bool,
    /// The stage that is visiting the entity; known of this process only.
    visitor: Option<String>,
}

impl<E: Entity> Watcher<E> {
    /// The state of an entity in every queue, and what blocks it. The version of an entity that
    /// does not exist is zero.
    pub async fn explain(&self, id: &E::Id) -> Result<Explanation> {
        let text = id.to_string();
        let which = self.entity_ref(&text);
        let rules = self.rules();
        let names: Vec<&String> = rules.stages.keys().collect();
        let mut keys = vec![E::key(which.shard, id), which.head_key(), LEASES.key((which.shard, E::KIND))];
        keys.extend(names.iter().map(|stage| which.entry_key(stage)));
        let mut rows = self.store().get(&keys).await?.into_iter();
        let version = rows.next().flatten().map_or(0, |row| row.version);
        if planted!(Unexplained) && version == 0 {
            return Err(crate::Error::NotFound { what: "there is no such entity".to_owned() });
        }
        let head = Stored::<Head>::read(rows.next().flatten())?.content;
        let lease = Stored::<Lease>::read(rows.next().flatten())?.content;
        let owner = self.owner(lease.owner, which).await?;
        let mut stages = BTreeMap::new();
        for name in names {
            let entry = Stored::<Entry>::read(rows.next().flatten())?.content;
            stages.insert(name.clone(), entity::of(self.waits(name, &entry, owner.as_ref()), &entry));
        }
        let queued = head.entry.as_option().filter(|entry| entry.queued || entry.parked);
        let asking =
            queued.map(|entry| entity::asking(self.waits(SYSTEM, entry, owner.as_ref()), entry, &head));
        let slowed = slowed(&head, &self.config().budget, self.now());
        let owner = owner.map(|owner| owner.name);
        Ok(Explanation { version, shard: which.shard, owner, asking, slowed, stages })
    }

    /// The status of the stages in this process; the system stage has the empty name.
    #[must_use]
    pub fn statuses(&self) -> BTreeMap<String, StageStatus> {
        self.status().stages()
    }

    /// The last fights that this process saw, at most
    /// [`FIGHTS_KEPT_MAX`](crate::limits::FIGHTS_KEPT_MAX), the oldest first.
    #[must_use]
    pub fn fights(&self) -> Vec<SeenFight> {
        self.status().fights()
    }

    /// `None` if there is no process of this name.
    async fn owner(&self, name: String, which: EntityRef<'_>) -> Result<Option<Owner>> {
        if name.is_empty() {
            return Ok(None);
        }
        if let Some(said) = self.status().of_instance(&name) {
            let visitor = self.status().visitor(which.shard, which.entity).await;
            return Ok(Some(Owner { name, said, is_here: true, visitor }));
        }
        let row = self.store().get_one(&INSTANCES.key((0, E::KIND, &*name))).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Owner { name, said: statuses_in(&decode(&row)?), is_here: false, visitor: None }))
    }

    fn waits(&self, stage: &str, entry: &Entry, owner: Option<&Owner>) -> Waits {
        if entry.parked {
            return Waits::Parked;
        }
        let Some(wanted) = queued_visit(entry) else { return Waits::NotInterested };
        match owner {
            _ if wanted.visit > self.now() => Waits::Until(wanted.visit, wanted.lane),
            None => Waits::NoOwner(wanted.lane),
            Some(owner) => owner.waits_when_due(stage, &wanted),
        }
    }
}

impl Owner {
    fn waits_when_due(&self, stage: &str, wanted: &VisitRequest) -> Waits {
        if self.visitor.as_deref() == Some(stage) {
            return Waits::Visiting(wanted.lane);
        }
        let blocked = self.said.get(stage).and_then(|said| said.lines.get(&line_of(wanted, said)));
        match (blocked, &self.visitor) {
            (Some(blocked), _) if *blocked != Blocked::Busy => Waits::Blocked(wanted.lane, blocked.clone()),
            (_, Some(visitor)) => Waits::Busy(wanted.lane, visitor.clone()),
            // Others of its line are being visited; whether this one is, only the owner knows.
            (Some(blocked), None) if !self.is_here => Waits::Blocked(wanted.lane, blocked.clone()),
            // The owner has not noticed it yet, or is about to visit it.
            _ => Waits::Due(wanted.lane),
        }
    }
}

fn line_of(wanted: &VisitRequest, said: &StageStatus) -> Line {
    match wanted.lane {
        Lane::Fresh => Line::Fresh,
        Lane::Timer if wanted.visit < said.late_before => Line::Late,
        Lane::Timer => Line::Timer,
        Lane::Background => Line::Background,
    }
}

fn statuses_in(instance: &Instance) -> BTreeMap<String, StageStatus> {
    instance.stages.iter().map(|status| (status.stage.clone(), from_row(status))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Why as WhyRow;
    use clock::Time;

    fn waits(owner: &Owner, lane: Lane, ms: i64) -> Waits {
        let wanted = VisitRequest { visit: Time::from_ms(ms), lane, why: WhyRow::WHY_CHANGE };
        owner.waits_when_due("price", &wanted)
    }

    fn owner(lines: &[(Line, Blocked)]) -> Owner {
        let lines = lines.iter().cloned().collect();
        let status = StageStatus { lines, late_before: Time::from_ms(100), ..StageStatus::default() };
        let said = BTreeMap::from([("price".to_owned(), status)]);
        Owner { name: "one".to_owned(), said, is_here: true, visitor: None }
    }

    #[test]
    fn an_entry_is_held_up_by_what_holds_up_its_own_line() {
        let rate = Blocked::Rate(Time::from_ms(900));
        let one = owner(&[(Line::Late, rate.clone()), (Line::Background, Blocked::Calls)]);
        assert_eq!(waits(&one, Lane::Fresh, 50), Waits::Due(Lane::Fresh));
        assert_eq!(waits(&one, Lane::Timer, 99), Waits::Blocked(Lane::Timer, rate));
        assert_eq!(waits(&one, Lane::Timer, 100), Waits::Due(Lane::Timer), "it is not late");
        assert_eq!(waits(&one, Lane::Background, 50), Waits::Blocked(Lane::Background, Blocked::Calls));
        let one = owner(&[(Line::Fresh, Blocked::Paused)]);
        assert_eq!(waits(&one, Lane::Fresh, 50), Waits::Blocked(Lane::Fresh, Blocked::Paused));
        assert_eq!(waits(&one, Lane::Background, 50), Waits::Due(Lane::Background));
    }

    #[test]
    fn who_visits_an_entity_is_named_unless_something_that_lasts_stands_in_the_way() {
        let visited = |by: &str, lines: &[(Line, Blocked)]| {
            let one = Owner { visitor: Some(by.to_owned()), ..owner(lines) };
            waits(&one, Lane::Fresh, 50)
        };
        assert_eq!(visited("price", &[(Line::Fresh, Blocked::Calls)]), Waits::Visiting(Lane::Fresh));
        assert_eq!(visited("title", &[]), Waits::Busy(Lane::Fresh, "title".to_owned()));
        let busy = [(Line::Fresh, Blocked::Busy)];
        assert_eq!(visited("title", &busy), Waits::Busy(Lane::Fresh, "title".to_owned()));
        let paused = [(Line::Fresh, Blocked::Paused)];
        assert_eq!(visited("title", &paused), Waits::Blocked(Lane::Fresh, Blocked::Paused));
        assert_eq!(waits(&owner(&busy), Lane::Fresh, 50), Waits::Due(Lane::Fresh), "others are visited");
        let elsewhere = Owner { is_here: false, ..owner(&busy) };
        assert_eq!(waits(&elsewhere, Lane::Fresh, 50), Waits::Blocked(Lane::Fresh, Blocked::Busy));
    }
}
