//! The orders of operators: pause and resume stages, override limits, release what is parked.
//! Orders are stored and hold for all processes, also after a restart.

use std::collections::BTreeMap;

use futures::future::join_all;
use store::{Batch, Read};

use crate::change::{SYSTEM, Stored, replace};
use crate::config::StageLimits;
use crate::entity::Entity;
use crate::limits::{REASON_BYTES_MAX, RELEASES_AT_ONCE_MAX};
use crate::queue::PARKED;
use crate::rows::{Control as Row, decode, encode};
use crate::tables::{CONTROLS, QUEUES};
use crate::visit::parse_id;
use crate::watcher::Watcher;
use crate::{Error, Result};
use clock::Time;

/// The orders for one stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Control {
    pub paused: Option<Pause>,
    pub limits: LimitOverrides,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    pub since: Time,
    /// As the operator gave it.
    pub reason: String,
}

/// Limits that replace the configured ones; `None`: as configured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LimitOverrides {
    /// Visits a second.
    pub rate: Option<f64>,
    /// Concurrent calls.
    pub calls_max: Option<u32>,
    /// Entities in one call.
    pub batch_max: Option<u32>,
}

impl LimitOverrides {
    pub(crate) fn apply_to(&self, configured: StageLimits) -> StageLimits {
        StageLimits {
            rate: self.rate.or(configured.rate),
            calls_max: self.calls_max.map_or(configured.calls_max, |calls| calls as usize),
            batch_max: self.batch_max.map_or(configured.batch_max, |batch| batch as usize),
            ..configured
        }
    }
}

impl<E: Entity> Watcher<E> {
    /// Pauses a stage until it is [resumed](Self::resume_stage). Calls under way end as usual; what
    /// comes due waits. The stage is still asked which changed entities it wants, so that only
    /// those wait, and still receives its saved changes.
    pub async fn pause_stage(&self, stage: &str, reason: &str) -> Result<()> {
        if reason.len() > REASON_BYTES_MAX {
            let what = format!(
                "a reason of {} bytes is too long, at most {REASON_BYTES_MAX} can be kept: shorten it",
                reason.len()
            );
            return Err(Error::Invalid { what });
        }
        let since_ms = self.now().as_ms();
        self.change_control(stage, |row| {
            if !row.paused {
                row.paused_ms = since_ms;
            }
            row.paused = true;
            reason.clone_into(&mut row.reason);
        })
        .await
    }

    /// Resumes a paused stage. Timers that came due meanwhile are spread by
    /// [`StageLimits::catch_up`].
    pub async fn resume_stage(&self, stage: &str) -> Result<()> {
        self.change_control(stage, |row| {
            (row.paused, row.paused_ms) = (false, 0);
            row.reason.clear();
        })
        .await
    }

    /// Overrides the configured limits of a stage; returns the limits in force.
    pub async fn set_limits(&self, stage: &str, limits: LimitOverrides) -> Result<StageLimits> {
        let in_force = limits.apply_to(self.limits_of(self.require_stage(stage)?));
        if let Err(what) = in_force.validate() {
            return Err(Error::Invalid { what: format!("the limits of stage {stage:?}: {what}") });
        }
        self.change_control(stage, |row| {
            row.rate = limits.rate.unwrap_or_default();
            row.calls_max = limits.calls_max.unwrap_or_default();
            row.batch_max = limits.batch_max.unwrap_or_default();
        })
        .await?;
        Ok(in_force)
    }

    /// Has a stage try again everything that it parked; returns the number of entities. Rows that
    /// cannot be read are logged and skipped.
    pub async fn release(&self, stage: &str) -> Result<u64> {
        self.release_parked(self.require_stage(stage)?).await
    }

    /// Has stages asked again about all entities that were parked because they could not be read
    /// ([`Explanation::asking`](crate::Explanation::asking) tells for one,
    /// [`unasked`](Self::unasked) counts them). Returns their number.
    pub async fn release_unasked(&self) -> Result<u64> {
        self.release_parked(SYSTEM).await
    }

    async fn release_parked(&self, stage: &str) -> Result<u64> {
        let mut released = 0;
        for shard in 0..self.config().shards {
            let mut scan = QUEUES.prefix((shard, E::KIND, PARKED, stage)).limit(RELEASES_AT_ONCE_MAX);
            loop {
                let page = self.store().scan(&scan).await?;
                let mut entities = Vec::with_capacity(page.rows.len());
                for row in &page.rows {
                    let (.., entity) = QUEUES.parts(&row.key)?;
                    entities.push(entity);
                }
                for outcome in join_all(entities.iter().map(|entity| self.release_one(entity, stage))).await {
                    released += u64::from(outcome?);
                }
                let Some(next) = page.next else { break };
                scan = scan.after(next);
            }
        }
        Ok(released)
    }

    async fn release_one(&self, entity: &str, stage: &str) -> Result<bool> {
        let released = match parse_id::<E>(entity) {
            _ if stage == SYSTEM => self.ask_again(entity).await,
            Ok(id) => self.request_visit(&id, stage).await,
            Err(error) => Err(error),
        };
        match released {
            Err(error @ Error::Damaged { .. }) => {
                tracing::error!(kind = E::KIND, stage, entity, %error, "a parked entity cannot be released");
                Ok(false)
            }
            other => other,
        }
    }

    pub async fn control(&self, stage: &str) -> Result<Control> {
        let stage = self.require_stage(stage)?;
        Ok(self.controls().await?.remove(stage).unwrap_or_default())
    }

    /// The orders for all stages that have any.
    pub async fn controls(&self) -> Result<BTreeMap<String, Control>> {
        let mut controls = BTreeMap::new();
        for row in self.rows(&CONTROLS.prefix((0, E::KIND))).await? {
            let (_, _, stage) = CONTROLS.parts(&row.key)?;
            let row: Row = decode(&row)?;
            let pause = Pause { since: Time::from_ms(row.paused_ms), reason: row.reason };
            let limits = LimitOverrides {
                rate: (row.rate > 0.0).then_some(row.rate),
                calls_max: (row.calls_max > 0).then_some(row.calls_max),
                batch_max: (row.batch_max > 0).then_some(row.batch_max),
            };
            controls.insert(stage, Control { paused: row.paused.then_some(pause), limits });
        }
        Ok(controls)
    }

    async fn change_control(&self, stage: &str, change: impl Fn(&mut Row)) -> Result<()> {
        let key = CONTROLS.key((0, E::KIND, self.require_stage(stage)?));
        loop {
            let Stored { version, content: mut row } =
                Stored::<Row>::read(self.store().get_one(&key).await?)?;
            change(&mut row);
            let mut batch = Batch::new();
            replace(&mut batch, key.clone(), version, encode(&row));
            if self.store().commit(batch).await?.is_applied() {
                return Ok(());
            }
        }
    }
}
