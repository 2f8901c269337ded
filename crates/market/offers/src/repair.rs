//! Repair of the counters of a seller that drifted from the lists, while writes go on.
//!
//! Offers and counters are read from one snapshot. Their difference can be added later, whatever
//! happened in between, because additions commute. Another repair must not add it too: every repair
//! checks and raises the version of a row by seller.

use std::collections::BTreeMap;

use store::{Batch, Read, Snapshot};

use crate::counters::{self, COUNT_REPAIR_PART};
use crate::error::{Error, Result};
use crate::limits::ATTEMPTS_MAX;
use crate::offers::Offers;
use crate::presets::{self, name};
use crate::tables::{COUNTERS, PRESETS, REPAIRS};

/// The correction of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The name of the preset.
    pub counter: &'static str,
    pub correction: i64,
}

impl Offers {
    /// Counts the offers of a seller and corrects the counters. Blocks no other writer.
    pub async fn repair_counts(&self, seller: &str) -> Result<Vec<Drift>> {
        let shard = self.shard_of_seller(seller);
        for _ in 0..ATTEMPTS_MAX {
            let snapshot = self.store().snapshot().await?;
            let key = REPAIRS.key((shard, seller));
            let repair = snapshot.get_one(&key).await?.map_or(0, |row| row.version);
            let drifts = drifts(&snapshot, shard, seller).await?;
            if drifts.is_empty() {
                return Ok(drifts);
            }
            let mut batch = Batch::new();
            batch.check(key.clone(), repair).put(key, repair + 1, Vec::new());
            for Drift { counter, correction } in &drifts {
                batch.add(COUNTERS.key((shard, seller, *counter, COUNT_REPAIR_PART)), *correction);
            }
            if self.store().commit(batch).await?.is_applied() {
                tracing::warn!(seller, ?drifts, "corrected counters that had drifted");
                return Ok(drifts);
            }
        }
        Err(Error::Contended(self.new_id()))
    }

    /// The next seller of a shard that has counters or offers.
    pub(crate) async fn next_seller(&self, shard: u32, after: Option<&str>) -> Result<Option<String>> {
        let mut counted = COUNTERS.prefix((shard,)).limit(1);
        let mut listed = PRESETS.prefix((shard,)).limit(1);
        if let Some(seller) = after {
            counted = counted.above(COUNTERS.bound((shard, seller)));
            listed = listed.above(PRESETS.bound((shard, seller)));
        }
        let counted = match self.store().scan(&counted).await?.rows.first() {
            Some(row) => Some(COUNTERS.parts(&row.key)?.1),
            None => None,
        };
        let listed = match self.store().scan(&listed).await?.rows.first() {
            Some(row) => Some(PRESETS.parts(&row.key)?.1),
            None => None,
        };
        Ok([counted, listed].into_iter().flatten().min())
    }
}

async fn drifts(snapshot: &Snapshot, shard: u32, seller: &str) -> Result<Vec<Drift>> {
    let counted = counters::of_seller(snapshot, shard, seller).await?;
    let mut listed: BTreeMap<String, i64> = BTreeMap::new();
    let mut scan = PRESETS.prefix((shard, seller));
    loop {
        let page = snapshot.scan(&scan).await?;
        for row in &page.rows {
            *listed.entry(PRESETS.parts(&row.key)?.2).or_default() += 1;
        }
        let Some(next) = page.next else { break };
        scan = scan.after(next);
    }
    let of = |counts: &BTreeMap<String, i64>, preset| counts.get(name(preset)).copied().unwrap_or(0);
    let drift =
        |preset| Drift { counter: name(preset), correction: of(&listed, preset) - of(&counted, preset) };
    Ok(presets::ALL.map(drift).into_iter().filter(|drift| drift.correction != 0).collect())
}
