//! The remote stages of the configuration and of the store (registered at run time), with their
//! last descriptions.

use std::collections::BTreeMap;

use buffa::Message as _;
use offers::time;
use store::{Batch, Outcome, Read, Row, Scan, Store, Table, TableDef};
use watcher::Time;
use wire::torg::stages::v1::{OutsideStage, StoredDescription, StoredStage};

use crate::limits::STAGES_MAX;
use crate::plugin::Description;
use crate::spec::{SpecError, StageSpec};

/// All rows are in shard zero.
const SHARD: u32 = 0;
/// Attempts of a change while others change the same row.
const ATTEMPTS_MAX: u32 = 10;

static STAGES: Table<(u32, String)> = Table::versioned("outside_stages", &["shard", "stage"]);
static DESCRIPTIONS: Table<(u32, String)> = Table::versioned("outside_descriptions", &["shard", "stage"]);

/// The tables that a store must be opened with.
#[must_use]
pub fn tables() -> [&'static TableDef; 2] {
    [STAGES.def(), DESCRIPTIONS.def()]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the configuration of this process.
    Configured,
    /// Registered at run time.
    Registered,
}

#[derive(Clone, Debug)]
pub struct StageEntry {
    pub spec: StageSpec,
    /// `None` if the stage never described itself.
    pub described: Option<Description>,
    pub origin: Origin,
}

impl StageEntry {
    /// Whether both are called in the same way.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.origin == other.origin
            && self.described == other.described
            && self.spec.declared == other.spec.declared
    }
}

#[derive(Debug, thiserror::Error)]
pub enum StageStoreError {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("the declaration of the stage is invalid: {}", joined(.0))]
    Invalid(Vec<SpecError>),
    #[error("{0:?} is the id of a built-in stage: choose another")]
    Taken(String),
    #[error("stage {0:?} is declared in the configuration (stages.file): change it there, and start again")]
    Configured(String),
    #[error("{STAGES_MAX} stages are registered already: remove one first")]
    TooMany,
    #[error("no stage {0:?} is registered")]
    Unknown(String),
    #[error("stage {0:?} is being changed by others: try again")]
    Contended(String),
}

/// Cheap to clone.
#[derive(Clone)]
pub struct StageStore {
    store: Store,
    configured: Vec<StageSpec>,
}

impl StageStore {
    /// `store` must have been opened with [`tables`].
    #[must_use]
    pub fn new(store: &Store, configured: Vec<StageSpec>) -> Self {
        Self { store: store.clone(), configured }
    }

    /// All stages by their ids. A row that cannot be decoded or is invalid for this version is left
    /// out with a warning.
    pub async fn load(&self) -> store::Result<BTreeMap<String, StageEntry>> {
        let mut described = BTreeMap::new();
        for row in self.all(DESCRIPTIONS.prefix((SHARD,))).await? {
            let (_, id) = DESCRIPTIONS.parts(&row.key)?;
            match StoredDescription::decode_from_slice(&row.value) {
                Ok(stored) => described.extend(stored.description.into_option().map(|said| (id, said))),
                Err(error) => {
                    tracing::warn!(row = %row.key, %error, "cannot decode the description of a stage");
                }
            }
        }
        let mut known = BTreeMap::new();
        for row in self.all(STAGES.prefix((SHARD,))).await? {
            match read(&row) {
                Ok(spec) => _ = known.insert(spec.id.clone(), (spec, Origin::Registered)),
                Err(error) => tracing::warn!(row = %row.key, error, "a registered stage is ignored"),
            }
        }
        // The configuration has precedence over the store.
        known
            .extend(self.configured.iter().map(|spec| (spec.id.clone(), (spec.clone(), Origin::Configured))));
        let with_description = |(id, (spec, origin)): (String, (StageSpec, Origin))| {
            let described = described.remove(&id).and_then(|said| Description::check(&spec, said).ok());
            (id, StageEntry { spec, described, origin })
        };
        Ok(known.into_iter().map(with_description).collect())
    }

    /// Restores secrets that the caller sent masked (`***`) and checks the declaration.
    pub async fn complete(&self, declared: &OutsideStage) -> Result<StageSpec, StageStoreError> {
        // An invalid id may not be a valid key.
        let before = if StageSpec::is_id(&declared.id) {
            self.store.get_one(&STAGES.key((SHARD, &*declared.id))).await?
        } else {
            None
        };
        let old = before.as_ref().and_then(|row| StoredStage::decode_from_slice(&row.value).ok());
        let declared = with_secrets(declared, old.and_then(|old| old.stage.into_option()));
        StageSpec::check(&declared).map_err(StageStoreError::Invalid)
    }

    /// Stores a stage and its description; replaces one of the same id.
    pub async fn register(
        &self,
        spec: &StageSpec,
        described: &Description,
        author: &str,
        now: Time,
    ) -> Result<(), StageStoreError> {
        let id = &spec.id;
        self.require_free(id)?;
        let stored = StoredStage {
            stage: Some(spec.declared.clone()).into(),
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
                return Err(StageStoreError::TooMany);
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
        Err(StageStoreError::Contended(id.clone()))
    }

    pub async fn remove(&self, id: &str) -> Result<(), StageStoreError> {
        self.require_free(id)?;
        for _ in 0..ATTEMPTS_MAX {
            let key = STAGES.key((SHARD, id));
            let Some(row) = self.store.get_one(&key).await? else {
                return Err(StageStoreError::Unknown(id.to_owned()));
            };
            let mut batch = Batch::new();
            batch.check(key.clone(), row.version).delete(key).delete(DESCRIPTIONS.key((SHARD, id)));
            if self.store.commit(batch).await?.is_applied() {
                return Ok(());
            }
        }
        Err(StageStoreError::Contended(id.to_owned()))
    }

    /// Fails if the configuration has a stage of this id.
    pub fn require_free(&self, id: &str) -> Result<(), StageStoreError> {
        let is_taken = self.configured.iter().any(|configured| configured.id == id);
        if is_taken { Err(StageStoreError::Configured(id.to_owned())) } else { Ok(()) }
    }

    /// Stores the description of a stage, for a start at which the stage does not answer.
    pub async fn remember(&self, id: &str, described: &Description, now: Time) -> store::Result<()> {
        let key = DESCRIPTIONS.key((SHARD, id));
        let version = self.store.get_one(&key).await?.map_or(0, |row| row.version);
        let mut batch = Batch::new();
        batch.check(key.clone(), version).put(key, version + 1, description(described, now));
        // If another process wins, its description is newer.
        let _: Outcome = self.store.commit(batch).await?;
        Ok(())
    }

    async fn all(&self, mut scan: Scan) -> store::Result<Vec<Row>> {
        let mut rows = Vec::new();
        loop {
            let page = self.store.scan(&scan).await?;
            rows.extend(page.rows);
            let Some(next) = page.next else { return Ok(rows) };
            scan = scan.after(next);
        }
    }
}

fn description(described: &Description, now: Time) -> Vec<u8> {
    let stored = StoredDescription {
        description: Some(described.as_message().clone()).into(),
        time: Some(time::from_time(now)).into(),
        ..StoredDescription::default()
    };
    stored.encode_to_vec()
}

fn read(row: &Row) -> Result<StageSpec, String> {
    let stored = StoredStage::decode_from_slice(&row.value).map_err(|error| error.to_string())?;
    let declared = stored.stage.into_option().unwrap_or_default();
    StageSpec::check(&declared).map_err(|errors| joined(&errors))
}

fn joined(errors: &[SpecError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Restores secrets that the caller sent masked (`***`).
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
