//! Why something waits: for one entity, where it stands with every stage; for one stage, what waits for it and how it fares.

use std::collections::BTreeMap;
use std::fmt;

use store::{Key, Read};

use crate::Result;
use crate::board::{StageStatus, from_row};
use crate::change::Which;
use crate::controls::Control;
use crate::entity::Entity;
use crate::limits::{DEPTH_COUNTED_MAX, LEASES_IN_A_READ_MAX};
use crate::queue::{Lane, PARKED, waiting};
use crate::rows::{Ended, Entry, Instance, Lease, Why as WhyRow};
use crate::schedule::Blocked;
use crate::tables::{INSTANCES, LEASES, QUEUES};
use crate::time::Time;
use crate::watcher::{Watcher, versioned};

/// Where an entity stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Its version; zero if there is no such entity.
    pub version: u64,
    /// Its shard.
    pub shard: u32,
    /// The process that serves the shard; `None` if nobody does at the moment.
    pub owner: Option<String>,
    /// Whether it waits for stages to be asked about its last changes, and the names of the fields that changed (`*`: all).
    pub asking: Option<(Waits, Vec<String>)>,
    /// Since when its stages are slowed down, and which of them fight over it.
    pub slowed: Option<Vec<(String, u32, Vec<String>)>>,
    /// Every stage, by its name.
    pub stages: BTreeMap<String, Standing>,
}

/// Where an entity stands with a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// What it waits for.
    pub waits: Waits,
    /// Since when; `None` if it does not wait.
    pub since: Option<Time>,
    /// Why it waits.
    pub why: Option<Why>,
    /// Failed attempts since the last success, and what the last one said.
    pub failed: Option<(u32, String)>,
    /// The last visit; `None` if there was none.
    pub last: Option<LastVisit>,
}

/// What an entity waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Waits {
    /// For nothing: the stage has no interest in it at the moment.
    NotInterested,
    /// For its time.
    Until(Time, Lane),
    /// It is due, and nothing stands in the way: it is being visited, or its turn is next.
    Due(Lane),
    /// It is due, and this stands in the way.
    Blocked(Lane, Blocked),
    /// It is due, and nobody serves its shard; some process takes it within a lease time.
    NoOwner(Lane),
    /// For somebody to release it, or to change it.
    Parked,
}

/// Why an entity waits for a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It changed.
    Change,
    /// The stage asked for the visit.
    Timer,
    /// The stage could not say whether it wants the entity.
    Unsure,
    /// The background re-crawl.
    Recrawl,
    /// The attempt before failed.
    Retry,
    /// Somebody asked for it.
    Request,
}

/// A visit that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastVisit {
    /// When.
    pub at: Time,
    /// The version that the stage saw.
    pub version: u64,
    /// Whether it changed the entity; `None` if it failed.
    pub changed: Option<bool>,
}

/// What waits for a stage, and how the stage fares.
#[derive(Clone, Debug, PartialEq)]
pub struct StageReport {
    /// What was ordered for it.
    pub control: Control,
    /// Rows in each lane, due or not, as far as they were counted: no more than [`DEPTH_COUNTED_MAX`].
    pub depth: BTreeMap<Lane, u64>,
    /// Entities that are parked, as far as they were counted.
    pub parked: u64,
    /// The time of the oldest visit that waits in any lane.
    pub oldest: Option<Time>,
    /// How it fares in every live process, by the name of the process.
    pub processes: BTreeMap<String, StageStatus>,
}

