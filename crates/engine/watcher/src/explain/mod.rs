//! Why something waits: for one entity, where it stands with every stage; for one stage, what waits for it and how it fares.
//!
//! `standing.rs` has what is said of an entity, `text.rs` says it in words, `report.rs` counts what waits for a stage, `cluster.rs` says who serves what.

mod cluster;
mod report;
mod standing;
mod text;

use std::collections::BTreeMap;

use store::{Key, Read};

pub use cluster::{Cluster, Holder, ProcessSeen};
pub use report::{Counted, Depth, Faring, StageReport};
pub use standing::{Asking, Explanation, Failed, LastVisit, Standing, Waits, Why};

use crate::Result;
use crate::board::{SeenFight, StageStatus, from_row};
use crate::budget::slowed;
use crate::change::{SYSTEM, Which};
use crate::entity::Entity;
use crate::limits::LEASES_IN_A_READ_MAX;
use crate::queue::{Lane, Wanted, waiting};
use crate::rows::{Entry, Head, Instance, Lease, decode};
use crate::schedule::{Blocked, Line};
use crate::tables::{INSTANCES, LEASES};
use crate::watcher::{Watcher, versioned};

/// What the process says that serves a shard.
struct Owner {
    name: String,
    said: BTreeMap<String, StageStatus>,
    /// Whether it is this very process.
    is_here: bool,
    /// The stage that is visiting the entity; known of this process only.
    visitor: Option<String>,
}

impl<E: Entity> Watcher<E> {
    /// Where an entity stands with every stage, and what stands in its way. Of an entity that does not exist the version is zero.
    pub async fn explain(&self, id: &E::Id) -> Result<Explanation> {
        let text = id.to_string();
        let which = Which { shard: self.shard(&text), kind: E::KIND, entity: &text };
        let names: Vec<&String> = self.stages().keys().collect();
        let mut keys = vec![E::key(which.shard, id), which.head_key(), LEASES.key((which.shard, E::KIND))];
        keys.extend(names.iter().map(|stage| which.entry_key(stage)));
        let mut rows = self.store().get(&keys).await?.into_iter();
        let version = rows.next().flatten().map_or(0, |row| row.version);
        if planted!(Unexplained) && version == 0 {
            return Err(crate::Error::NotFound { what: "there is no such entity".to_owned() });
        }
        let head = versioned::<Head>(rows.next().flatten())?.content;
        let lease = versioned::<Lease>(rows.next().flatten())?.content;
        let owner = self.owner(lease.owner, which).await?;
        let mut stages = BTreeMap::new();
        for name in names {
            let entry = versioned::<Entry>(rows.next().flatten())?.content;
            stages.insert(name.clone(), standing::of(self.waits(name, &entry, owner.as_ref()), &entry));
        }
        let queued = head.entry.as_option().filter(|entry| entry.queued || entry.parked);
        let asking =
            queued.map(|entry| standing::asking(self.waits(SYSTEM, entry, owner.as_ref()), entry, &head));
        let slowed = slowed(&head, &self.rules().config.budget, self.now());
        let owner = owner.map(|owner| owner.name);
        Ok(Explanation { version, shard: which.shard, owner, asking, slowed, stages })
    }

    /// What every live process says of its stages.
    pub async fn processes(&self) -> Result<BTreeMap<String, BTreeMap<String, StageStatus>>> {
        let mut processes = BTreeMap::new();
        for row in self.rows(&INSTANCES.prefix((0, E::KIND))).await? {
            let (_, _, name) = INSTANCES.parts(&row.key)?;
            let said = match self.board().said_by(&name) {
                Some(said) => said,
                None => said_in(&decode(&row)?),
            };
            processes.insert(name, said);
        }
        Ok(processes)
    }

    /// The owner of every shard that has one.
    pub async fn owners(&self) -> Result<BTreeMap<u32, String>> {
        let shards: Vec<u32> = (0..self.rules().config.shards).collect();
        let mut owners = BTreeMap::new();
        for shards in shards.chunks(LEASES_IN_A_READ_MAX) {
            let keys: Vec<Key> = shards.iter().map(|shard| LEASES.key((*shard, E::KIND))).collect();
            for (shard, row) in shards.iter().zip(self.store().get(&keys).await?) {
                let owner = versioned::<Lease>(row)?.content.owner;
                if !owner.is_empty() {
                    owners.insert(*shard, owner);
                }
            }
        }
        Ok(owners)
    }

    /// How the stages fare in this process; the system stage has the empty name.
    #[must_use]
    pub fn statuses(&self) -> BTreeMap<String, StageStatus> {
        self.board().stages()
    }

    /// The last fights that this process has seen, at most [`FIGHTS_KEPT_MAX`](crate::limits::FIGHTS_KEPT_MAX), the oldest first.
    #[must_use]
    pub fn fights(&self) -> Vec<SeenFight> {
        self.board().fights()
    }

    /// What the process of this name says, and what it is doing with an entity; `None` if there is no such process.
    async fn owner(&self, name: String, which: Which<'_>) -> Result<Option<Owner>> {
        if name.is_empty() {
            return Ok(None);
        }
        if let Some(said) = self.board().said_by(&name) {
            let visitor = self.board().visitor(which.shard, which.entity).await;
            return Ok(Some(Owner { name, said, is_here: true, visitor }));
        }
        let row = self.store().get_one(&INSTANCES.key((0, E::KIND, &*name))).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Owner { name, said: said_in(&decode(&row)?), is_here: false, visitor: None }))
    }

    fn waits(&self, stage: &str, entry: &Entry, owner: Option<&Owner>) -> Waits {
        if entry.parked {
            return Waits::Parked;
        }
        let Some(wanted) = waiting(entry) else { return Waits::NotInterested };
        match owner {
            _ if wanted.visit > self.now() => Waits::Until(wanted.visit, wanted.lane),
            None => Waits::NoOwner(wanted.lane),
            Some(owner) => owner.waits_when_due(stage, &wanted),
        }
    }
}

impl Owner {
    fn waits_when_due(&self, stage: &str, wanted: &Wanted) -> Waits {
        if self.visitor.as_deref() == Some(stage) {
            return Waits::Visiting(wanted.lane);
        }
        let blocked = self.said.get(stage).and_then(|said| said.lines.get(&line_of(wanted, said)));
        match (blocked, &self.visitor) {
            (Some(blocked), _) if *blocked != Blocked::Busy => Waits::Blocked(wanted.lane, blocked.clone()),
            (_, Some(visitor)) => Waits::Busy(wanted.lane, visitor.clone()),
            // Others of its line are being visited by other stages; whether it is, only the owner knows.
            (Some(blocked), None) if !self.is_here => Waits::Blocked(wanted.lane, blocked.clone()),
            // The owner has not yet noticed it, or is about to visit it.
            _ => Waits::Due(wanted.lane),
        }
    }
}

/// The line in which an entry stands.
fn line_of(wanted: &Wanted, said: &StageStatus) -> Line {
    match wanted.lane {
        Lane::Fresh => Line::Fresh,
        Lane::Timer if wanted.visit < said.late_before => Line::Late,
        Lane::Timer => Line::Timer,
        Lane::Background => Line::Background,
    }
}

fn said_in(instance: &Instance) -> BTreeMap<String, StageStatus> {
    instance.stages.iter().map(|status| (status.stage.clone(), from_row(status))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Why as WhyRow;
    use crate::time::Time;

    fn waits(owner: &Owner, lane: Lane, ms: i64) -> Waits {
        let wanted = Wanted { visit: Time::from_ms(ms), lane, why: WhyRow::WHY_CHANGE };
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
