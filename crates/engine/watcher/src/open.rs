//! Opening a watcher, and replacing its stages.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use rand::SeedableRng;
use rand::rngs::StdRng;
use store::{Batch, Outcome, Store};
use tokio::sync::watch;

use crate::change::Stored;
use crate::config::StageLimits;
use crate::entity::Entity;
use crate::limits::STAGE_ID_BYTES_MAX;
use crate::relay::Serving;
use crate::rows::{Settings, encode};
use crate::rules::{Rules, is_name};
use crate::stage::Stage;
use crate::status::LiveStatus;
use crate::tables::SETTINGS;
use crate::watcher::{Inner, Setup, Watcher};
use crate::{Error, Result};

impl<E: Entity> Watcher<E> {
    /// Opens a watcher over a store that was opened with [`tables`](crate::tables). The first
    /// watcher of a kind fixes the number of shards.
    pub async fn open(store: &Store, setup: Setup<'_, E>) -> Result<Self> {
        let Setup { topic, clock, config, stages, seed } = setup;
        if !is_name(E::KIND) {
            let what =
                format!("kind {:?}: a name must have 1 to {STAGE_ID_BYTES_MAX} bytes and no NUL", E::KIND);
            return Err(Error::Setup { what });
        }
        config.validate()?;
        let rules = Rules::new(stages, &config.limits, config.stages)?;
        if let Some((topics, topic)) = topic {
            topics.partition_count(topic).await.map_err(Arc::new)?;
        }
        let inner = Inner {
            store: store.clone(),
            topic: topic.map(|(topics, topic)| (topics.clone(), topic.to_owned())),
            clock,
            config,
            rules: ArcSwap::from_pointee(rules),
            random: Mutex::new(StdRng::seed_from_u64(seed)),
            status: LiveStatus::default(),
            serving: watch::Sender::new(Serving::new()),
        };
        let watcher = Self { inner: Arc::new(inner), pinned: None };
        watcher.agree_on_shards().await?;
        Ok(watcher)
    }

    /// Replaces the stages and their limits; on an error the old ones stay. Changes saved from now
    /// on concern the new stages. A loop that runs keeps its stages: stop it and
    /// [run](Self::run) again under another name.
    pub fn set_stages(
        &self,
        stages: Vec<Arc<dyn Stage<E>>>,
        limits: &BTreeMap<String, StageLimits>,
    ) -> Result<()> {
        let rules = Rules::new(stages, limits, self.config().stages)?;
        self.inner.rules.store(Arc::new(rules));
        Ok(())
    }

    /// A handle of the same watcher with other stages, which only it and its clones see. Stages
    /// that hold the first handle form no cycle with this one.
    pub fn with_stages(
        &self,
        stages: Vec<Arc<dyn Stage<E>>>,
        limits: &BTreeMap<String, StageLimits>,
    ) -> Result<Self> {
        let rules = Rules::new(stages, limits, self.config().stages)?;
        Ok(Self { pinned: Some(Arc::new(rules)), ..self.clone() })
    }

    /// Fixes the number of shards in a new store, and refuses another number than the store has.
    async fn agree_on_shards(&self) -> Result<()> {
        let (key, shards) = (SETTINGS.key((0, E::KIND)), self.shards());
        loop {
            let Stored { version, content } = self.settings().await?;
            if version > 0 && content.shards == shards {
                return Ok(());
            }
            if version > 0 {
                let what = format!(
                    "this store keeps {} in {} shards, and {shards} are configured: set the number back, it cannot be changed",
                    E::KIND,
                    content.shards
                );
                return Err(Error::Setup { what });
            }
            let mut batch = Batch::new();
            let settings = Settings { shards, ..Settings::default() };
            batch.check_absent(key.clone()).put(key.clone(), 1, encode(&settings));
            // If another process is first, its number counts.
            let _: Outcome = self.store().commit(batch).await?;
        }
    }
}