impl<E: Entity> Watcher<E> {
    /// Where an entity stands with every stage, and what stands in its way.
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
        let head = versioned::<crate::rows::Head>(rows.next().flatten())?.content;
        let owner = versioned::<Lease>(rows.next().flatten())?.content.owner;
        let said = self.said_by(&owner).await?;
        let waits = |stage: &str, entry: &Entry| {
            let blocked =
                |said: &BTreeMap<String, StageStatus>| said.get(stage).and_then(|said| said.blocked.clone());
            self.waits(entry, said.as_ref().map(|said| blocked(said).unwrap_or(Blocked::Nothing)))
        };
        let mut stages = BTreeMap::new();
        for name in names {
            let entry = versioned::<Entry>(rows.next().flatten())?.content;
            stages.insert(name.clone(), standing(waits(name, &entry), &entry));
        }
        let asking = head.entry.as_option().filter(|entry| entry.queued || entry.parked).map(|entry| {
            let fields = if head.changed_more { vec!["*".to_owned()] } else { head.changed.clone() };
            (waits("", entry), fields)
        });
        let authors =
            || head.authors.iter().map(|a| (a.stage.clone(), a.changes, a.fields.clone())).collect();
        let slowed = (head.slowed > 0).then(authors);
        let owner = said.is_some().then_some(owner);
        Ok(Explanation { version, shard: which.shard, owner, asking, slowed, stages })
    }

    /// What waits for a stage in all shards, and how it fares in every process. Counts rows: not for every second.
    pub async fn report(&self, stage: &str) -> Result<StageReport> {
        let stage = self.require_stage(stage)?;
        let (mut depth, mut parked, mut oldest) = (BTreeMap::new(), 0, None);
        for shard in 0..self.rules().config.shards {
            for lane in Lane::ALL {
                let counted = depth.entry(lane).or_default();
                let first = self.count(shard, lane.number(), stage, counted).await?;
                oldest = [oldest, first].into_iter().flatten().min();
            }
            self.count(shard, PARKED, stage, &mut parked).await?;
        }
        let mut processes = BTreeMap::new();
        for (instance, mut said) in self.processes().await? {
            processes.extend(said.remove(stage).map(|status| (instance, status)));
        }
        Ok(StageReport { control: self.control(stage).await?, depth, parked, oldest, processes })
    }

    /// What every live process says of its stages.
    pub async fn processes(&self) -> Result<BTreeMap<String, BTreeMap<String, StageStatus>>> {
        let mut processes = BTreeMap::new();
        for row in self.rows(&INSTANCES.prefix((0, E::KIND))).await? {
            let (_, _, instance) = INSTANCES.parts(&row.key)?;
            if let Some(said) = self.said_by(&instance).await? {
                processes.insert(instance, said);
            }
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

    /// What a process says of its stages; `None` if there is no such process.
    async fn said_by(&self, instance: &str) -> Result<Option<BTreeMap<String, StageStatus>>> {
        if instance.is_empty() {
            return Ok(None);
        }
        if let Some(said) = self.board().said_by(instance) {
            return Ok(Some(said));
        }
        let row = self.store().get_one(&INSTANCES.key((0, E::KIND, instance))).await?;
        let Some(row) = row else { return Ok(None) };
        let instance: Instance = crate::rows::decode(&row)?;
        Ok(Some(instance.stages.iter().map(|status| (status.stage.clone(), from_row(status))).collect()))
    }

    /// `blocked` is what the owner says of the stage; `None` without an owner.
    fn waits(&self, entry: &Entry, blocked: Option<Blocked>) -> Waits {
        if entry.parked {
            return Waits::Parked;
        }
        let Some(wanted) = waiting(entry) else { return Waits::NotInterested };
        match blocked {
            _ if wanted.visit > self.now() => Waits::Until(wanted.visit, wanted.lane),
            None => Waits::NoOwner(wanted.lane),
            // The owner has not yet noticed it, or is about to visit it.
            Some(Blocked::Nothing) => Waits::Due(wanted.lane),
            Some(blocked) => Waits::Blocked(wanted.lane, blocked),
        }
    }

    /// Counts the rows of a queue up to the limit of all; returns the time of the first.
    async fn count(&self, shard: u32, lane: u32, stage: &str, counted: &mut u64) -> Result<Option<Time>> {
        let mut scan = QUEUES.prefix((shard, E::KIND, lane, stage));
        let mut first = None;
        loop {
            let page = self.store().scan(&scan).await?;
            if let (None, Some(row)) = (first, page.rows.first()) {
                let (.., visit, _) = QUEUES.parts(&row.key)?;
                first = Some(Time::from_ms(visit));
            }
            *counted = (*counted + page.rows.len() as u64).min(DEPTH_COUNTED_MAX);
            match page.next {
                Some(next) if *counted < DEPTH_COUNTED_MAX => scan = scan.after(next),
                _ => return Ok(first),
            }
        }
    }
}

fn standing(waits: Waits, entry: &Entry) -> Standing {
    let is_waiting = entry.queued || entry.parked;
    let why = match entry.why.as_known().unwrap_or_default() {
        WhyRow::WHY_UNSPECIFIED => None,
        WhyRow::WHY_CHANGE => Some(Why::Change),
        WhyRow::WHY_TIMER => Some(Why::Timer),
        WhyRow::WHY_UNSURE => Some(Why::Unsure),
        WhyRow::WHY_RECRAWL => Some(Why::Recrawl),
        WhyRow::WHY_RETRY => Some(Why::Retry),
        WhyRow::WHY_REQUEST => Some(Why::Request),
    };
    let last = entry.last.as_option().map(|last| LastVisit {
        at: Time::from_ms(last.at_ms),
        version: last.version,
        changed: match last.ended.as_known().unwrap_or_default() {
            Ended::ENDED_CHANGED => Some(true),
            Ended::ENDED_UNTOUCHED => Some(false),
            Ended::ENDED_FAILED | Ended::ENDED_UNSPECIFIED => None,
        },
    });
    Standing {
        waits,
        since: is_waiting.then(|| Time::from_ms(entry.since_ms)),
        why: why.filter(|_| is_waiting),
        failed: (entry.attempts > 0).then(|| (entry.attempts, entry.error.clone())),
        last,
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => write!(f, "nothing is due"),
            Self::Busy => write!(f, "another stage is visiting it"),
            Self::Calls => write!(f, "as many calls are under way as may be"),
            Self::Rate(until) => write!(f, "the rate is used up until {until}"),
            Self::Paused => write!(f, "the stage is paused"),
            Self::Down(probe) => write!(f, "the stage does not answer, it is probed at {probe}"),
        }
    }
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInterested => write!(f, "not interested"),
            Self::Until(time, _) => write!(f, "waiting until {time}"),
            Self::Due(_) => write!(f, "due, its turn is next"),
            Self::Blocked(_, blocked) => write!(f, "due, but {blocked}"),
            Self::NoOwner(_) => write!(f, "due, but nobody serves its shard at the moment"),
            Self::Parked => write!(f, "parked until it is released or changes"),
        }
    }
}

