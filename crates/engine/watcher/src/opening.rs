//! How a watcher is opened, and how it gets other stages.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use store::{Batch, Outcome, Read, Store};
use tokio::sync::{Semaphore, watch};
use topics::Topics;

use crate::board::Board;
use crate::change::{Rules, Versioned};
use crate::config::{Config, StageLimits};
use crate::entity::Entity;
use crate::limits::{STAGE_ID_BYTES_MAX, STAGES_MAX};
use crate::relay::Serving;
use crate::rows::{Settings, encode};
use crate::run::Stages;
use crate::stage::Stage;
use crate::tables::SETTINGS;
use crate::time::Clock;
use crate::watcher::{Inner, Setup, Watcher, versioned};
use crate::{Error, Result};

impl<E: Entity> Watcher<E> {
    /// A watcher over a store that was opened with [`tables`](crate::tables). The first one of its kind fixes the number of shards.
    pub async fn open(store: &Store, setup: Setup<'_, E>) -> Result<Self> {
        let Setup { topic, clock, config, stages, seed } = setup;
        if !is_name(E::KIND) {
            let what = format!(
                "kind {:?}: a name must have from 1 to {STAGE_ID_BYTES_MAX} bytes, and no NUL",
                E::KIND
            );
            return Err(Error::Setup { what });
        }
        let topic = topic.map(|(topics, topic)| (topics.clone(), topic.to_owned()));
        let watcher = assemble(store.clone(), topic, clock, config, stages, seed)?;
        if let Some((topics, topic)) = watcher.topic() {
            topics.partition_count(topic).await.map_err(Arc::new)?;
        }
        agree_on_shards(store, E::KIND, watcher.shards()).await?;
        Ok(watcher)
    }

    /// The same watcher with other stages and other limits of theirs. One that runs goes on with those that it has: stop it, then run this one
    /// under another name.
    pub fn with_stages(
        &self,
        stages: Vec<Arc<dyn Stage<E>>>,
        limits: BTreeMap<String, StageLimits>,
    ) -> Result<Self> {
        let Inner { store, topic, clock, rules, random, .. } = &*self.inner;
        let config = Config { limits, ..rules.config.clone() };
        let seed = random.lock().unwrap_or_else(std::sync::PoisonError::into_inner).random();
        assemble(store.clone(), topic.clone(), clock.clone(), config, stages, seed)
    }
}

fn assemble<E: Entity>(
    store: Store,
    topic: Option<(Topics, String)>,
    clock: Clock,
    config: Config,
    stages: Vec<Arc<dyn Stage<E>>>,
    seed: u64,
) -> Result<Watcher<E>> {
    config.validate()?;
    let stages = by_id(stages)?;
    if let Some(stage) = config.limits.keys().find(|stage| !stages.contains_key(*stage)) {
        let what = format!("there are limits for stage {stage:?}, but no such stage");
        return Err(Error::Setup { what });
    }
    let interests = stages.iter().map(|(id, stage)| (id.clone(), stage.interest())).collect();
    let random = Mutex::new(StdRng::seed_from_u64(seed));
    let turns =
        stages.keys().map(|id| (id.clone(), Semaphore::new(config.limits_of(id).calls_max))).collect();
    let (rules, board) = (Rules { config, interests }, Board::default());
    let serving = watch::Sender::new(Serving::new());
    let inner = Inner { store, topic, clock, rules, stages, random, board, turns, serving };
    Ok(Watcher { inner: Arc::new(inner) })
}

fn by_id<E: Entity>(stages: Vec<Arc<dyn Stage<E>>>) -> Result<Stages<E>> {
    let wrong = |what: String| Err(Error::Setup { what });
    if stages.len() > STAGES_MAX {
        return wrong(format!("{} has {} stages, at most {STAGES_MAX} can be", E::KIND, stages.len()));
    }
    let mut by_id = BTreeMap::new();
    for stage in stages {
        let id = stage.id().to_owned();
        if !is_name(&id) {
            return wrong(format!(
                "stage {id:?}: an id must have from 1 to {STAGE_ID_BYTES_MAX} bytes, and no NUL"
            ));
        }
        if by_id.insert(id.clone(), stage).is_some() {
            return wrong(format!("two stages are called {id:?}: give one of them another id"));
        }
    }
    Ok(by_id)
}

/// Whether a kind or a stage may be called this.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= STAGE_ID_BYTES_MAX && !name.contains('\0')
}

/// Fixes the number of shards in a store that has none, and refuses another number than it has.
async fn agree_on_shards(store: &Store, kind: &str, shards: u32) -> Result<()> {
    let key = SETTINGS.key((0, kind));
    loop {
        let there: Versioned<Settings> = versioned(store.get_one(&key).await?)?;
        if there.version > 0 && there.content.shards == shards {
            return Ok(());
        }
        if there.version > 0 {
            let what = format!(
                "this store keeps {kind} in {} shards, and {shards} are configured: set the number back, it cannot be changed",
                there.content.shards
            );
            return Err(Error::Setup { what });
        }
        let mut batch = Batch::new();
        let settings = Settings { shards, ..Settings::default() };
        batch.check_absent(key.clone()).put(key.clone(), 1, encode(&settings));
        // Another process may be first; then its number counts.
        let _: Outcome = store.commit(batch).await?;
    }
}
