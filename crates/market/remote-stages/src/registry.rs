//! The outside stages that a store knows: those of the configuration and those that were registered while it ran, with what they said of themselves.

use std::collections::BTreeMap;

use buffa::Message as _;
use offers::time;
use store::{Batch, Outcome, Read, Row, Scan, Store, Table, TableDef};
use watcher::Time;
use wire::torg::stages::v1::{OutsideStage, StoredDescription, StoredStage};

use crate::limits::STAGES_MAX;
use crate::outside::{Outside, Wrong};
use crate::plugin::Described;

/// All in shard zero.
const SHARD: u32 = 0;
/// Times that a change is tried while others change the same row.
const ATTEMPTS_MAX: u32 = 10;

/// Stages that were registered.
static STAGES: Table<(u32, String)> = Table::versioned("outside_stages", &["shard", "stage"]);
/// What stages said of themselves.
static DESCRIPTIONS: Table<(u32, String)> = Table::versioned("outside_descriptions", &["shard", "stage"]);

/// The tables that a store must be opened with.
#[must_use]
pub fn tables() -> [&'static TableDef; 2] {
    [STAGES.def(), DESCRIPTIONS.def()]
}

/// Where a stage comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From the configuration of this process.
    Configured,
    /// It was registered while Torg ran.
    Registered,
}

/// An outside stage that is known.
#[derive(Clone, Debug)]
pub struct Known {
    /// How it is called.
    pub outside: Outside,
    /// What it said of itself; `None` if it never did.
    pub described: Option<Described>,
    /// Where it comes from.
    pub origin: Origin,
}

impl Known {
    /// Whether another one is to be called in the same way.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.origin == other.origin
            && self.described == other.described
            && self.outside.declared == other.outside.declared
    }
}

/// Why a stage is not registered.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The declaration is wrong.
    #[error("the stage is declared wrongly: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Wrong(Vec<Wrong>),
    /// A stage of this id is built in.
    #[error("{0:?} is the id of a built-in stage: choose another")]
    Taken(String),
    /// A stage of this id is in the configuration, where alone it can be changed.
    #[error("stage {0:?} is declared in the configuration (stages.file): change it there, and start again")]
    Configured(String),
    /// There are too many.
    #[error("{STAGES_MAX} outside stages are registered already: remove one first")]
    TooMany,
    /// Nobody registered such a stage.
    #[error("no stage {0:?} was registered")]
    Unknown(String),
    /// Others changed it at the same time, again and again.
    #[error("others change stage {0:?} at the same time: try again")]
    Contended(String),
}

/// The outside stages of a store. Cheap to clone.
#[derive(Clone)]
pub struct Registry {
    store: Store,
    configured: Vec<Outside>,
}

impl Registry {
    /// The stages of a store that was opened with [`tables`], and those of the configuration.
    #[must_use]
    pub fn new(store: &Store, configured: Vec<Outside>) -> Self {
        Self { store: store.clone(), configured }
    }

    /// All stages that are known, by their ids. One of the store that cannot be read, or that this version takes for wrong, is left out with a warning: the others go on.
    pub async fn load(&self) -> store::Result<BTreeMap<String, Known>> {
        let mut described = BTreeMap::new();
        for row in self.all(DESCRIPTIONS.prefix((SHARD,))).await? {
            let (_, id) = DESCRIPTIONS.parts(&row.key)?;
            match StoredDescription::decode_from_slice(&row.value) {
                Ok(stored) => described.extend(stored.description.into_option().map(|said| (id, said))),
                Err(error) => tracing::warn!(row = %row.key, %error, "a stage's description cannot be read"),
            }
        }
        let mut known = BTreeMap::new();
        for row in self.all(STAGES.prefix((SHARD,))).await? {
            match read(&row) {
                Ok(outside) => _ = known.insert(outside.id.clone(), (outside, Origin::Registered)),
                Err(error) => tracing::warn!(row = %row.key, error, "an outside stage is left out"),
            }
        }
        // The configuration is what this process was told: it goes first.
        known.extend(
            self.configured.iter().map(|outside| (outside.id.clone(), (outside.clone(), Origin::Configured))),
        );
        let with_description = |(id, (outside, origin)): (String, (Outside, Origin))| {
            let described = described.remove(&id).and_then(|said| Described::check(&outside, said).ok());
            (id, Known { outside, described, origin })
        };
        Ok(known.into_iter().map(with_description).collect())
    }