/// One line for each stage.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = self.owner.as_deref().unwrap_or("nobody");
        writeln!(f, "version {}, shard {} served by {owner}", self.version, self.shard)?;
        if let Some((waits, fields)) = &self.asking {
            writeln!(f, "stages are to be asked about {}: {waits}", fields.join(", "))?;
        }
        for (stage, changes, fields) in self.slowed.iter().flatten() {
            writeln!(f, "slowed down: {stage} changed it {changes} times ({})", fields.join(", "))?;
        }
        for (stage, standing) in &self.stages {
            writeln!(f, "{stage}: {standing}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.waits)?;
        if let Some(since) = self.since {
            write!(f, ", since {since}")?;
        }
        if let Some(why) = self.why {
            write!(f, ", because {why}")?;
        }
        if let Some((attempts, error)) = &self.failed {
            write!(f, ", after {attempts} failed attempts: {error}")?;
        }
        match &self.last {
            None => write!(f, "; never visited"),
            Some(LastVisit { at, version, changed }) => {
                let result = match changed {
                    Some(true) => "changed it",
                    Some(false) => "left it as it was",
                    None => "failed",
                };
                write!(f, "; last visit at {at} to version {version} {result}")
            }
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Change => "it changed",
            Self::Timer => "the stage asked for it",
            Self::Unsure => "the stage could not say whether it wants it",
            Self::Recrawl => "of the re-crawl",
            Self::Retry => "the attempt before failed",
            Self::Request => "somebody asked for it",
        })
    }
}

impl Explanation {
    /// Whether there is such an entity.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.version > 0
    }
}