    /// A declaration with what was registered in place of a token or a key that is given as `***`: as the stage is to be called. Checked.
    pub async fn complete(&self, declared: &OutsideStage) -> Result<Outside, RegistryError> {
        // An id that no stage can have is none that the store can look for.
        let before = if Outside::is_id(&declared.id) {
            self.store.get_one(&STAGES.key((SHARD, &*declared.id))).await?
        } else {
            None
        };
        let old = before.as_ref().and_then(|row| StoredStage::decode_from_slice(&row.value).ok());
        let declared = with_secrets(declared, old.and_then(|old| old.stage.into_option()));
        Outside::check(&declared).map_err(RegistryError::Wrong)
    }

    /// Keeps a stage and what it says of itself, in place of one of the same id.
    pub async fn register(
        &self,
        outside: &Outside,
        described: &Described,
        author: &str,
        now: Time,
    ) -> Result<(), RegistryError> {
        let id = &outside.id;
        self.require_free(id)?;
        let stored = StoredStage {
            stage: Some(outside.declared.clone()).into(),
            author: author.to_owned(),
            time: Some(time::from_time(now)).into(),
            ..StoredStage::default()
        };
        let rows = [
            (STAGES.key((SHARD, &**id)), stored.encode_to_vec()),
            (DESCRIPTIONS.key((SHARD, &**id)), description(described, now)),
        ];
        for _ in 0..ATTEMPTS_MAX {
            let before = self.store.get(&rows.clone().map(|(key, _)| key)).await?;
            if before[0].is_none() && self.all(STAGES.prefix((SHARD,))).await?.len() >= STAGES_MAX {
                return Err(RegistryError::TooMany);
            }
            let mut batch = Batch::new();
            for ((key, value), before) in rows.clone().into_iter().zip(before) {
                let version = before.map_or(0, |row| row.version);
                batch.check(key.clone(), version).put(key, version + 1, value);
            }
            if self.store.commit(batch).await?.is_applied() {
                return Ok(());
            }
        }
        Err(RegistryError::Contended(id.clone()))
    }

    /// Forgets a stage that was registered.
    pub async fn remove(&self, id: &str) -> Result<(), RegistryError> {
        self.require_free(id)?;
        for _ in 0..ATTEMPTS_MAX {
            let key = STAGES.key((SHARD, id));
            let Some(row) = self.store.get_one(&key).await? else {
                return Err(RegistryError::Unknown(id.to_owned()));
            };
            let mut batch = Batch::new();
            batch.check(key.clone(), row.version).delete(key).delete(DESCRIPTIONS.key((SHARD, id)));
            if self.store.commit(batch).await?.is_applied() {
                return Ok(());
            }
        }
        Err(RegistryError::Contended(id.to_owned()))
    }

    /// Refuses the id of a stage of the configuration.
    pub fn require_free(&self, id: &str) -> Result<(), RegistryError> {
        let is_taken = self.configured.iter().any(|configured| configured.id == id);
        if is_taken { Err(RegistryError::Configured(id.to_owned())) } else { Ok(()) }
    }

    /// Remembers what a stage says of itself, for a start at which it does not answer.
    pub async fn remember(&self, id: &str, described: &Described, now: Time) -> store::Result<()> {
        let key = DESCRIPTIONS.key((SHARD, id));
        let version = self.store.get_one(&key).await?.map_or(0, |row| row.version);
        let mut batch = Batch::new();
        batch.check(key.clone(), version).put(key, version + 1, description(described, now));
        // Whoever is faster has asked a moment later.
        let _: Outcome = self.store.commit(batch).await?;
        Ok(())
    }

    async fn all(&self, scan: Scan) -> store::Result<Vec<Row>> {
        let (mut scan, mut rows) = (scan, Vec::new());
        loop {
            let page = self.store.scan(&scan).await?;
            rows.extend(page.rows);
            let Some(next) = page.next else { return Ok(rows) };
            scan = scan.after(next);
        }
    }
}

fn description(described: &Described, now: Time) -> Vec<u8> {
    let description = Some(described.as_message().clone()).into();
    let stored = StoredDescription {
        description,
        time: Some(time::from_time(now)).into(),
        ..StoredDescription::default()
    };
    stored.encode_to_vec()
}

fn read(row: &Row) -> Result<Outside, String> {
    let stored = StoredStage::decode_from_slice(&row.value).map_err(|error| error.to_string())?;
    let declared = stored.stage.into_option().unwrap_or_default();
    Outside::check(&declared)
        .map_err(|wrong| wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

/// What is shown as stars is what it was.
fn with_secrets(declared: &OutsideStage, old: Option<OutsideStage>) -> OutsideStage {
    let mut declared = declared.clone();
    let Some(old) = old else { return declared };
    if declared.token == "***" {
        declared.token = old.token;
    }
    if let (Some(tls), Some(old)) = (declared.tls.as_option_mut(), old.tls.as_option())
        && tls.key_pem == "***"
    {
        tls.key_pem.clone_from(&old.key_pem);
    }
    declared
}
